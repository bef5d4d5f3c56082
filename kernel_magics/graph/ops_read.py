"""Reads one MLIR function into nodes; iterative, for regions nest deeper than Python calls."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from jax.extend.mlir import ir

from kernel_magics.graph.op_kinds import CONSTANTS, op_kind
from kernel_magics.graph.op_places import place, scope
from kernel_magics.graph.op_text import constant_text, type_text
from kernel_magics.graph.ops_model import NO_VALUE, BlockKey, OpNode, Value, block_path

_SYMBOLS: Mapping[str, str] = {
    "func.call": "callee",
    "stablehlo.composite": "decomposition",
    "stablehlo.custom_call": "call_target_name",
    "mhlo.custom_call": "call_target_name",
}
_CUSTOM_CALLS = ("stablehlo.custom_call", "mhlo.custom_call")
_COMPARE = "stablehlo.compare"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
# A reducer of one op is told by its name: two arguments, the op, the return.
_ONE_OP_BODY = 4


_MlirValue = Any
"""An `ir.Value`: the binding's class is generic in one version and plain in the other."""


@dataclass(slots=True)
class _Frame:
    """A block that is being read."""

    key: BlockKey
    path: str
    operations: Iterator[ir.Operation]
    next_number: int = 0


@dataclass(slots=True)
class _Reader:
    names: Mapping[str, str]
    nodes: list[OpNode] = field(default_factory=list[OpNode])
    values: dict[_MlirValue, Value] = field(default_factory=dict[_MlirValue, Value])
    types: dict[ir.Type, str] = field(default_factory=dict[ir.Type, str])
    stack: list[_Frame] = field(default_factory=list[_Frame])
    early: list[tuple[OpNode, list[_MlirValue]]] = field(
        default_factory=list[tuple[OpNode, list[_MlirValue]]]
    )
    """Ops with operands from a block that the text has further down."""


def read_ops(function: ir.Operation, names: Mapping[str, str] = _NO_NAMES) -> tuple[OpNode, ...]:
    """Returns the nodes of a function's body, outer before inner, in text order.

    Args:
        function: A verified `func.func`; its module must be held by the caller.
        names: Symbols of its module to nodes of the function graph, where they differ.
    """
    reader = _Reader(names)
    _enter(reader, function, -1, "")
    while reader.stack:
        frame = reader.stack[-1]
        operation = next(frame.operations, None)
        if operation is None:
            reader.stack.pop()
            continue
        number = frame.next_number
        frame.next_number += 1
        _read(reader, operation, frame, number)
    for node, used in reader.early:
        node.operands = tuple([reader.values.get(value, NO_VALUE) for value in used])
    _count_ops(reader.nodes)
    _name_reducers(reader.nodes)
    return tuple(reader.nodes)


def _enter(reader: _Reader, operation: ir.Operation, holder: int, path: str) -> None:
    frames: list[_Frame] = []
    for region_number, region in enumerate(operation.regions):
        for block_number, block in enumerate(region.blocks):
            key = (holder, region_number, block_number)
            start = block_path(path, region_number, block_number)
            operations = (view.operation for view in block.operations)
            frames.append(_Frame(key, start, operations))
            # Arguments of all blocks come first: ops of one block use those of another.
            _read_arguments(reader, block, key, start)
    reader.stack.extend(reversed(frames))


def _read_arguments(reader: _Reader, block: ir.Block, key: BlockKey, path: str) -> None:
    for number, argument in enumerate(block.arguments):
        reader.values[argument] = (len(reader.nodes), 0)
        reader.nodes.append(
            OpNode(
                f"{path}#{number}",
                "argument",
                "",
                "other",
                key,
                types=(_type(reader, argument.type),),
                place=place(argument.location),
            )
        )


def _read(reader: _Reader, operation: ir.Operation, frame: _Frame, number: int) -> None:
    name, location, values = operation.name, operation.location, reader.values
    used = list(operation.operands)
    operands = tuple([values.get(value, NO_VALUE) for value in used])
    results = operation.results
    index = len(reader.nodes)
    node = OpNode(
        f"{frame.path}{number}",
        "op",
        name,
        op_kind(name),
        frame.key,
        operands,
        tuple([_type(reader, result.type) for result in results]),
        scope=scope(location),
        place=place(location),
    )
    reader.nodes.append(node)
    if NO_VALUE in operands:
        reader.early.append((node, used))
    for result_number, result in enumerate(results):
        values[result] = (index, result_number)
    if name in CONSTANTS:
        node.detail = constant_text(operation)
    elif name in _SYMBOLS:
        _read_symbol(node, operation, reader.names)
    elif name == _COMPARE:
        node.detail = _word(str(operation.attributes["comparison_direction"]))
    if name.endswith((".return", ".yield")) or (not operands and not results and _ends(operation)):
        node.kind = "return"
    if len(operation.regions):
        _enter(reader, operation, index, node.id)


def _ends(operation: ir.Operation) -> bool:
    """Whether it is a terminator without operands, such as an empty return of other dialects."""
    return bool(len(operation.successors)) or operation.name.endswith("terminator")


def _read_symbol(node: OpNode, operation: ir.Operation, names: Mapping[str, str]) -> None:
    value = operation.attributes[_SYMBOLS[node.name]]
    # The binding raises for a name that is not UTF-8.
    with suppress(RuntimeError, UnicodeDecodeError, AttributeError):
        node.symbol = value.value  # pyright: ignore[reportAttributeAccessIssue]  # by the op's rule
        if node.name in _CUSTOM_CALLS:
            node.callee = f"call_target:{node.symbol}"
        else:
            node.callee = names.get(node.symbol, node.symbol)


def _type(reader: _Reader, type_: ir.Type) -> str:
    text = reader.types.get(type_)
    if text is None:
        text = reader.types[type_] = type_text(type_)
    return text


def _word(attribute: str) -> str:
    """`LT` of `#stablehlo<comparison_direction LT>`."""
    return attribute.rstrip(">").rpartition(" ")[2]


def _count_ops(nodes: list[OpNode]) -> None:
    """From the last to the first, so that inner counts are there before outer ones."""
    for node in reversed(nodes):
        holder = node.block[0]
        if holder >= 0 and node.kind != "argument":
            nodes[holder].op_count += node.op_count + 1


def _name_reducers(nodes: list[OpNode]) -> None:
    """Tells a reduction whose body is one op by that op: `reduce add`."""
    inside: dict[int, list[OpNode]] = {}
    for node in nodes:
        if node.block[0] >= 0 and len(inside.setdefault(node.block[0], [])) <= _ONE_OP_BODY:
            inside[node.block[0]].append(node)
    for number, body in inside.items():
        holder = nodes[number]
        ops = [node for node in body if node.kind == "op"]
        is_one = len(body) == _ONE_OP_BODY and len(ops) == 1 and not ops[0].op_count
        if is_one and holder.does in ("reduce", "data movement") and not holder.detail:
            holder.detail = ops[0].short_name
