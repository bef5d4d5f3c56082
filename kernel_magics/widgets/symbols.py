"""The rename map as rows: what became of each symbol of each unit, and why."""

from collections.abc import Iterator, Mapping

from kernel_magics.characters import visible
from kernel_magics.graph.model import FunctionNode
from kernel_magics.graph.words import plural
from kernel_magics.ir.link_report import LinkedSymbol
from kernel_magics.widgets.protocol import SymbolRow
from kernel_magics.widgets.subject import Snapshot, UnitText
from kernel_magics.widgets.texts import ranges

_OFFER = "jax:"
_KINDS = {"func.func": "function"}


def symbol_rows(snapshot: Snapshot) -> list[SymbolRow]:
    """Returns one row a symbol and a custom-call target, unit by unit in module order."""
    nodes = {node.id: node for node in snapshot.graph.nodes}
    owners = _owners(snapshot)
    rows: list[SymbolRow] = []
    for number, unit in enumerate(snapshot.units):
        lines = _lines_of(unit)
        if unit.report is None:
            rows += [_alone(node, number, lines) for node in snapshot.graph.nodes]
            continue
        for symbol in unit.report.symbols:
            row = _row(symbol, unit, owners, nodes.get(symbol.new_name))
            rows.append({**row, "unit": number, "line": lines.get(symbol.old_name)})
    if any(unit.report for unit in snapshot.units):
        rows += _custom_calls(snapshot)
    return rows


def _owners(snapshot: Snapshot) -> dict[str, str]:
    """Symbols of the linked module to the units that brought them."""
    owners: dict[str, str] = {}
    for unit in snapshot.units:
        for symbol in unit.report.symbols if unit.report else ():
            if symbol.why in ("kept", "renamed"):
                owners.setdefault(symbol.new_name, unit.name)
    return owners


def _lines_of(unit: UnitText) -> dict[str, int]:
    if unit.text is None:
        return {}
    lines = unit.text.split("\n")
    names = [s.old_name for s in unit.report.symbols] if unit.report else []
    return {found["node"]: found["first"] for found in ranges(lines, {n: n for n in names})}


def _row(
    symbol: LinkedSymbol, unit: UnitText, owners: Mapping[str, str], node: FunctionNode | None
) -> SymbolRow:
    is_missing = node is not None and node.status == "missing"
    return {
        "unit": 0,
        "old": "@" + visible(symbol.old_name),
        "new": "@" + visible(symbol.new_name),
        "why": "missing" if is_missing else symbol.why,
        "kind": _kind(symbol, node),
        "explanation": "nothing defines it" if is_missing else _explanation(symbol, unit, owners),
        "uses": symbol.uses,
        "line": None,
        "node": node.id if node else "",
    }


def _kind(symbol: LinkedSymbol, node: FunctionNode | None) -> str:
    if symbol.why == "bound" or (node is not None and node.kind == "declaration"):
        return "declaration"
    return _KINDS.get(symbol.kind, symbol.kind)


def _explanation(symbol: LinkedSymbol, unit: UnitText, owners: Mapping[str, str]) -> str:
    old = "@" + visible(symbol.old_name)
    owner = owners.get(symbol.new_name, "")
    if symbol.why == "bound":
        if owner.startswith(_OFFER):
            return f"to the JAX function {visible(owner.removeprefix(_OFFER))}"
        return f"to {visible(owner)}'s @{visible(symbol.new_name)}" if owner else ""
    if symbol.why == "reused":
        whose = f"{visible(symbol.reused_from)}'s " if symbol.reused_from else ""
        saved = f"; {plural(symbol.op_count, 'op')} not added" if symbol.op_count else ""
        return f"equal to {whose}@{visible(symbol.new_name)}{saved}"
    if symbol.why == "renamed":
        holder = owners.get(symbol.old_name, "")
        if holder and holder != unit.name:
            return f"{old} was taken by {visible(holder)}"
        return f"{old} was taken"
    return ""


def _custom_calls(snapshot: Snapshot) -> Iterator[SymbolRow]:
    place = {unit.name: number for number, unit in enumerate(snapshot.units)}
    calls: dict[str, int] = {}
    for edge in snapshot.graph.edges:
        calls[edge.callee] = calls.get(edge.callee, 0) + edge.count
    for node in snapshot.graph.nodes:
        if node.kind != "custom_call":
            continue
        for unit in node.units or ("",):
            row = _alone(node, place.get(unit, -1), {})
            yield {**row, "uses": calls.get(node.id, 0)}


def _alone(node: FunctionNode, unit: int, lines: Mapping[str, int]) -> SymbolRow:
    is_call = node.kind == "custom_call"
    name = visible(node.author_name) if is_call else "@" + visible(node.author_name)
    is_missing = node.status == "missing"
    return {
        "unit": unit,
        "old": name,
        "new": name,
        "why": "missing" if is_missing else "kept",
        "kind": "custom call" if is_call else node.kind,
        "explanation": "no handler serves it" if is_missing else "",
        "uses": 0,
        "line": lines.get(node.author_name),
        "node": node.id,
    }
