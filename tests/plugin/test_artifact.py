"""Portable artifacts are written in a version that the plugin reads."""

import jax
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import PluginError, SignatureError
from kernel_magics.plugin.artifact import readable_version
from tests.plugin.conftest import PATIENCE_S, library

DOUBLE = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
YOUNG = """func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<3xf32>
  %0:2 = chlo.scan(%x) inits(%init) dimension=1 {
    ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
      %s = stablehlo.add %a, %b : tensor<3xf32>
      stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return %0#0 : tensor<3x4xf32>
}"""
X = np.arange(3, dtype=np.float32)


@pytest.fixture
def plugins(kernel_plugins):
    library("xla_cpu_pjrt")
    kernel_plugins.load("xla_cpu_pjrt", timeout_s=PATIENCE_S)
    return kernel_plugins


def test_the_version_is_the_newest_that_both_know(plugins):
    assert readable_version(plugins.clients["xla_cpu_pjrt"]) == (1, 13, 3)
    assert readable_version(plugins.clients["cpu"]) > (1, 13, 3)


def test_an_artifact_for_an_old_plugin_runs_there_and_here(plugins):
    content = plugins.artifact(km.load(DOUBLE), on="xla_cpu_pjrt")
    assert b"StableHLO_v1.13.3" in content
    assert b"StableHLO_v1.13.3" not in plugins.artifact(km.load(DOUBLE), on="cpu")
    for name in ("cpu", "xla_cpu_pjrt"):
        with plugins.using(name):
            (found,) = km.hlo_call(content, X)
            assert plugins.where(found) == name
            np.testing.assert_array_equal(found, X * 2)


def test_ops_that_are_younger_than_the_plugin_are_named(plugins):
    with pytest.raises(PluginError) as error:
        plugins.artifact(km.load(YOUNG), on="xla_cpu_pjrt")
    first, second, advice = str(error.value).split("\n")
    assert first == (
        "`@main` cannot be written for plugin `xla_cpu_pjrt`, which reads StableHLO up to 1.13.3"
    )
    assert second.startswith("  that version has no form for `")
    assert advice == "  Write it with older ops, or use a plugin that is younger."


def test_a_call_with_an_op_that_is_younger_says_so(plugins):
    with plugins.using("xla_cpu_pjrt"), pytest.raises(km.KernelMagicsError) as error:
        km.load(YOUNG)(np.ones((3, 4), np.float32))
    assert str(error.value).endswith(
        "\n  These are XLA's own words: the plugin reads an older StableHLO, which has no form for "
        "this. `km.plugins.use(name)` takes another plugin."
    )


def test_shapes_that_are_not_known_must_be_given(plugins):
    function = km.load(DOUBLE.replace("<3x", "<?x"))
    with pytest.raises(SignatureError, match="^`@main` cannot be written without arguments"):
        plugins.artifact(function, on="cpu")
    assert plugins.artifact(function, jax.ShapeDtypeStruct((3,), np.float32), on="cpu")
