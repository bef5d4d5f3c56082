"""Cuts a large graph to what a person can look at, and says exactly what it left out."""

from collections import Counter, deque
from collections.abc import Container
from dataclasses import dataclass, replace

from kernel_magics.graph.model import CallEdge, CallGraph, FunctionNode
from kernel_magics.graph.words import plural

DEFAULT_LIMIT = 120
# A column taller or a chain longer than this is a wall, not a picture: shares of the limit.
_FAN_SHARE = 20
_ROOT_SHARE = 6
_DEPTH_SHARE = 8
_EDGES_PER_NODE = 4
_MOST_STRIPES = 2


@dataclass(frozen=True, slots=True)
class FoldedGroup:
    """The functions that one group node stands for."""

    node_id: str
    caller: str | None
    """The drawn function that calls them; None for a group of any origin."""
    functions: int
    """Functions and declarations."""
    custom_calls: int
    ops: int
    missing: int
    inner_calls: int
    """Calls among the members, which no edge of the folded graph shows."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A graph small enough to draw, and what it does not show."""

    graph: CallGraph
    groups: tuple[FoldedGroup, ...] = ()
    hidden_calls: int = 0
    """Calls between drawn nodes whose edges are left out, for there are too many."""

    @property
    def folded_functions(self) -> int:
        """How many functions and declarations stand in groups."""
        return sum(group.functions for group in self.groups)


def fold(graph: CallGraph, limit: int = DEFAULT_LIMIT) -> Folded:
    """Keeps the entries and what is nearest to them, and folds the rest into group nodes.

    Breadth first from the entries, then from functions nobody calls. A caller of very many
    functions shows the first of them; the others stand in one group beside it. What is too far
    away stands in one last group. Calls into and out of a group are summed per function.

    Args:
        graph: Any graph; up to `limit` nodes it comes back with its nodes as they are.
        limit: How many nodes are drawn at most, groups not counted.

    Returns:
        The folded graph. Functions, ops and calls drawn, plus those of its groups, plus
        `hidden_calls`, add up to those of `graph`.
    """
    limit = max(1, limit)
    if len(graph.nodes) <= limit:
        return _without_excess_edges(Folded(graph), limit)
    walk = _Walk(graph, limit)
    drawn = walk.nearest()
    owner = walk.owners(drawn)
    ids = _group_ids(owner, taken=walk.nodes.keys())
    stands_for = {name: name for name in drawn} | {name: ids[by] for name, by in owner.items()}
    edges, inner = _merged_edges(graph.edges, stands_for, set(ids.values()))
    groups: list[FoldedGroup] = []
    nodes = [node for node in walk.nodes.values() if node.id in drawn]
    for by, group_id in ids.items():
        members = [walk.nodes[name] for name, name_by in owner.items() if name_by == by]
        group = _group(group_id, by, members, inner[group_id])
        groups.append(group)
        nodes.append(_group_node(group, members))
    folded = replace(graph, nodes=tuple(nodes), edges=edges)
    return _without_excess_edges(Folded(folded, tuple(groups)), limit)


