"""Programs with ops of other dialects, lowered and run, for the tests of the lowering."""

import numpy as np
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.ir.context import new_context
from kernel_magics.ir.legalize import legalize

MIN, MAX = np.iinfo(np.int32).min, np.iinfo(np.int32).max
INTEGERS = np.array([0, 1, -1, 7, -7, 13, MIN, MAX, 2, -2], np.int32)
DIVISORS = np.array([1, -1, 3, -3, 2, 7, 5, -5, MIN, MAX], np.int32)
FLOATS = np.array([0.0, -0.0, 0.5, -0.5, 2.5, -3.5, np.inf, -np.inf, np.nan, 1e30], np.float32)
OTHERS = FLOATS[::-1].copy()
BITS = np.array([False, False, True, True])
OTHER_BITS = np.array([False, True, False, True])

WORDS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "bool": "i1"}
WORDS |= {f"int{n}": f"i{n}" for n in (8, 16, 32, 64)}


def legalized(text: str) -> str:
    module = ir.Module.parse(text, new_context())
    assert legalize(module)
    assert module.operation.verify()
    return str(module)


def run(text: str, *arguments) -> list[np.ndarray]:
    after = legalized(text)
    # XLA takes constants of scalars as long as nothing reads them.
    foreign = after.replace("arith.constant", "")
    assert not any(f"{dialect}." in foreign for dialect in ("arith", "math", "scf", "tensor")), (
        after
    )
    return [np.asarray(result) for result in km.hlo_call(after, *arguments)]


def left(text: str) -> str:
    """The text of a module in which nothing changes."""
    module = ir.Module.parse(text, new_context())
    before = str(module)
    assert not legalize(module)
    assert str(module) == before
    return before


def kind(value) -> str:
    dims = "".join(f"{size}x" for size in value.shape)
    return f"tensor<{dims}{WORDS[value.dtype.name]}>"


def apply(op: str, *values, attributes: str = "", result=None) -> np.ndarray:
    """Runs one op in generic form on tensors."""
    made = result or kind(values[0])
    names = ", ".join(f"%{number}" for number in range(len(values)))
    types = ", ".join(map(kind, values))
    parameters = ", ".join(f"%{number}: {kind(v)}" for number, v in enumerate(values))
    text = f"""func.func @main({parameters}) -> {made} {{
  %r = "{op}"({names}) {attributes} : ({types}) -> {made}
  return %r : {made}
}}"""
    return run(text, *values)[0]


def same_bits(given, wanted) -> None:
    """Equal, signed zeros told apart; any NaN is a NaN."""
    np.testing.assert_array_equal(given, wanted)
    if given.dtype.kind == "f":
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(given)[numbers], np.signbit(wanted)[numbers])
