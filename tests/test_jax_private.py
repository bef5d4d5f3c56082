"""Tripwires: JAX's private parts are still what `_jax_private` relies on.

A failure here means: re-check our use, then pin the new form.
"""

import inspect

import jax
import pytest
from jax._src import effects, ffi, xla_bridge
from jax._src.export import serialization_generated
from jax._src.interpreters import mlir
from jax._src.lib import lapack
from jax._src.lib.mlir import dialects
from jax.extend.mlir import ir
from jaxlib import _hlo, _jax

from kernel_magics import _jax_private


def parameters(function) -> list[str]:
    return list(inspect.signature(function).parameters)


def test_contexts_are_made_of_the_same_parts():
    assert issubclass(mlir.JaxIrContext, ir.Context)
    assert isinstance(mlir.upstream_dialects, ir.DialectRegistry)
    for name, register in (
        ("sdy", "register_dialect"),
        ("mpmd", "register_dialect"),
        ("mhlo", "register_mhlo_dialect"),
        ("chlo", "register_dialect"),
        ("hlo", "register_dialect"),
    ):
        assert callable(getattr(getattr(dialects, name), register))


def test_our_contexts_know_what_those_of_jax_know_and_are_others():
    ours, theirs = _jax_private.new_context(), mlir.make_ir_context()
    assert ours is not theirs
    assert not ours.allow_unregistered_dialects
    for op in ("stablehlo.add", "chlo.erf", "mhlo.add", "sdy.mesh", "mpmd.call", "func.func"):
        assert ours.is_registered_operation(op) == theirs.is_registered_operation(op) is True


def test_module_contexts_hold_module_symbols_and_memory():
    wanted = ("module", "symbol_table", "cached_primitive_lowerings")
    assert all(name in mlir.ModuleContext.__annotations__ for name in wanted)
    assert "module_context" in mlir.LoweringRuleContext.__annotations__
    assert {"symbol_table", "cached_primitive_lowerings"} <= set(
        parameters(mlir.ModuleContext.__init__)
    )


def test_effects_are_those_of_ffi_calls():
    assert _jax_private.side_effects(is_there=True) == {ffi._FfiEffect}
    assert _jax_private.side_effects(is_there=False) == frozenset()
    for kind in (effects.lowerable_effects, effects.control_flow_allowed_effects):
        assert kind.contains(ffi._FfiEffect)


def test_lapack_is_initialized_without_arguments():
    assert lapack._lapack.initialize is not None
    _jax_private.initialize_lapack()


def test_versions_are_three_numbers():
    for version in _jax_private.stablehlo_versions():
        assert [part.isdigit() for part in version.split(".")] == [True] * 3


def test_symbol_tables_rename_what_clashes_when_jax_inserts():
    # JAX adds its functions after ours; a name that we took must not be taken twice.
    assert "symbol_table.insert" in inspect.getsource(mlir.lower_jaxpr_to_fun)


HLO = """HloModule m
ENTRY e {
  ROOT p = f32[] parameter(0)
}"""


def test_jaxlib_alone_reads_and_converts_hlo():
    module = _hlo.hlo_module_from_text(HLO).as_serialized_hlo_module_proto()
    assert isinstance(module, bytes)
    code = _jax.mlir.hlo_to_stablehlo(module)
    assert code.startswith(b"ML\xefR")
    assert "func.func @main" in str(ir.Module.parse(code, _jax_private.new_context()))
    assert _jax.mlir.mlir_module_to_xla_computation(code, False, False)


def test_hlo_goes_to_stablehlo_and_back():
    proto = _jax_private.hlo_text_to_proto(HLO)
    code = _jax_private.hlo_to_stablehlo(proto)
    assert code.startswith(b"ML\xefR")
    assert _jax_private.stablehlo_to_hlo(code) is None


def test_plugins_are_registered_by_name_path_and_options():
    assert {"plugin_name", "library_path", "options"} <= set(parameters(xla_bridge.register_plugin))
    assert parameters(xla_bridge.make_pjrt_c_api_client) == ["plugin_name", "options"]
    before = _jax_private.registered_platforms()
    with pytest.raises(jax.errors.JaxRuntimeError, match="cannot open shared object file"):
        _jax_private.start_plugin("kernel_magics_nosuch", "/nonexistent.so", {})
    assert _jax_private.registered_platforms() == before
    with pytest.raises(ValueError, match="The platform 'cpu' is there already"):
        _jax_private.start_plugin("cpu", "/nonexistent.so", {})


def test_clients_are_listed_by_name():
    client = _jax_private.default_client()
    assert _jax_private.clients()["cpu"] is client
    other = _jax_private.start_cpu_client(3)
    _jax_private.list_client("kernel_magics_three", other)
    try:
        assert jax.devices("kernel_magics_three") == other.devices()
        assert len(other.devices()) == 3
        assert other.devices()[0].client is other
    finally:
        _jax_private.list_client("kernel_magics_three", None)
    with pytest.raises(RuntimeError, match="Unknown backend kernel_magics_three"):
        jax.devices("kernel_magics_three")
    assert jax.devices("cpu") == client.devices()


def test_platforms_are_started_by_name():
    assert parameters(xla_bridge._init_backend) == ["platform"]
    assert _jax_private.start_platform("cpu").client.platform == "cpu"
    assert _jax_private.start_platform("cpu").api is None


def test_jax_tells_what_it_knows_of_platforms():
    jax.devices()
    assert _jax_private.has_looked_for_plugins() is True
    assert _jax_private.registered_platforms()["cpu"] is False
    assert isinstance(_jax_private.platform_problems(), dict)


def test_targets_of_the_cpu_are_listed():
    _jax_private.initialize_lapack()
    assert "lapack_spotrf_ffi" in _jax_private.builtin_targets()


def test_exported_blobs_have_the_fields_that_are_read():
    for name in (
        "GetRootAsExported",
        "MlirModuleSerializedAsNumpy",
        "ModuleKeptVarIdxAsNumpy",
        "Platforms",
        "PlatformsLength",
        "InAvalsLength",
        "InAvalsIdxsLength",
    ):
        assert callable(getattr(serialization_generated.Exported, name))


def test_scans_say_what_they_carry():
    def function(x, y):
        def step(carry, row):
            total, count = carry
            return (total * y.sum() + row, count + 1), total

        return jax.lax.scan(step, (x[0], 0), x)

    jaxpr = jax.make_jaxpr(function)(jax.numpy.ones((3, 2)), jax.numpy.ones(2))
    (scan,) = [e for e in jaxpr.eqns if e.primitive.name == "scan"]
    assert _jax_private.scan_counts(scan.params) == (1, 2)
    assert len(scan.invars) == 4
