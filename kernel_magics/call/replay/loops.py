"""Loops: what does not change stays outside; those with a known end are scans."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from jax import lax

from kernel_magics.call.replay.bodies import is_argument, maker, returned
from kernel_magics.call.replay.control import single
from kernel_magics.call.replay.operation import Op, Run
from kernel_magics.call.replay.rows import Rows, find_rows
from kernel_magics.ir.loops import WHILE, Counter, find_counter


def _while(op: Op) -> Run:
    body_block = op.operation.regions[1].blocks[0]
    values = returned(body_block)
    carried = [i for i, v in enumerate(values) if not is_argument(v, body_block, i)]
    counter = _counter(op)
    count = None if counter is None else counter.trip_count
    if counter is None or count is None:
        return single(partial(_loop, carried), len(op.results))
    if count == 0:
        return single(_nothing, len(op.results))
    rows = find_rows(op, counter, count)
    rows = rows or Rows(op.regions[1], (), (), 0, count)
    return single(partial(_counted, carried, rows), len(op.results))


def _loop(carried: list[int], regions: Any, *operands: Any) -> list[Any]:
    """A loop whose end is known at run time."""
    condition, body = regions

    def step(state: Sequence[Any]) -> tuple[Any, ...]:
        after = body(*_with(operands, carried, state))
        return tuple(after[i] for i in carried)

    def goes_on(state: Sequence[Any]) -> Any:
        return condition(*_with(operands, carried, state))[0]

    end = lax.while_loop(goes_on, step, tuple(operands[i] for i in carried))
    return _with(operands, carried, end)


def _counted(carried: list[int], rows: Rows, regions: Any, *operands: Any) -> list[Any]:
    """A loop whose end is known: a scan, over the rows that it reads."""
    kept = [i for i in carried if i not in rows.writes]

    def step(state: Sequence[Any], read: Any) -> Any:
        captured = [*regions[1].captured, *rows.as_taken(read)]
        after = rows.block(_with(operands, kept, state), captured)
        return tuple(after[i] for i in kept), tuple(after[i] for i in rows.writes)

    start = tuple(operands[i] for i in kept)
    end, written = lax.scan(step, start, rows.read(operands), length=rows.count)
    results = _with(operands, kept, end)
    for i, value in zip(rows.writes, written, strict=True):
        results[i] = rows.written(operands[i], value)
    return results


def _nothing(_: Any, *operands: Any) -> tuple[Any, ...]:
    return operands


def _with(values: Sequence[Any], places: Sequence[int], state: Sequence[Any]) -> list[Any]:
    """Values with others at some places."""
    changed = list(values)
    for place, value in zip(places, state, strict=True):
        changed[place] = value
    return changed


def _counter(op: Op) -> Counter | None:
    """What counts a loop, where its condition is a comparison alone."""
    if op.name != WHILE:
        return None
    made = maker(returned(op.operation.regions[0].blocks[0])[0])
    return find_counter(op.operation) if made and made.name == "stablehlo.compare" else None


def _scan(op: Op) -> Run:
    """CHLO's scan: rows in, rows and final values out."""
    dimension, is_reverse = (
        op.number("scan_dimension", op.number("dimension")),
        op.flag("is_reverse"),
    )
    inputs, outputs = (int(n) for n in op.ints("operandSegmentSizes")[:1] + _outputs(op))

    def scan(regions: Any, *args: Any) -> Any:
        body = regions[0]
        rows = tuple(_moved(x, dimension, 0) for x in args[:inputs])

        def step(carry: Any, row: Any) -> Any:
            made = body(*row, *carry)
            return tuple(made[outputs:]), tuple(made[:outputs])

        end, stacked = lax.scan(step, tuple(args[inputs:]), rows, reverse=is_reverse)
        return [*(_moved(y, 0, dimension) for y in stacked), *end]

    return single(scan, len(op.results))


def _outputs(op: Op) -> tuple[int, ...]:
    return op.ints("resultSegmentSizes", (len(op.results),))[:1]


def _moved(x: Any, source: int, target: int) -> Any:
    order = [d for d in range(x.ndim) if d != source]
    order.insert(target, source)
    return lax.transpose(x, order) if source != target else x


LOOPS: dict[str, Callable[[Op], Run]] = {"scan": _scan, "while": _while}
