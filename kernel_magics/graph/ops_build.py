"""Makes the view of a function: items and links of every block that is open."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kernel_magics.graph.ops_fold import Entry, Group, Plan, plan, plan_focus
from kernel_magics.graph.ops_items import (
    captured_item,
    constant_words,
    group_item,
    single_item,
)
from kernel_magics.graph.ops_model import BlockKey, OpsData, Value, block_path
from kernel_magics.graph.ops_values import Dependency, Values, values_of
from kernel_magics.graph.ops_view import (
    BlockView,
    Item,
    Link,
    OpsView,
    ViewOptions,
    region_names,
    value_type,
)

_MOST_CONSTANTS = 2
_PASSED_THROUGH = 3


def build_view(graph: OpsData, options: ViewOptions, root: int = -1, focus: int = -1) -> OpsView:
    """Returns what is drawn of a function.

    Args:
        graph: The function.
        options: What the reader wants; its ids are ignored where they name nothing.
        root: The op whose regions are drawn; -1 for the function.
        focus: The node whose neighbours are drawn; -1 for all.
    """
    values = values_of(graph, options, focus)
    out_of_focus = 0
    if focus >= 0:
        roots = [graph.nodes[focus].block]
        plans, out_of_focus = plan_focus(values, focus, options.hops)
    else:
        roots = values.regions.get(root, []) if root >= 0 else values.regions_of_function()
        plans = plan(values, roots)
    builder = _Builder(values, plans)
    blocks = tuple(builder.block(key, name) for key, name in builder.named(roots))
    return OpsView(
        graph,
        options,
        blocks,
        folded_constants=sum(values.is_constant(n) for key in plans for n in values.blocks[key]),
        folded_trivial=sum(values.is_trivial(n) for key in plans for n in values.blocks[key]),
        out_of_focus=out_of_focus,
        owners=builder.owners,
    )


@dataclass(slots=True)
class _Content:
    """A block that is being made."""

    items: list[Item] = field(default_factory=list[Item])
    place: dict[int, int] = field(default_factory=dict[int, int])
    """Node to the item that stands for it."""
    captured: dict[Value, int] = field(default_factory=dict[Value, int])
    links: dict[tuple[int, int, Value | None], Link] = field(
        default_factory=dict[tuple[int, int, Value | None], Link]
    )
    counted: set[tuple[int, int, Value]] = field(default_factory=set[tuple[int, int, Value]])
    constants: dict[int, list[str]] = field(default_factory=dict[int, list[str]])


class _Builder:
    def __init__(self, values: Values, plans: Plan) -> None:
        self.values = values
        self.plans = plans
        self.graph = values.graph
        self.owners: dict[int, str] = {}

    def named(self, keys: Sequence[BlockKey]) -> list[tuple[BlockKey, str]]:
        """Blocks with what they are called."""
        if not keys or keys[0][0] < 0:
            return [(key, f"^bb{key[2]}" if key[2] else "") for key in keys]
        count = max(region for _, region, _ in keys) + 1
        names = region_names(self.graph.nodes[keys[0][0]], count)
        return [(key, names[key[1]] + (f" ^bb{key[2]}" if key[2] else "")) for key in keys]

    def block(self, key: BlockKey, name: str) -> BlockView:
        """One block, with all that is open inside; deepest last, for it recurses by open region."""
        content = _Content()
        for entry in self.plans[key]:
            self._place(entry, content)
        for entry in self.plans[key]:
            self._link(entry, key, content)
        self._tell_constants(content)
        self._pass_through(content)
        # What comes from outside stands first, as arguments do.
        captured = set(content.captured.values())
        numbers = self.values.blocks[key]
        order = sorted(range(len(content.items)), key=lambda at: at not in captured)
        at = {old: new for new, old in enumerate(order)}
        return BlockView(
            id=self._path(key),
            name=name,
            items=tuple(content.items[number] for number in order),
            links=tuple(
                replace(link, source=at[link.source], target=at[link.target])
                for link in content.links.values()
            ),
            op_count=sum(self.graph.nodes[n].kind != "argument" for n in numbers),
            unused=sum(self.values.is_unused(n) for n in numbers),
        )

    def _path(self, key: BlockKey) -> str:
        holder = self.graph.nodes[key[0]].id if key[0] >= 0 else ""
        return block_path(holder, key[1], key[2])

    def _place(self, entry: Entry, content: _Content) -> None:
        if isinstance(entry, Group):
            item, members = group_item(self.graph, entry), entry.members
        else:
            item, members = single_item(self.graph, entry, self._regions(entry)), (entry,)
        for number in members:
            content.place[number] = len(content.items)
            self.owners[number] = item.id
        content.items.append(item)

    def _regions(self, number: int) -> tuple[BlockView, ...]:
        """The regions of an op that is open; plans nest no deeper than a picture can."""
        keys = self.values.regions.get(number, [])
        if not keys or keys[0] not in self.plans:
            return ()
        return tuple(self.block(key, name) for key, name in self.named(keys))

    def _link(self, entry: Entry, key: BlockKey, content: _Content) -> None:
        members = entry.members if isinstance(entry, Group) else (entry,)
        target = content.place[members[0]]
        for number in members:
            for dependency in self.values.dependencies(number):
                self._depend(dependency, key, target, content)

    def _depend(
        self, dependency: Dependency, key: BlockKey, target: int, content: _Content
    ) -> None:
        giver = dependency.value[0]
        item = content.items[target]
        for folded in dependency.via:
            self.owners.setdefault(folded, item.id)
        if self.values.is_constant(giver):
            self.owners.setdefault(giver, item.id)
            if dependency.operand is not None:
                words = constant_words(self.graph.nodes[giver])
                content.constants.setdefault(target, []).append(words)
            return
        if self.graph.nodes[giver].block != key:
            source = self._captured(dependency.value, key, content)
        elif giver in content.place:
            source = content.place[giver]
        else:
            return  # out of focus
        if source != target:
            self._add(Link(source, target, self._type(dependency)), dependency, content)

    def _add(self, link: Link, dependency: Dependency, content: _Content) -> None:
        is_grouped = "group" in (
            content.items[link.source].kind,
            content.items[link.target].kind,
        )
        key = (link.source, link.target, None if is_grouped else dependency.value)
        known = content.links.get(key)
        operand = () if dependency.operand is None or is_grouped else (dependency.operand,)
        if known is None:
            via = tuple(self.graph.nodes[n].short_name for n in dependency.via)
            content.counted.add((link.source, link.target, dependency.value))
            content.links[key] = replace(
                link, operands=operand, result=dependency.value[1], via=via
            )
            return
        more = int((link.source, link.target, dependency.value) not in content.counted)
        content.counted.add((link.source, link.target, dependency.value))
        content.links[key] = replace(
            known,
            type=known.type if known.type == link.type else "",
            operands=known.operands + operand,
            count=known.count + more,
        )

    def _captured(self, value: Value, key: BlockKey, content: _Content) -> int:
        if value not in content.captured:
            content.captured[value] = len(content.items)
            content.items.append(captured_item(self.graph, value, self._path(key)))
        return content.captured[value]

    def _type(self, dependency: Dependency) -> str:
        if dependency.via:
            return value_type(self.graph, (dependency.via[-1], 0))
        return value_type(self.graph, dependency.value)

    def _tell_constants(self, content: _Content) -> None:
        for target, constants in content.constants.items():
            item = content.items[target]
            if item.kind == "group":
                continue
            told = list(dict.fromkeys(constants))
            words = "const " + ", ".join(told[:_MOST_CONSTANTS])
            if len(told) > _MOST_CONSTANTS:
                words += f" and {len(told) - _MOST_CONSTANTS:,} more"
            note = f"{item.note} {words}".strip()
            content.items[target] = replace(item, note=note)

    def _pass_through(self, content: _Content) -> None:
        """Arguments that go straight to the end are told there instead of drawn."""
        passed = [
            key
            for key, link in content.links.items()
            if content.items[link.source].kind == "argument"
            and content.items[link.target].kind == "return"
        ]
        if len(passed) < _PASSED_THROUGH:
            return
        target = passed[0][1]
        item = content.items[target]
        note = f"{item.note} + {len(passed):,} passed through".strip()
        content.items[target] = replace(item, note=note)
        for key in passed:
            del content.links[key]
