"""CHLO: special functions, and elementwise ops that broadcast their operands."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.custom_derivatives import SymbolicZero

from kernel_magics.call.replay.blocks import Kind
from kernel_magics.call.replay.constants import read_elements
from kernel_magics.call.replay.elementwise import ELEMENTWISE, plain
from kernel_magics.call.replay.operation import Blocked, Op, Run, Unary
from kernel_magics.call.replay.shapes import fill
from kernel_magics.errors import PreflightError


def _is_infinite(signs: Sequence[float]) -> Run:
    def is_infinite(x: Any) -> jax.Array:
        found = [lax.eq(x, lax.full_like(x, sign * np.inf)) for sign in signs]
        return found[0] if len(found) == 1 else lax.bitwise_or(*found)

    return is_infinite


def _constant(op: Op) -> Run:
    return fill(read_elements(op.operation, op.callees.resource), op.results[0])


def _constant_like(op: Op) -> Unary:
    text = str(op.operation.attributes["value"]).split(" : ")[0]
    value = {"true": True, "false": False}.get(text)
    if value is None and "0x" in text:
        raise Blocked("the bits of its value are not read")
    number = np.array(float(text) if value is None else value).astype(op.results[0].known)
    made = fill(number, op.results[0])
    return lambda _: made()


def _top_k(op: Op) -> Run:
    if op.operands[0].of("c"):
        raise Blocked("there is no one order of complex numbers that JAX and XLA share")
    k, is_boolean = op.number("k"), op.operands[0].of("b")

    def top_k(x: Any) -> Any:
        values, places = lax.top_k(lax.convert_element_type(x, np.uint8) if is_boolean else x, k)
        return lax.ne(values, lax.full_like(values, 0)) if is_boolean else values, places

    return top_k


def _broadcast(name: str) -> Callable[[Op], Run]:
    """The rule of an op that broadcasts its operands first, as NumPy does unless told else."""

    def rule(op: Op) -> Run:
        shape = op.results[0].shape
        kinds = tuple(Kind(kind.text, shape, kind.dtype) for kind in op.operands)
        inner = ELEMENTWISE.get(name) or CHLO[name]
        run = inner(Op(op.operation, kinds, op.results, op.callees))
        mapping = op.ints("broadcast_dimensions")
        ranks = [kind.rank for kind in op.operands]

        def broadcast(*args: Any) -> Any:
            spread: list[Any] = []
            for value, rank in zip(args, ranks, strict=True):
                dims = tuple(range(len(shape) - rank, len(shape)))
                if mapping and rank == len(mapping):
                    dims = mapping
                spread.append(lax.broadcast_in_dim(value, shape, dims))
            return run(*spread)

        return broadcast

    return rule


def _lgamma(x: Any) -> jax.Array:
    # XLA takes what is smaller than all normal numbers for zero; not every JAX does.
    tiny = lax.full_like(x, jnp.finfo(x.dtype).tiny)
    is_zero = lax.lt(lax.abs(x), tiny)
    return lax.lgamma(lax.select(is_zero, lax.full_like(x, 0), x))


@jax.custom_jvp
def _zeta(order: Any, x: Any) -> jax.Array:
    """Hurwitz' zeta function, with the derivative that JAX does not have."""
    return lax.zeta(order, x)


def _zeta_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    order, x = primals
    if type(tangents[0]) is not SymbolicZero:
        raise PreflightError(
            "The derivative of `chlo.zeta` in its first argument has no form in JAX",
            advice="Give the function a derivative of its own with `with_jvp` or `with_vjp`.",
        )
    value = _zeta(order, x)
    if type(tangents[1]) is SymbolicZero:
        return value, jnp.zeros_like(value)
    # DLMF 25.11.17.
    slope = lax.neg(lax.mul(order, _zeta(lax.add(order, lax.full_like(order, 1)), x)))
    return value, lax.mul(slope, tangents[1])


_zeta.defjvp(_zeta_jvp, symbolic_zeros=True)


def _conj(x: Any) -> Any:
    return lax.conj(x) if np.issubdtype(x.dtype, np.complexfloating) else x


_BROADCAST = ("add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum",
              "multiply", "next_after", "or", "polygamma", "power", "remainder", "select",
              "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor",
              "zeta")  # fmt: skip

CHLO: dict[str, Callable[[Op], Run]] = {
    "acos": plain(lax.acos, "fc"),
    "acosh": plain(lax.acosh, "fc"),
    "asin": plain(lax.asin, "fc"),
    "asinh": plain(lax.asinh, "fc"),
    "atan": plain(lax.atan, "fc"),
    "atanh": plain(lax.atanh, "fc"),
    "bessel_i1e": plain(lax.bessel_i1e, "f"),
    "conj": plain(_conj),
    "constant": _constant,
    "constant_like": _constant_like,
    "cosh": plain(lax.cosh, "fc"),
    "digamma": plain(lax.digamma, "f"),
    "erf": plain(lax.erf, "f"),
    "erf_inv": plain(lax.erf_inv, "f"),
    "erfc": plain(lax.erfc, "f"),
    "is_inf": plain(_is_infinite((1, -1)), "f"),
    "is_neg_inf": plain(_is_infinite((-1,)), "f"),
    "is_pos_inf": plain(_is_infinite((1,)), "f"),
    "lgamma": plain(_lgamma, "f"),
    "mulhi": plain(lax.mulhi, "iu"),
    "polygamma": plain(lax.polygamma, "f"),
    "sinh": plain(lax.sinh, "fc"),
    "square": plain(lax.square, "iufc"),
    "top_k": _top_k,
    "topk": _top_k,
    "zeta": plain(_zeta, "f"),
    **{f"broadcast_{name}": _broadcast(name) for name in _BROADCAST},
}
