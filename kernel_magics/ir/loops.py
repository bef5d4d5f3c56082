"""Loops that count: those whose end can be seen, and how often they run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from jax.extend.mlir import ir

from kernel_magics.ir.symbols import SymbolIndex

WHILE = "stablehlo.while"

Value = ir.Value[Any]

_UPWARD = ("LT", "LE")
_DOWNWARD = ("GT", "GE")


@dataclass(frozen=True, slots=True)
class Counter:
    """The value that ends a `stablehlo.while`: it moves by a fixed step towards a fixed limit."""

    position: int
    """Which of the loop's values it is, from 0."""
    start: int | None
    """None where it is not a constant."""
    limit: int | None
    """None where it is not a constant; it does not change in the loop."""
    step: int
    """Above 0 for `LT` and `LE`, below for `GT` and `GE`."""
    direction: str
    """The comparison that holds as long as the loop goes on."""

    @property
    def trip_count(self) -> int | None:
        """How often the body runs; None where start or limit is known only at run time."""
        if self.start is None or self.limit is None:
            return None
        distance = self.limit - self.start
        if self.direction in ("LE", "GE"):
            distance += 1 if self.step > 0 else -1
        return max(0, -(-distance // self.step))


def find_counter(loop: ir.Operation) -> Counter | None:
    """The counter of a `stablehlo.while`; None where its end is not evident.

    A loop counts when its condition is a comparison, or the `and` of one with anything, of a
    loop value that the body moves by a constant, with a limit that the body leaves alone.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    returned = list(body.operations)[-1].operation.operands
    pending = [list(condition.operations)[-1].operation.operands[0]]
    while pending:
        made = _maker(pending.pop())
        if made is None:
            continue
        if made.name == "stablehlo.and":
            pending += list(made.operands)
        elif made.name == "stablehlo.compare":
            counter = _counter(made, loop, condition, body, returned)
            if counter is not None:
                return counter
    return None


def loops_without_evident_end(index: SymbolIndex, entry: str) -> Iterator[ir.Operation]:
    """The `stablehlo.while` ops that an entry may reach and that nothing shows to end."""
    names = index.reachable([entry])
    for op in index.ops:
        if op.name in names and WHILE in op.op_kinds:
            found: list[ir.Operation] = []

            def visit(inner: ir.Operation, found: list[ir.Operation] = found) -> ir.WalkResult:
                if inner.name == WHILE and find_counter(inner) is None:
                    found.append(inner)
                return ir.WalkResult.ADVANCE

            op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
            yield from found


def _counter(
    compare: ir.Operation, loop: ir.Operation, condition: ir.Block, body: ir.Block, returned: Any
) -> Counter | None:
    direction = _direction(compare)
    left, right = compare.operands
    position = _argument(left, condition)
    if position is None:
        left, right, direction = right, left, _swapped(direction)
        position = _argument(left, condition)
    if position is None or not _is_fixed(right, condition, body, returned):
        return None
    step = _step(returned[position], position, body)
    upward = direction in _UPWARD
    if step is None or direction not in _UPWARD + _DOWNWARD or (step > 0) != upward or step == 0:
        return None
    limit = _constant(_outside(right, loop, condition))
    if not _stays_in_range(limit, step, direction, left.type):
        return None
    return Counter(position, _constant(loop.operands[position]), limit, step, direction)


def _stays_in_range(limit: int | None, step: int, direction: str, kind: ir.Type) -> bool:
    """Whether a counter reaches its limit before it wraps round."""
    if limit is None:
        return abs(step) == 1 and direction in ("LT", "GT")
    element = ir.RankedTensorType(kind).element_type
    if not isinstance(element, ir.IntegerType):
        return False
    bits = element.width - (not element.is_unsigned)
    least, most = (0 if element.is_unsigned else -(1 << bits)), (1 << bits) - 1
    last = limit + step if direction in ("LE", "GE") else limit + step - (1 if step > 0 else -1)
    return least <= last <= most


def _step(value: Value, position: int, body: ir.Block) -> int | None:
    """By how much a body moves a loop value; None where that is no constant."""
    made = _maker(value)
    if made is None or made.name not in ("stablehlo.add", "stablehlo.subtract"):
        return None
    left, right = made.operands
    if _argument(left, body) == position:
        step = _constant(right)
    elif made.name == "stablehlo.add" and _argument(right, body) == position:
        step = _constant(left)
    else:
        return None
    return -step if step is not None and made.name == "stablehlo.subtract" else step


def _is_fixed(value: Value, condition: ir.Block, body: ir.Block, returned: Any) -> bool:
    """Whether a value of the condition is the same each time round."""
    position = _argument(value, condition)
    if position is not None:
        return _argument(returned[position], body) == position
    made = _maker(value)
    if made is None:
        # The argument of a block round the loop.
        return True
    return made.name == "stablehlo.constant" or made.block not in (condition, body)


def _outside(value: Value, loop: ir.Operation, condition: ir.Block) -> Value:
    position = _argument(value, condition)
    return value if position is None else loop.operands[position]


def _argument(value: Value, block: ir.Block) -> int | None:
    if not isinstance(value, ir.BlockArgument):
        return None
    return value.arg_number if value.owner == block else None


def _maker(value: Value) -> ir.Operation | None:
    return cast("ir.Operation", value.owner) if isinstance(value, ir.OpResult) else None


def _constant(value: Value) -> int | None:
    """The one integer that a value is."""
    made = _maker(value)
    if made is None or made.name != "stablehlo.constant":
        return None
    elements = made.attributes["value"]
    if not isinstance(elements, ir.DenseIntElementsAttr) or len(elements) != 1:
        return None
    return int(elements[0])


def _direction(compare: ir.Operation) -> str:
    # `#stablehlo<comparison_direction LT>`
    return str(compare.attributes["comparison_direction"]).rstrip(">").rpartition(" ")[2]


def _swapped(direction: str) -> str:
    return {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}.get(direction, direction)
