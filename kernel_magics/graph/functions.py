"""Builds function graphs: of one unit as it was linked, and of all units of a session."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.model import CallEdge, EdgeKind, FunctionNode, Status
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.context import new_context
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.link_report import LinkedSymbol, LinkReport
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import CALLS, COMPOSITE, SymbolIndex, TopLevelOp, scan

if TYPE_CHECKING:
    from kernel_magics.graph.ops_graph import OpsGraph
    from kernel_magics.graph.ops_source import UnitOps

_EDGE_KINDS: Mapping[str, EdgeKind] = {CALLS: "call", COMPOSITE: "composite"}


@without_collections()
def unit_graph(
    index: SymbolIndex, source: Source, report: LinkReport, entry: str | None
) -> FunctionGraph:
    """The functions of one unit, under the names that linking gave them.

    Args:
        index: The scan of the unit, from before it was linked.
        source: Where its locations point.
        report: What linking did.
        entry: The author's name of the unit's entry, if it has one.
    """
    names = {symbol.old_name: symbol for symbol in report.symbols}
    bound = report.bound
    nodes: dict[str, FunctionNode] = {}
    edges: dict[tuple[str, str, EdgeKind], int] = {}
    for op in index.functions():
        assert op.name is not None
        if op.name in bound:
            continue
        merged = names[op.name].new_name
        node = _node(op, source, names[op.name], report.unit, is_entry=op.name == entry)
        if merged in nodes:
            nodes[merged] = _shared(nodes[merged], node)
            continue
        nodes[merged] = node
        for (symbol, kind), count in op.references.items():
            callee = index.by_name.get(symbol)
            if callee is not None and callee.is_function:
                edge_kind = _EDGE_KINDS.get(kind, "reference")
                edge_kind = "bound" if symbol in bound else edge_kind
                key = (merged, names[symbol].new_name, edge_kind)
                edges[key] = edges.get(key, 0) + count
        for target, count in op.custom_calls.items():
            node = _custom_call(target, report.unit)
            nodes.setdefault(node.id, node)
            edges[merged, node.id, "custom_call"] = count
    merged_names = {symbol.old_name: symbol.new_name for symbol in report.symbols}
    opener = _opener(source, report.unit, merged_names)
    return FunctionGraph(tuple(nodes.values()), _edges(edges), report.unit, opener=opener)


def program_graph(source: Source, entry: str, report: LinkReport | None) -> FunctionGraph:
    """What one function uses, itself included.

    Args:
        source: The program that it stands in.
        entry: The function, without `@`.
        report: What linking its unit did; None for a program that was not linked.
    """
    index = scan(parse(source, new_context()))
    kept = index.reachable([entry])
    ops = tuple(op for op in index.ops if op.name in kept)
    index = SymbolIndex(index.module, ops, {op.name: op for op in ops if op.name is not None})
    report = report or LinkReport.unlinked(source.name, index)
    graph = unit_graph(index, source, report, entry)
    ids = {node.id for node in graph.nodes}
    edges = tuple(edge for edge in graph.edges if edge.callee in ids)
    return replace(graph, edges=edges, title=f"@{entry}")


@without_collections()
def merge_graphs(graphs: Iterable[FunctionGraph], title: str) -> FunctionGraph:
    """The graphs of several units as one; what they share is there once, and says so."""
    nodes: dict[str, FunctionNode] = {}
    edges: dict[tuple[str, str, EdgeKind], int] = {}
    letters: dict[str, str] = {}
    openers: dict[str, Callable[[str], OpsGraph]] = {}
    for graph in graphs:
        letters[graph.title] = _letter(len(letters))
        for node in graph.nodes:
            if node.kind == "function" and graph.opener is not None:
                openers.setdefault(node.id, graph.opener)
            known = nodes.get(node.id)
            nodes[node.id] = node if known is None else _shared(known, node)
        for edge in graph.edges:
            edges.setdefault((edge.caller, edge.callee, edge.kind), edge.count)
    settled = tuple(map(_settled, nodes.values()))

    def opener(node_id: str) -> "OpsGraph":
        return openers[node_id](node_id)

    return FunctionGraph(settled, _edges(edges), title, letters, opener if openers else None)


def _opener(
    source: Source, unit: str, merged_names: Mapping[str, str]
) -> Callable[[str], "OpsGraph"]:
    """Reads the unit again when the first of its functions is opened; most never are."""
    made: list[UnitOps] = []

    def opener(node_id: str) -> "OpsGraph":
        from kernel_magics.graph.ops_source import UnitOps  # noqa: PLC0415

        if not made:
            made.append(UnitOps(source, unit, merged_names))
        return made[0].open(node_id)

    return opener


def _node(
    op: TopLevelOp, source: Source, symbol: LinkedSymbol, unit: str, *, is_entry: bool
) -> FunctionNode:
    place = position(op.location, source)
    status: Status = "kept" if symbol.old_name == symbol.new_name else "renamed"
    return FunctionNode(
        id=symbol.new_name,
        kind="declaration" if op.is_declaration else "function",
        author_name=symbol.old_name,
        merged_name=symbol.new_name,
        status="reused" if symbol.why == "reused" else status,
        units=(unit,),
        is_entry=is_entry,
        op_count=op.op_count,
        line=place[0] + source.first_line - 1 if place else None,
    )


def _custom_call(target: str, unit: str) -> FunctionNode:
    return FunctionNode(f"call_target:{target}", "custom_call", target, target, units=(unit,))


def _shared(known: FunctionNode, other: FunctionNode) -> FunctionNode:
    """One node for two that are one in the linked module."""
    units = tuple(dict.fromkeys((*known.units, *other.units)))
    is_entry = known.is_entry or other.is_entry
    if known.kind == "custom_call":
        return replace(known, units=units, is_entry=is_entry)
    copies = known.reuse_count + other.reuse_count - len(units)
    return replace(known, units=units, status="reused", is_entry=is_entry, copies=copies)


def _settled(node: FunctionNode) -> FunctionNode:
    """Once the unit it was shared with is gone, a function is reused no more."""
    if node.status != "reused" or node.reuse_count > 1:
        return node
    return replace(node, status="renamed" if node.merged_name != node.author_name else "kept")


def _edges(counts: Mapping[tuple[str, str, EdgeKind], int]) -> tuple[CallEdge, ...]:
    return tuple(
        CallEdge(caller, callee, kind, count) for (caller, callee, kind), count in counts.items()
    )


def _letter(number: int) -> str:
    """`A` to `Z`, then `AA`, `AB` and so on."""
    letters = ""
    while number >= 0:
        number, rest = divmod(number, 26)
        letters = chr(ord("A") + rest) + letters
        number -= 1
    return letters
