"""Loops that read and write arrays row by row: what JAX's `scan` becomes as StableHLO.

Written as a scan again, such a loop is differentiated row by row; as a loop with whole arrays
each step would add a whole array of zeros but for one row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.mlir import ir

from kernel_magics.call.replay.blocks import Block, Kind
from kernel_magics.call.replay.bodies import bare_name, is_argument, maker, returned
from kernel_magics.call.replay.operation import Callees, Op, constant_of
from kernel_magics.ir.loops import Counter

_READ = (0, 1)
"""Array and index."""
_WRITTEN = (0, 1, 2)
"""Array, row and index."""
_RESHAPES = ("reshape", "broadcast_in_dim")


@dataclass(frozen=True, slots=True)
class Rows:
    """The body of a loop without its reading and writing of rows."""

    block: Block
    """Its last captured values are the rows that are read; it returns rows where it wrote."""
    reads: tuple[tuple[int, Kind], ...]
    """Which of the loop's values is read, and the type of a row as the body takes it."""
    writes: tuple[int, ...]
    """Which of the loop's values are written."""
    first: int
    count: int

    def read(self, values: Sequence[Any]) -> tuple[jax.Array, ...]:
        """The arrays that are scanned over."""
        return tuple(
            lax.slice_in_dim(values[position], self.first, self.first + self.count)
            for position, _ in self.reads
        )

    def as_taken(self, rows: Sequence[Any]) -> list[jax.Array]:
        """Rows in the shapes in which the body takes them."""
        return [
            lax.reshape(row, kind.shape) for row, (_, kind) in zip(rows, self.reads, strict=True)
        ]

    def written(self, before: Any, rows: Any) -> jax.Array:
        """An array after the loop wrote rows into it."""
        rows = lax.reshape(rows, (self.count, *before.shape[1:]))
        if self.count == before.shape[0]:
            return rows
        return lax.dynamic_update_slice_in_dim(before, rows, np.int32(self.first), 0)


def find_rows(op: Op, counter: Counter, count: int) -> Rows | None:
    """The rows that a counted loop reads and writes; None where it does neither."""
    if counter.step != 1 or counter.start is None or counter.start < 0:
        return None
    finder = _Finder(op, op.operation.regions[1].blocks[0], counter.position)
    values = returned(finder.block)
    last = counter.start + count
    reads: dict[int, tuple[int, Kind]] = {}
    writes: dict[int, tuple[int, int]] = {}
    for position, kind in enumerate(op.results):
        if not kind.rank or kind.shape[0] < last or position == counter.position:
            continue
        if is_argument(values[position], finder.block, position):
            for place in finder.reads(position):
                reads[place] = (position, op.regions[1].step(place).kinds[0])
        else:
            found = finder.write(position, values[position])
            if found is not None:
                writes[position] = found
    if not reads and not writes:
        return None
    block = _without(op.regions[1], list(reads), writes)
    return Rows(block, tuple(reads.values()), tuple(writes), counter.start, count)


def _without(block: Block, reads: list[int], writes: dict[int, tuple[int, int]]) -> Block:
    """A block without some steps: what they read is captured, what they write is returned."""
    steps = block.steps()
    dropped = {*reads, *(place for place, _ in writes.values())}
    kept = {id(steps[place]) for place in range(len(steps)) if place not in dropped}
    results = list(block.returned)
    for position, (place, operand) in writes.items():
        results[position] = steps[place].operands[operand]
    return replace(
        block,
        groups=[(scope, [s for s in group if id(s) in kept]) for scope, group in block.groups],
        captured=(*block.captured, *(steps[place].results[0] for place in reads)),
        returned=tuple(results),
    )


