"""Units bound to units bound to units: long chains, and layers with many ways down."""

import numpy as np
import pytest

from kernel_magics.errors import PreflightError

X = np.arange(3, dtype=np.float32)
KIND = "(tensor<3xf32>) -> tensor<3xf32>"


def leaf(op: str, name: str = "leaf", kind: str = "tensor<3xf32>") -> str:
    return f"""func.func @{name}(%x: {kind}) -> {kind} {{
  %0 = call @{name}_helper(%x) : ({kind}) -> {kind}
  return %0 : {kind}
}}
func.func private @{name}_helper(%x: {kind}) -> {kind} {{
  %0 = stablehlo.{op} %x, %x : {kind}
  return %0 : {kind}
}}"""


def value(session, name):
    return np.asarray(session.functions[name](X)[0])


def once(of: str, *names: str) -> str:
    """Functions that call another one each."""
    functions = [
        f"func.func @{name}(%x: tensor<3xf32>) -> tensor<3xf32> {{\n"
        f"  %0 = call @{of}(%x) : {KIND}\n  return %0 : tensor<3xf32>\n}}"
        for name in names
    ]
    return "\n".join([f"func.func private @{of}{KIND}", *functions])


def test_a_chain_of_units_too_long_for_xla_is_refused(session):
    session.define(leaf("add", "f0"), name="unit0")
    for i in range(1, 140):
        session.define(once(f"f{i - 1}", f"f{i}"), name=f"unit{i}")
    np.testing.assert_array_equal(value(session, "f60"), 2 * X)
    with pytest.raises(PreflightError, match="calls are nested"):
        value(session, "f139")


def test_units_in_layers_are_resolved_in_no_time(session):
    # Each unit uses the one below by two functions: 2 ** 60 ways down, 60 units.
    session.define(leaf("add", "f0"), name="unit0")
    for i in range(1, 60):
        session.define(once(f"f{i - 1}", f"f{i}", f"g{i}"), name=f"unit{i}")
    np.testing.assert_array_equal(value(session, "g40"), 2 * X)