class _Walk:
    """Breadth-first walks over one graph."""

    def __init__(self, graph: CallGraph, limit: int) -> None:
        self.nodes: dict[str, FunctionNode] = {}
        for node in graph.nodes:
            self.nodes.setdefault(node.id, node)
        self.limit = limit
        self.cut_callers: set[str] = set()
        self.callees: dict[str, dict[str, None]] = {name: {} for name in self.nodes}
        called: set[str] = set()
        for edge in graph.edges:
            if edge.caller in self.nodes and edge.callee in self.nodes:
                self.callees[edge.caller][edge.callee] = None
                if edge.caller != edge.callee:
                    called.add(edge.callee)
        entries = [name for name, node in self.nodes.items() if node.is_entry]
        # A module of nothing but call cycles has neither entry nor uncalled function.
        uncalled = [name for name in self.nodes if name not in called]
        self.roots = list(dict.fromkeys(entries + uncalled)) or list(self.nodes)

    def nearest(self) -> dict[str, None]:
        """The nodes to draw, nearest first."""
        fan = max(2, self.limit // _FAN_SHARE)
        depth = max(3, self.limit // _DEPTH_SHARE)
        roots = self._sample(self.roots, max(2, self.limit // _ROOT_SHARE))
        drawn = dict.fromkeys(roots[: self.limit])
        queue = deque((name, 1) for name in drawn)
        while queue and len(drawn) < self.limit:
            caller, level = queue.popleft()
            fresh = [name for name in self.callees[caller] if name not in drawn]
            chosen = self._sample(fresh, fan)
            if len(chosen) < len(fresh):
                self.cut_callers.add(caller)
            if level >= depth:
                continue
            for name in chosen[: self.limit - len(drawn)]:
                drawn[name] = None
                queue.append((name, level + 1))
        return drawn

    def owners(self, drawn: dict[str, None]) -> dict[str, str | None]:
        """Each node not drawn, with the caller beside which it is folded, if there is one."""
        owner: dict[str, str | None] = {}
        queue = deque(drawn)
        while queue:
            caller = queue.popleft()
            by = owner[caller] if caller in owner else self._cut(caller)
            for name in self.callees[caller]:
                if name not in drawn and name not in owner:
                    owner[name] = by
                    queue.append(name)
        rest = (name for name in self.nodes if name not in drawn and name not in owner)
        return owner | dict.fromkeys(rest)

    def _cut(self, caller: str) -> str | None:
        return caller if caller in self.cut_callers else None

    def _sample(self, names: list[str], keep: int) -> list[str]:
        if len(names) <= 2 * keep:
            return names
        # Problems are what a reader looks for: they are the last to be folded.
        return sorted(names, key=lambda name: self.nodes[name].status != "missing")[:keep]


def _group_ids(owner: dict[str, str | None], taken: Container[str]) -> dict[str | None, str]:
    ids: dict[str | None, str] = {}
    for by in sorted(dict.fromkeys(owner.values()), key=lambda by: by is None):
        group_id = f"folded:{by or ''}"
        while group_id in taken or group_id in ids.values():
            group_id += "'"
        ids[by] = group_id
    return ids


def _merged_edges(
    edges: tuple[CallEdge, ...], stands_for: dict[str, str], group_ids: set[str]
) -> tuple[tuple[CallEdge, ...], Counter[str]]:
    merged: dict[tuple[str, str, str], CallEdge] = {}
    inner: Counter[str] = Counter()
    for edge in edges:
        if edge.caller not in stands_for or edge.callee not in stands_for:
            continue
        caller, callee = stands_for[edge.caller], stands_for[edge.callee]
        if caller == callee and caller in group_ids:
            inner[caller] += edge.count
            continue
        key = (caller, callee, edge.kind)
        before = merged[key].count if key in merged else 0
        merged[key] = CallEdge(caller, callee, edge.kind, before + edge.count)
    return tuple(merged.values()), inner


def _group(
    group_id: str, caller: str | None, members: list[FunctionNode], inner_calls: int
) -> FoldedGroup:
    custom_calls = sum(node.kind == "custom_call" for node in members)
    return FoldedGroup(
        node_id=group_id,
        caller=caller,
        functions=len(members) - custom_calls,
        custom_calls=custom_calls,
        ops=sum(node.op_count for node in members),
        missing=sum(node.status == "missing" for node in members),
        inner_calls=inner_calls,
    )


def _group_node(group: FoldedGroup, members: list[FunctionNode]) -> FunctionNode:
    if group.functions:
        name = "… " + plural(group.functions, "more function")
    else:
        name = "… " + plural(group.custom_calls, "more custom call")
    units = tuple(dict.fromkeys(unit for node in members for unit in node.units))
    return FunctionNode(
        id=group.node_id,
        kind="group",
        author_name=name,
        merged_name=name,
        units=units if len(units) <= _MOST_STRIPES else (),
        op_count=group.ops,
    )


def _without_excess_edges(folded: Folded, limit: int) -> Folded:
    edges, most = folded.graph.edges, _EDGES_PER_NODE * limit
    if len(edges) <= most:
        return folded
    # The first edge into each node comes first, so that no called function floats free.
    reached: set[str] = set()
    first: list[int] = []
    later: list[int] = []
    for index, edge in enumerate(edges):
        (later if edge.callee in reached else first).append(index)
        reached.add(edge.callee)
    kept = set((first + later)[:most])
    shown = tuple(edge for index, edge in enumerate(edges) if index in kept)
    hidden = sum(edge.count for index, edge in enumerate(edges) if index not in kept)
    return replace(folded, graph=replace(folded.graph, edges=shown), hidden_calls=hidden)