@dataclass(frozen=True, slots=True)
class _Finder:
    """Looks for rows in the body of one loop."""

    op: Op
    block: ir.Block
    counter: int

    def reads(self, position: int) -> list[int]:
        """Places of the ops that read rows of a value; none where it is used otherwise too."""
        found: list[int] = []
        for use in self.block.arguments[position].uses:
            operation: ir.Operation = use.owner.operation
            if operation.block == self.block and bare_name(operation) == "return":
                continue
            if operation.block != self.block or not self._is_read(operation, position):
                return []
            found.append(self._place(operation))
        return found

    def write(self, position: int, value: Any) -> tuple[int, int] | None:
        """Place of the op that writes a row of a value, and which operand of it is the row.

        None where the array is read or used in any other way.
        """
        made = maker(value)
        uses = [len(list(each.uses)) for each in (value, self.block.arguments[position])]
        if made is None or made.block != self.block or uses != [1, 1]:
            return None
        return (self._place(made), 1) if self._is_write(made, position) else None

    def _place(self, operation: ir.Operation) -> int:
        operations = [view.operation for view in self.block.operations]
        return operations.index(operation)

    def _is_read(self, operation: ir.Operation, position: int) -> bool:
        operands = list(operation.operands)
        if not (self._is_at(operands, 0, position) and self._is_at(operands, 1, self.counter)):
            return False
        body = _called(operation, self.op.callees)
        if body is None:
            return _is_row_slice(operation, self.op.callees)
        made = maker(_unreshaped(returned(body)[0]))
        return (
            len(operands) == len(_READ)
            and made is not None
            and _is_row_slice(made, self.op.callees)
            and all(is_argument(made.operands[i], body, i) for i in _READ)
        )

    def _is_write(self, operation: ir.Operation, position: int) -> bool:
        operands = list(operation.operands)
        if not (self._is_at(operands, 0, position) and self._is_at(operands, 2, self.counter)):
            return False
        body = _called(operation, self.op.callees)
        if body is None:
            return _is_row_update(operation, self.op.callees)
        made = maker(returned(body)[0])
        return (
            len(operands) == len(_WRITTEN)
            and made is not None
            and _is_row_update(made, self.op.callees)
            and all(is_argument(_unreshaped(made.operands[i]), body, i) for i in _WRITTEN)
        )

    def _is_at(self, operands: list[Any], place: int, position: int) -> bool:
        return place < len(operands) and is_argument(operands[place], self.block, position)


def _called(operation: ir.Operation, callees: Callees) -> ir.Block | None:
    """The body of the function that an op calls."""
    if operation.name != "func.call":
        return None
    attribute = operation.attributes["callee"]
    assert isinstance(attribute, ir.FlatSymbolRefAttr)
    return callees.body(attribute.value)


def _is_row_slice(operation: ir.Operation, callees: Callees) -> bool:
    """Whether an op takes one row at an index, from the beginning of all other dimensions."""
    if bare_name(operation) != "dynamic_slice":
        return False
    shape = _shape(operation.operands[0])
    return _shape(operation.results[0]) == [1, *shape[1:]] and _are_zero(operation, 2, callees)


def _is_row_update(operation: ir.Operation, callees: Callees) -> bool:
    if bare_name(operation) != "dynamic_update_slice":
        return False
    shape = _shape(operation.operands[0])
    return _shape(operation.operands[1]) == [1, *shape[1:]] and _are_zero(operation, 3, callees)


def _are_zero(operation: ir.Operation, first: int, callees: Callees) -> bool:
    found = [constant_of(value, callees) for value in list(operation.operands)[first:]]
    return all(elements is not None and not elements.any() for elements in found)


def _unreshaped(value: Any) -> Any:
    """What a value is, but for its dimensions of size one."""
    made = maker(value)
    while made is not None and bare_name(made) in _RESHAPES:
        source = made.operands[0]
        if [n for n in _shape(source) if n != 1] != [n for n in _shape(value) if n != 1]:
            return value
        if bare_name(made) != "reshape" and not _rises(made):
            return value
        value, made = source, maker(source)
    return value


def _rises(operation: ir.Operation) -> bool:
    """Whether a broadcast keeps the order of the dimensions."""
    attribute: Any = operation.attributes["broadcast_dimensions"]
    dimensions = [int(n) for n in attribute]
    return dimensions == sorted(dimensions)


def _shape(value: Any) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)
