"""Declarations that mean a registered custom call."""

import jax
import numpy as np
import pytest
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.errors import PreflightError
from kernel_magics.ir.targets import TargetForm, resolve_targets_with

X = np.array([1, 2, 3], "f4")
# XLA's own target, which gives back what it takes.
DECLARED = "func.func private @Sharding(tensor<3xf32>) -> tensor<3xf32>\n"
CALL = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @Sharding(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.add %0, %x : tensor<3xf32>
  return %1 : tensor<3xf32>
}"""
COMPOSITE = CALL.replace(
    "call @Sharding(%x) :", 'stablehlo.composite "my.block" %x {decomposition = @Sharding} :'
)


class OneTarget:
    def form(self, target):
        return TargetForm(api_version=1) if target == "Sharding" else None


@pytest.fixture
def registered():
    before = resolve_targets_with(OneTarget())
    yield
    resolve_targets_with(before)


@pytest.fixture
def parsed():
    from kernel_magics.ir.context import new_context

    return lambda text: ir.Module.parse(text, new_context())


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("text", [CALL, COMPOSITE, CALL + CALL.replace("@main", "@copy")])
def test_call_turns_into_a_custom_call(session, parsed, text):
    report = session.define(DECLARED + text, name="a")
    module = session.module_text()
    assert parsed(module).operation.verify()
    assert "stablehlo.custom_call @Sharding(%" in module
    assert ": (tensor<3xf32>) -> tensor<3xf32>" in module
    assert "call @Sharding(" not in module.replace("custom_call @Sharding(", "")
    assert "Sharding" not in report.bound
    np.testing.assert_array_equal(session.functions["a"](X)[0], 2 * X)
    assert [n.kind for n in session.graph().nodes if n.author_name == "Sharding"][-1:] == [
        "custom_call"
    ]


@pytest.mark.usefixtures("registered")
def test_hlo_call_asks_the_registry_too():
    np.testing.assert_array_equal(km.hlo_call(DECLARED + CALL, X)[0], 2 * X)
    text = jax.jit(lambda x: km.hlo_call(DECLARED + COMPOSITE, x)).lower(X).as_text()
    assert "custom_call @Sharding(" in text


@pytest.mark.usefixtures("registered")
def test_functions_go_first(session):
    session.define(DECLARED + CALL, name="before")
    body = "func.func @Sharding(%x: tensor<3xf32>) -> tensor<3xf32> { %0 = stablehlo.negate %x : tensor<3xf32>\n return %0 : tensor<3xf32> }"
    session.define(body, name="mine")
    session.define(DECLARED + CALL.replace("@main", "@other"), name="app")
    np.testing.assert_array_equal(session.functions["app"](X)[0], 0 * X)
    np.testing.assert_array_equal(session.functions["before"](X)[0], 2 * X)
    np.testing.assert_array_equal(km.hlo_call(body + CALL, X)[0], 0 * X)


def test_a_declaration_of_nothing_is_refused_as_before():
    with pytest.raises(PreflightError, match="`@Sharding` is declared without a body"):
        km.hlo_call(DECLARED + CALL.replace("add", "subtract"), X)
