"""Another engine behind the same names: IREE runs functions of cells, and is compared."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.errors import PluginError
from kernel_magics.plugin.iree import Iree
from tests.cells import DOUBLE, X, refused, run

pytestmark = pytest.mark.skipif(
    not Iree().is_installed(), reason="the packages of the extra `iree` are not installed"
)

SOFTMAX = """func.func @main(%x: tensor<8x16xf32>, %unused: tensor<i32>) -> (tensor<8x16xf32>, tensor<i1>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %e = stablehlo.exponential %x : tensor<8x16xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
       : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %r = stablehlo.divide %e, %b : tensor<8x16xf32>
  return %r, %true : tensor<8x16xf32>, tensor<i1>
}"""
CUSTOM = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""


@pytest.fixture
def plugins(kernel_plugins):
    return kernel_plugins


def test_it_is_a_row_of_the_table(plugins):
    row = plugins.discover()["iree"]
    assert (row.state, row.source) == ("found", "package iree-base-compiler")
    assert plugins.load("iree").state == "loaded"
    assert plugins.forget("iree").state == "found"


def test_it_is_compared(plugins):
    plugins.load("iree")
    found = plugins.compare(km.load(SOFTMAX), runs=3)
    assert [one.plugin for one in found.runs] == ["cpu", "iree"]
    assert found["iree"].error == ""
    assert found["iree"].compile_time_s > 0
    assert found["iree"].difference.max_absolute < 1e-6
    assert [array.dtype.name for array in found["iree"].results] == ["float32", "bool"]


def test_functions_of_jax_are_compared_on_it(plugins):
    def work(tree, n):
        return {"a": jnp.sort(tree["x"]) @ tree["x"].T, "b": n + 1}

    x = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    found = plugins.compare(work, {"x": x}, jnp.int32(3), on=["cpu", "iree"], runs=2)
    assert found["iree"].error == ""
    assert found["iree"].difference.max_absolute < 1e-5


def test_what_it_refuses_is_told_in_its_words(plugins):
    found = plugins.compare(km.load(CUSTOM), on=["iree"], runs=1)
    assert found["iree"].error.startswith("IREE refused the program: ")
    assert "custom_call" in found["iree"].error


def test_a_cell_runs_on_it(plugins, shell):
    cell, captured = run(shell, f"%%hlo double --on iree\n{DOUBLE}")
    assert "compiled for iree in" in repr(cell) + captured.stdout
    double = shell.user_ns["double"]
    (found,) = double(X)
    assert isinstance(found, jax.Array)
    np.testing.assert_array_equal(found, X * 2)
    assert len(double.device.programs) == 1
    # Within a trace JAX's compiler builds it all.
    np.testing.assert_array_equal(jax.jit(lambda x: double(x)[0] + 1)(X), X * 2 + 1)
    run(shell, f"%%hlo double\n{DOUBLE}")
    assert shell.user_ns["double"].device is None
    np.testing.assert_array_equal(shell.user_ns["double"](X)[0], X * 2)
    plugins.use(None)


def test_a_cell_that_it_refuses_changes_nothing(plugins, shell):
    message = refused(shell, f"%%hlo custom --on iree\n{CUSTOM}", PluginError)
    assert message.startswith("IREE refused the program\n")
    assert message.endswith("These are IREE's own words; a plugin may take it.")
    assert plugins.active == "cpu"


def test_it_cannot_run_everything(plugins):
    with pytest.raises(PluginError) as error:
        plugins.use("iree")
    assert str(error.value) == (
        "`iree` is an engine: it cannot run everything\n"
        "  JAX's own operations run on PJRT plugins alone.\n"
        "  `%%hlo --on iree` runs a cell's functions there, and "
        '`km.plugins.compare(function, on=["cpu", "iree"])` compares.'
    )
    assert plugins.active == "cpu"


def test_without_its_packages_it_is_said_how_to_get_them(plugins, monkeypatch):
    monkeypatch.setattr(Iree, "is_installed", lambda _: False)
    assert "iree" not in [row.name for row in plugins.discover()]
    with pytest.raises(PluginError) as error:
        plugins.load("iree")
    assert str(error.value) == (
        "Engine `iree` is not installed\n  its package is `iree-base-compiler`\n"
        "  `pip install 'kernel-magics[iree]'` brings it."
    )
