"""What is drawn of a function at a time: blocks of items and links, nested, folded to a limit."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from kernel_magics.graph.op_kinds import OpKind
from kernel_magics.graph.ops_model import OpNode, OpsData, Value
from kernel_magics.graph.words import plural

DEFAULT_LIMIT = 800
FOCUS_LIMIT = 300

ItemKind = Literal["op", "argument", "captured", "return", "group"]
Rule = Literal["name scope", "order"]


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What a reader wants to see."""

    root: str = ""
    """The id of an op: only its regions are drawn; the function where it is empty."""
    is_trivial_folded: bool = False
    """Whether ops that only reshape, broadcast or convert are left out, their edges kept."""
    opened: frozenset[str] = frozenset()
    """Ids of groups and of ops with regions that are drawn open, whatever the limit says."""
    closed: frozenset[str] = frozenset()
    """Ids of ops with regions that stay folded."""
    focus: str = ""
    """The id of an op: only its neighbours in its block are drawn."""
    hops: int = 2
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is drawn."""

    id: str
    """That of its node; `FIRST..LAST` for a group, `BLOCK^NODE:RESULT` for a captured value."""
    kind: ItemKind
    does: OpKind
    label: str
    note: str = ""
    """Folded constants, or what a group holds."""
    node: int = -1
    """The node; for a group its first, for a captured value the one that gives it."""
    members: tuple[int, ...] = ()
    """The nodes of a group."""
    rule: Rule | None = None
    """By what a group was made."""
    regions: tuple["BlockView", ...] = ()
    """Its regions, if it is open."""
    folded_ops: int = 0
    """Ops in its regions, or in its members, that are not drawn."""


@dataclass(frozen=True, slots=True)
class Link:
    """An item uses what another gives."""

    source: int
    """Numbers of items in the block."""
    target: int
    type: str
    """Of the value that arrives; empty where several of different types do."""
    operands: tuple[int, ...] = ()
    """At the target; none for a value that only its regions use, and for groups."""
    result: int = 0
    count: int = 1
    """How many values."""
    via: tuple[str, ...] = ()
    """Ops folded into the edge, from the source on."""


@dataclass(frozen=True, slots=True)
class BlockView:
    """The items of one block."""

    id: str
    """What the ids of its ops begin with."""
    name: str
    items: tuple[Item, ...]
    links: tuple[Link, ...]
    op_count: int = 0
    unused: int = 0
    """Arguments of a region that nothing uses; they are not drawn."""


@dataclass(frozen=True, slots=True)
class OpsView:
    """A drawing's content, and what it leaves out."""

    graph: OpsData
    options: ViewOptions
    blocks: tuple[BlockView, ...]
    """Of the function, or of the op that was entered: one, but for other control flow."""
    folded_constants: int = 0
    folded_trivial: int = 0
    out_of_focus: int = 0
    """Nodes that are too far away from the focus."""
    owners: dict[int, str] = field(default_factory=dict[int, str], repr=False)
    """Node to the item that stands for it: its own, its group, the open op around it."""

    def items(self) -> Iterator[Item]:
        """All items, outer before inner."""
        pending = list(reversed(self.blocks))
        while pending:
            for item in pending.pop().items:
                yield item
                pending.extend(reversed(item.regions))

    @property
    def drawn(self) -> int:
        """How many items there are."""
        return sum(1 for _ in self.items())

    def owner(self, number: int) -> str:
        """The item that shows a node or hides it; empty where it is not in this view."""
        if number in self.owners:
            return self.owners[number]
        return next((self.owners[at] for at in self.graph.holders(number) if at in self.owners), "")

    def phrases(self) -> list[str]:
        """What is left out, one phrase a rule."""
        return _phrases(self)


def _phrases(view: OpsView) -> list[str]:
    found: list[str] = []
    groups = [item for item in view.items() if item.kind == "group"]
    for rule in ("name scope", "order"):
        by_rule = [group for group in groups if group.rule == rule]
        if by_rule:
            ops = sum(group.folded_ops for group in by_rule)
            values = sum(len(group.members) for group in by_rule if not group.folded_ops)
            what = [plural(ops, "op")] if ops else []
            what += [plural(values, "argument")] if values else []
            found.append(
                f"{' and '.join(what)} folded into {plural(len(by_rule), 'group')} by {rule}"
            )
    closed = [item for item in view.items() if item.kind == "op" and item.folded_ops]
    if closed:
        ops = sum(item.folded_ops for item in closed)
        found.append(f"{plural(ops, 'op')} folded in the regions of {plural(len(closed), 'op')}")
    if view.folded_constants:
        found.append(f"{plural(view.folded_constants, 'constant')} folded")
    if view.folded_trivial:
        found.append(f"{plural(view.folded_trivial, 'trivial op')} folded")
    if view.out_of_focus:
        found.append(f"{view.out_of_focus:,} more out of focus")
    return found


def region_names(node: OpNode, count: int) -> list[str]:
    """Returns what the regions of an op are called."""
    known = {
        "while": ["cond", "body"],
        "if": ["true", "false"],
        "select_and_scatter": ["select", "scatter"],
        "sort": ["comparator"],
        "case": [f"branch {number}" for number in range(count)],
    }.get(node.short_name, ["body"])
    return known if len(known) == count else [f"region {number}" for number in range(count)]


def value_type(graph: OpsData, value: Value) -> str:
    """Returns the type of a value, or nothing for one that is not known."""
    number, result = value
    types = graph.nodes[number].types if number >= 0 else ()
    return types[result] if result < len(types) else ""
