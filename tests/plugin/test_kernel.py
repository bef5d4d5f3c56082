"""Plugins in a real kernel: loaded after the first computation, and faults that it survives."""

import pytest

from tests.kernels import Kernel
from tests.plugin.conftest import PATIENCE_S, library
from tests.plugin.faults import build


@pytest.fixture(scope="module")
def kernel():
    made = Kernel()
    made.run("import jax.numpy as jnp, kernel_magics as km\nx = jnp.arange(3) + 1\nx.sum()")
    yield made
    made.close()


def value(kernel, code: str) -> str:
    reply = kernel.run(code, PATIENCE_S)
    assert reply.status == "ok", reply
    return reply.data[-1]["text/plain"]


def test_a_plugin_comes_into_a_kernel_that_has_computed(kernel):
    path = library("fastatomstruct_xla_cpu")
    assert value(kernel, "x.sum()") == "Array(6, dtype=int32)"
    code = f"km.plugins.load('late', {str(path)!r}, timeout_s=300).state"
    assert value(kernel, code) == "'loaded'"
    assert value(kernel, "%hlo use late") == "plugin `late` is in use: 4 × cpu"
    assert value(kernel, "km.plugins.where(x * 2), km.plugins.where(x)") == "('late', 'cpu')"
    assert value(kernel, "%hlo use cpu").startswith("plugin `cpu` is in use: ")
    assert value(kernel, "km.plugins.forget('late').state") == "'forgotten'"


@pytest.mark.parametrize("fault", ["aborts", "exits", "zeroed", "null", "other_major"])
def test_the_kernel_survives_what_ends_the_child(kernel, tmp_path, fault):
    path = build(tmp_path, fault)
    reply = kernel.run(f"km.plugins.load({fault!r}, {str(path)!r}, timeout_s=300)", PATIENCE_S)
    assert (reply.status, reply.error) == ("error", "PluginError")
    assert reply.message.startswith(f"Plugin `{fault}` cannot be loaded: it")
    assert value(kernel, "(x + 1).sum()") == "Array(9, dtype=int32)"


def test_a_plugin_that_hangs_does_not_hang_the_kernel(kernel, tmp_path):
    path = build(tmp_path, "hangs")
    reply = kernel.run(f"km.plugins.load('hangs', {str(path)!r}, timeout_s=2)", PATIENCE_S)
    assert (reply.status, reply.error) == ("error", "PluginError")
    assert value(kernel, "(x + 1).sum()") == "Array(9, dtype=int32)"
