"""Chooses which functions of a large module are drawn, and lets folded groups be opened."""

from collections import Counter, deque
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from kernel_magics.graph.fold import FoldedGroup, fold
from kernel_magics.graph.model import CallEdge, CallGraph, FunctionNode
from kernel_magics.graph.words import plural

DRAWN_AT_FIRST = 200
MOST_DRAWN = 800
OPENED_AT_ONCE = 40


@dataclass(frozen=True, slots=True)
class Drawn:
    """A graph small enough to lay out, and what became of the rest."""

    graph: CallGraph
    groups: dict[str, FoldedGroup]
    """Group nodes of the graph by id."""
    group_of: dict[str, str]
    """Node that is not drawn, to the id of its group."""
    hidden_calls: int

    @property
    def folded(self) -> str:
        """What is not drawn, in words; empty when everything is."""
        if not self.groups:
            phrases: list[str] = []
        else:
            functions = sum(group.functions for group in self.groups.values())
            others = sum(group.custom_calls for group in self.groups.values())
            phrases = [plural(functions, "function")] if functions else []
            phrases += [plural(others, "custom call")] if others else []
            phrases = [f"{' and '.join(phrases)} in {plural(len(self.groups), 'folded group')}"]
        if self.hidden_calls:
            phrases.append(f"{plural(self.hidden_calls, 'call')} not drawn")
        return " · ".join(phrases)


def draw(graph: CallGraph, opened: Sequence[str] = ()) -> Drawn:
    """Chooses the nodes to draw as the static picture does, and those of opened groups.

    Args:
        graph: A graph of any size.
        opened: Ids of groups; each draws some more of its members, problems first. An id that
            stands twice draws twice as many.
    """
    folded = fold(graph, DRAWN_AT_FIRST)
    if not folded.groups:
        return Drawn(folded.graph, {}, {}, folded.hidden_calls)
    nodes = {node.id: node for node in graph.nodes}
    callees = _callees(graph)
    shown = dict.fromkeys(node.id for node in folded.graph.nodes if node.kind != "group")
    callers = {group.caller for group in folded.groups}
    owner = _owners(nodes, callees, shown, callers)
    for group_id in opened:
        members = [name for name, by in owner.items() if _group_id(by) == group_id]
        members.sort(key=lambda name: nodes[name].status != "missing")
        room = max(0, min(OPENED_AT_ONCE, MOST_DRAWN - len(shown)))
        for name in members[:room]:
            shown[name] = None
            del owner[name]
    return _regrouped(graph, shown, owner)


def _callees(graph: CallGraph) -> dict[str, list[str]]:
    callees: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        if edge.caller in callees and edge.callee in callees:
            callees[edge.caller].append(edge.callee)
    return callees


def _owners(
    nodes: Iterable[str],
    callees: dict[str, list[str]],
    shown: dict[str, None],
    callers: Container[str | None],
) -> dict[str, str | None]:
    """Each node not shown, with the caller beside which it is folded, if there is one."""
    owner: dict[str, str | None] = {}
    queue = deque(shown)
    while queue:
        caller = queue.popleft()
        by = owner.get(caller, caller if caller in callers else None)
        for name in callees[caller]:
            if name not in shown and name not in owner:
                owner[name] = by
                queue.append(name)
    rest = (name for name in nodes if name not in shown and name not in owner)
    return owner | dict.fromkeys(rest)


def _regrouped(graph: CallGraph, shown: dict[str, None], owner: dict[str, str | None]) -> Drawn:
    group_of = {name: _group_id(by) for name, by in owner.items()}
    edges, inner = _merged_edges(graph.edges, shown, group_of)
    nodes = [node for node in graph.nodes if node.id in shown]
    groups: dict[str, FoldedGroup] = {}
    members_of: dict[str | None, list[FunctionNode]] = {}
    for node in graph.nodes:
        if node.id in owner:
            members_of.setdefault(owner[node.id], []).append(node)
    for by, members in members_of.items():
        group = _group(by, members, inner[_group_id(by)])
        groups[group.node_id] = group
        nodes.append(_group_node(group, members))
    regrouped = replace(graph, nodes=tuple(nodes), edges=edges)
    # Of this size it comes back as it is, but for edges too many to be told apart.
    thinned = fold(regrouped, max(DRAWN_AT_FIRST, len(nodes)))
    return Drawn(thinned.graph, groups, group_of, thinned.hidden_calls)


def _merged_edges(
    edges: Iterable[CallEdge], shown: dict[str, None], group_of: dict[str, str]
) -> tuple[tuple[CallEdge, ...], Counter[str]]:
    merged: dict[tuple[str, str, str], CallEdge] = {}
    inner: Counter[str] = Counter()
    for edge in edges:
        caller, callee = (
            name if name in shown else group_of.get(name) for name in (edge.caller, edge.callee)
        )
        if caller is None or callee is None:
            continue
        if caller == callee and caller not in shown:
            inner[caller] += edge.count
            continue
        key = (caller, callee, edge.kind)
        before = merged[key].count if key in merged else 0
        merged[key] = CallEdge(caller, callee, edge.kind, before + edge.count)
    return tuple(merged.values()), inner


def _group(by: str | None, members: list[FunctionNode], inner_calls: int) -> FoldedGroup:
    custom_calls = sum(node.kind == "custom_call" for node in members)
    return FoldedGroup(
        node_id=_group_id(by),
        caller=by,
        functions=len(members) - custom_calls,
        custom_calls=custom_calls,
        ops=sum(node.op_count for node in members),
        missing=sum(node.status == "missing" for node in members),
        inner_calls=inner_calls,
    )


def _group_node(group: FoldedGroup, members: list[FunctionNode]) -> FunctionNode:
    noun, count = "more function", group.functions
    if not count:
        noun, count = "more custom call", group.custom_calls
    name = "… " + plural(count, noun)
    units = tuple(dict.fromkeys(unit for node in members for unit in node.units))
    return FunctionNode(
        id=group.node_id,
        kind="group",
        author_name=name,
        merged_name=name,
        units=units if len(units) <= 2 else (),  # noqa: PLR2004 - more stripes say nothing
        op_count=group.ops,
    )


def _group_id(by: str | None) -> str:
    # No symbol holds a NUL, so no function is ever taken for a group.
    return "folded\0" + ("" if by is None else by)
