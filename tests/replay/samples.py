"""One program for each op of StableHLO and CHLO, small, with arguments for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = {
    "float64": "f64", "float32": "f32", "bool": "i1", "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}  # fmt: skip
FORWARD, BOTH = ("fwd",), ("fwd", "rev")


@dataclass(frozen=True)
class Sample:
    """A program, the arguments that it takes, and what is known of its derivatives."""

    text: str
    args: tuple[np.ndarray, ...]
    smooth: tuple[int, ...] = ()
    """The arguments that results depend on smoothly."""
    modes: tuple[str, ...] = BOTH
    order: int = 2
    note: str = ""
    expected: tuple[np.ndarray, ...] | None = None
    """The results, where XLA itself refuses the op."""


def kind(x: Any) -> str:
    """The MLIR type of an array."""
    x = np.asarray(x)
    name = x.dtype.name
    element = NAMES.get(name) or name.replace("uint", "ui").replace("int", "i")
    return f"tensor<{''.join(f'{n}x' for n in x.shape)}{element}>"


def program(op, args, results, attributes="", regions="", functions="", before=""):
    """The text of one op: `%0`, `%1` … are its operands, all arguments of the function."""
    results = [r if isinstance(r, str) else kind(r) for r in results]
    operands = ", ".join(f"%{i}" for i in range(len(args)))
    types = ", ".join(map(kind, args))
    parameters = ", ".join(f"%{i}: {kind(x)}" for i, x in enumerate(args))
    count = len(results)
    names = ", ".join(f"%r#{i}" for i in range(count)) if count > 1 else "%r"
    target = f"%r:{count}" if count > 1 else "%r"
    region = f" ({regions})" if regions else ""
    attribute = f" {{{attributes}}}" if attributes else ""
    made = f"({', '.join(results)})" if count != 1 else results[0]
    return (
        f"{functions}func.func @main({parameters}) -> ({', '.join(results)}) {{\n{before}"
        f'  {target} = "{op}"({operands}){region}{attribute} : ({types}) -> {made}\n'
        f"  return {names} : {', '.join(results)}\n}}"
    )


def body(op, element="f64"):
    """A region of two scalars that is one op."""
    t = f"tensor<{element}>"
    return f"""{{ ^bb0(%a: {t}, %b: {t}):
      %c = "{op}"(%a, %b) : ({t}, {t}) -> {t}
      stablehlo.return %c : {t} }}"""


def positive(*shape, seed=0):
    """Numbers between 0.2 and 0.9, where all functions of one float are smooth."""
    return np.random.default_rng(seed).uniform(0.2, 0.9, shape)


def unary(op, make: Callable[..., np.ndarray] = positive, smooth=(0,), **others):
    def sample(shape=(3,)):
        x = make(*shape)
        return Sample(program(op, [x], [x], others.get("attributes", "")), (x,), smooth,
                      note=others.get("note", ""), order=others.get("order", 2))  # fmt: skip

    return sample


def binary(op, make=positive, smooth=(0, 1), other=None, **others):
    def sample(shape=(3,)):
        x = make(*shape)
        y = (other or make)(*shape, seed=1)
        return Sample(program(op, [x, y], [x], others.get("attributes", "")), (x, y), smooth,
                      note=others.get("note", ""), modes=others.get("modes", BOTH))  # fmt: skip

    return sample


def above_one(*shape, seed=0):
    return positive(*shape, seed=seed) + 1


def integers(*shape, seed=0):
    return np.random.default_rng(seed).integers(1, 6, shape).astype(np.int32)


def truths(*shape, seed=0):
    return np.random.default_rng(seed).uniform(size=shape) < 0.5


def complexes(*shape, seed=0):
    return positive(*shape, seed=seed) + 1j * positive(*shape, seed=seed + 7)


def to(dtype, op, make=positive, smooth=(), attributes="", note=""):
    """An op of one operand that gives another type."""

    def sample(shape=(3,)):
        x = make(*shape)
        text = program(op, [x], [np.zeros(shape, dtype)], attributes)
        return Sample(text, (x,), smooth, note=note)

    return sample


def fixed(*args, **others):
    """A sample of one shape."""
    made = Sample(*args, **others)
    return lambda shape=None: made


def dense(values, element="i64"):
    array = np.asarray(values)
    dims = "".join(f"{n}x" for n in array.shape)
    return f"dense<{array.tolist()}> : tensor<{dims}{element}>"


SMOOTH = (
    "abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log",
    "log_plus_one", "logistic", "negate", "round_nearest_afz", "round_nearest_even", "rsqrt",
    "sign", "sine", "sqrt", "tan", "tanh",
)  # fmt: skip
SPECIAL = (
    "acos", "asin", "asinh", "atan", "atanh", "cosh", "digamma", "erf", "erf_inv", "erfc",
    "lgamma", "sinh", "square", "tan",
)  # fmt: skip
PAIRS = (
    "add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "subtract",
)  # fmt: skip
BITS = (
    "and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical",
)  # fmt: skip
DIALECTS = (("stablehlo", ""), ("chlo", "broadcast_"))

M, V, S = positive(3, 4), positive(4, seed=2), np.float64(0.5)
SQUARE = positive(3, 3) + 2 * np.eye(3)
DEFINITE = SQUARE @ SQUARE.T
ELEMENTWISE: dict[str, Callable[..., Sample]] = {
    **{f"stablehlo.{name}": unary(f"stablehlo.{name}") for name in SMOOTH},
    **{f"chlo.{name}": unary(f"chlo.{name}") for name in SPECIAL},
    "chlo.acosh": unary("chlo.acosh", above_one),
    "chlo.bessel_i1e": unary("chlo.bessel_i1e"),
    "chlo.conj": unary("chlo.conj", complexes),
    "stablehlo.not": unary("stablehlo.not", integers, ()),
    "stablehlo.popcnt": unary("stablehlo.popcnt", integers, ()),
    "stablehlo.count_leading_zeros": unary("stablehlo.count_leading_zeros", integers, ()),
    "stablehlo.is_finite": to(bool, "stablehlo.is_finite"),
    "chlo.is_inf": to(bool, "chlo.is_inf"),
    "chlo.is_neg_inf": to(bool, "chlo.is_neg_inf"),
    "chlo.is_pos_inf": to(bool, "chlo.is_pos_inf"),
    "stablehlo.real": to(np.float64, "stablehlo.real", complexes, (0,)),
    "stablehlo.imag": to(np.float64, "stablehlo.imag", complexes, (0,)),
    "stablehlo.convert": to(np.complex128, "stablehlo.convert", positive, (0,)),
    "stablehlo.bitcast_convert": to(
        np.int64,
        "stablehlo.bitcast_convert",
        note="refused where floats are made of the bits again",
    ),
    "stablehlo.reduce_precision": unary(
        "stablehlo.reduce_precision",
        attributes="exponent_bits = 11 : i32, mantissa_bits = 52 : i32",
        note="tangents are rounded as the values are",
    ),
    **{
        f"{dialect}.{prefix}{name}": binary(f"{dialect}.{prefix}{name}")
        for dialect, prefix in DIALECTS
        for name in PAIRS
    },
    **{
        f"{dialect}.{prefix}{name}": binary(f"{dialect}.{prefix}{name}", above_one, other=positive)
        for dialect, prefix in DIALECTS
        for name in ["remainder"]
    },
    **{
        f"{dialect}.{prefix}{name}": binary(f"{dialect}.{prefix}{name}", integers, ())
        for dialect, prefix in DIALECTS
        for name in BITS
    },
    "chlo.mulhi": binary("chlo.mulhi", integers, ()),
    "chlo.next_after": binary("chlo.next_after", smooth=(0,)),
    "chlo.broadcast_next_after": binary("chlo.broadcast_next_after", smooth=(0,)),
    **{
        f"chlo.{prefix}polygamma": binary(
            f"chlo.{prefix}polygamma",
            above_one,
            (1,),
            other=above_one,
            note="in its second argument",
        )
        for prefix in ("", "broadcast_")
    },
    **{
        f"chlo.{prefix}zeta": binary(
            f"chlo.{prefix}zeta",
            lambda *s, seed=0: above_one(*s, seed=seed) + 1,
            (1,),
            other=above_one,
            note="in its second argument",
        )
        for prefix in ("", "broadcast_")
    },
}


def two_to(dtype, op, make, smooth, attributes=""):
    def sample(shape=(3,)):
        x, y = make(*shape), make(*shape, seed=1)
        return Sample(program(op, [x, y], [np.zeros(shape, dtype)], attributes), (x, y), smooth)

    return sample


def select(op):
    def sample(shape=(3,)):
        args = (truths(*shape), positive(*shape), positive(*shape, seed=1))
        return Sample(program(op, args, [args[1]]), args, (1, 2))

    return sample


def clamp(shape=(3,)):
    args = (np.float64(0.25), positive(*shape), np.float64(0.85))
    return Sample(program("stablehlo.clamp", args, [args[1]]), args, (0, 1, 2))


def mapped(shape=(3,)):
    x, y = positive(*shape), positive(*shape, seed=1)
    dims = ", ".join(map(str, range(len(shape))))
    attributes = f"dimensions = array<i64{': ' if dims else ''}{dims}>"
    text = program("stablehlo.map", [x, y], [x], attributes, body("stablehlo.multiply"))
    return Sample(text, (x, y), (0, 1))


LESS = "comparison_direction = #stablehlo<comparison_direction LT>"
ELEMENTWISE |= {
    "stablehlo.compare": two_to(bool, "stablehlo.compare", positive, (), LESS),
    "chlo.broadcast_compare": two_to(
        bool, "chlo.broadcast_compare", positive, (),
        "comparison_direction = #chlo<comparison_direction LT>",
    ),
    "stablehlo.complex": two_to(np.complex128, "stablehlo.complex", positive, (0, 1)),
    "chlo.broadcast_complex": two_to(
        np.complex128, "chlo.broadcast_complex", positive, (0, 1)
    ),
    "stablehlo.select": select("stablehlo.select"),
    "chlo.broadcast_select": select("chlo.broadcast_select"),
    "stablehlo.clamp": clamp,
    "stablehlo.map": mapped,
}  # fmt: skip
"""Ops that take operands of any one shape."""
