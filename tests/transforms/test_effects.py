"""A call that does more than give results stays where none is used; any other goes."""

import jax
import numpy as np
import pytest
from jax import lax

import kernel_magics as km
from kernel_magics.call.program import Binding, Program, read_program
from kernel_magics.call.transforms_effects import has_side_effect
from kernel_magics.ir.source import Source

X = np.ones(3, np.float32)

TARGET = "xla_ffi_python_cpu_callback"
"""Registered by JAX; lowered here, and never run."""


def text_of(flag):
    return f"""
    func.func private @inner(%x: tensor<3xf32>) -> tensor<3xf32> {{
      %0 = stablehlo.custom_call @{TARGET}(%x) {{api_version = 4 : i32, has_side_effect = {flag}}} : (tensor<3xf32>) -> tensor<3xf32>
      return %x : tensor<3xf32>
    }}
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
      %0 = call @inner(%x) : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }}
    func.func @other(%x: tensor<3xf32>) -> tensor<3xf32> {{
      return %x : tensor<3xf32>
    }}"""


EFFECT, PLAIN = text_of("true"), text_of("false")


@pytest.mark.parametrize(("text", "count"), [(EFFECT, 1), (PLAIN, 0)])
def test_unused_calls_stay_when_they_do_something(text, count):
    def unused(x):
        km.hlo_call(text, x)
        return x

    assert jax.jit(unused).lower(X).as_text().count(f"@{TARGET}") == count
    exported = jax.export.export(
        jax.jit(unused),
        disabled_checks=[jax.export.DisabledSafetyCheck.custom_call(TARGET)],
    )(X)
    assert exported.mlir_module().count(f"@{TARGET}") == count
    eqns = jax.make_jaxpr(unused)(X).effects
    assert len(eqns) == count


def test_calls_in_loops_and_branches_stay():
    def looped(x):
        return lax.fori_loop(0, 3, lambda _, c: (km.hlo_call(EFFECT, c), c + 1)[1], x)

    def chosen(x):
        return lax.cond(x[0] > 0, lambda x: (km.hlo_call(EFFECT, x), x)[1], lambda x: x, x)

    for function in (looped, chosen):
        assert f"@{TARGET}" in jax.jit(function).lower(X).as_text()


def test_a_call_that_does_not_vary_stays_once_under_differentiation():
    def loss(y, x):
        return (km.hlo_call(EFFECT, x)[0] * y).sum()

    text = jax.jit(jax.grad(loss)).lower(X, X).as_text()
    assert text.count(f"@{TARGET}") == 1


def test_effects_are_found_in_all_that_an_entry_uses():
    assert has_side_effect(read_program(Source(EFFECT), "main"))
    assert not has_side_effect(read_program(Source(EFFECT), "other"))
    assert not has_side_effect(read_program(Source(PLAIN), "main"))
    text = """
    func.func private @inner(tensor<3xf32>) -> tensor<3xf32>
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = call @inner(%x) : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    for meaning in (EFFECT, PLAIN):
        bound = Binding("inner", read_program(Source(meaning), "inner"))
        assert has_side_effect(Program(Source(text), "main", (bound,))) == (meaning == EFFECT)
