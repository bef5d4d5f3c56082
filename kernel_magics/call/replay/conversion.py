"""Ops that change the type of elements or their bits."""

from collections.abc import Callable
from typing import Any

from jax import lax

from kernel_magics.call.replay.bits import bits_of_floats
from kernel_magics.call.replay.operation import Blocked, Op, Run, Unary


def _convert(op: Op) -> Unary:
    wanted = op.results[0].known
    if op.operands[0].of("c") and not op.results[0].of("c"):
        # Also of a truth value: XLA looks at the real part alone.
        return lambda x: lax.convert_element_type(lax.real(x), wanted)
    return lambda x: lax.convert_element_type(x, wanted)


def _bitcast_convert(op: Op) -> Unary:
    if op.operands[0].dtype == op.results[0].dtype:
        return lambda x: x
    if op.operands[0].of("bc") or op.results[0].of("bc"):
        raise Blocked("JAX casts the bits of integers and floats only")
    if op.operands[0].of("f") and op.results[0].of("iu"):
        return bits_of_floats(op)
    wanted = op.results[0].known
    return lambda x: lax.bitcast_convert_type(x, wanted)


def _reduce_precision(op: Op) -> Run:
    exponent_bits, mantissa_bits = op.number("exponent_bits"), op.number("mantissa_bits")

    def reduce_precision(x: Any) -> Any:
        return lax.reduce_precision(x, exponent_bits, mantissa_bits)

    return reduce_precision


CONVERSION: dict[str, Callable[[Op], Run]] = {
    "bitcast_convert": _bitcast_convert,
    "convert": _convert,
    "reduce_precision": _reduce_precision,
}
