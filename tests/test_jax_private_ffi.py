"""Tripwires: what `private_ffi` relies on is there in JAX 0.10.2 and in the newest.

A failure here means: re-check our use, then pin the new form.
"""

import dataclasses
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import callback, config, core, debugging, ffi, xla_bridge
from jax._src.export import _export
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib import _jax

from kernel_magics._jax_private import ffi as private_ffi


def parameters(function) -> list[str]:
    return list(inspect.signature(function).parameters)


def test_targets_of_jaxlib_are_listed_with_their_addresses():
    jax.devices()
    found = private_ffi.host_targets()
    assert found["lapack_spotrf_ffi"] > 0
    assert set(found) <= set(xla_client.custom_call_targets("Host"))


def test_targets_that_wait_for_a_client_are_lists_of_names():
    for held in xla_client._custom_callback.values():
        for name, _, version, _ in held:
            assert isinstance(name, str)
            assert version in (0, 1)
    assert hasattr(xla_client, "_custom_callback_lock")
    assert private_ffi.host_targets().keys() <= private_ffi.taken_targets()


def test_targets_that_jax_keeps_are_a_set_of_names():
    assert "Sharding" in _export._CUSTOM_CALL_TARGETS_GUARANTEED_STABLE
    assert "Sharding" in private_ffi.stable_targets()


def test_pointers_come_out_of_capsules():
    assert private_ffi.capsule_address(jax.ffi.pycapsule(4096)) == 4096
    assert private_ffi.capsule_address(object()) == 0


def test_the_cpu_of_jaxlib_is_no_plugin():
    assert not private_ffi.is_plugin(jax.devices("cpu")[0].client)


def test_plugins_that_are_not_loaded_have_no_api():
    assert callable(xla_client.pjrt_plugin_loaded)
    assert private_ffi.plugin_api("no such plugin") == 0
    if hasattr(_jax, "get_pjrt_plugin"):
        assert "platform_name" in _jax.get_pjrt_plugin.__doc__


def test_module_contexts_know_their_client_and_keep_values_alive():
    assert "for_export" in parameters(mlir.LoweringParameters)
    assert parameters(mlir.ModuleContext.get_backend) == ["self", "optional"]
    assert callable(mlir.ModuleContext.add_keepalive)
    assert callable(xla_bridge.backends_are_initialized)
    assert "backend" in parameters(mlir.ModuleContext.__init__)


def test_effect_of_a_custom_call_is_known_to_jax():
    from jax._src import effects

    assert effects.lowerable_effects.contains(private_ffi.host_effect())
    assert private_ffi.host_effect() is ffi._FfiEffect


@pytest.mark.parametrize(
    "operation",
    [
        lambda: jnp.sin(np.ones(3)),
        lambda: jnp.arange(3) + 1,
        lambda: jax.device_put(np.ones(3)),
        lambda: jax.jit(lambda x: x * 2)(np.ones(3)),
        lambda: compiled_before(np.ones(3, np.float32)),
        lambda: jax.nn.relu(np.ones(3)),
        lambda: jax.grad(jax.nn.softplus)(1.0),
    ],
)
def test_operations_are_refused_in_a_context_and_work_after(operation):
    compiled_before(np.ones(3, np.float32))
    operation()
    with (
        private_ffi.refusing_jax(lambda name: LookupError(f"no {name}")),
        pytest.raises(LookupError, match="^no [a-z_]+"),
    ):
        operation()
    operation()


@jax.jit
def compiled_before(x):
    return x + 1


def test_traces_have_the_form_that_ours_has():
    assert "trace" in parameters(core.set_current_trace)
    assert parameters(core.Trace.process_primitive)[:4] == [
        "self",
        "primitive",
        "tracers",
        "params",
    ]
    assert config.trace_state is not None if hasattr(config, "trace_state") else True


def test_callbacks_are_lowered_by_rules_in_tables():
    assert {field.name for field in dataclasses.fields(mlir.LoweringRuleEntry)} >= {"rule"}
    assert callback.pure_callback_p in mlir._lowerings
    assert callback.io_callback_p in mlir._lowerings
    assert debugging.debug_callback_p in mlir._platform_specific_lowerings["cpu"]
