"""Tripwires: JAX's private parts are still what `_jax_private` relies on.

A failure here means: re-check our use, then pin the new form.
"""

import inspect

from jax._src.interpreters import mlir
from jax._src.lib import lapack
from jax._src.lib.mlir import dialects
from jax.extend.mlir import ir

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


def test_lapack_is_initialized_without_arguments():
    assert lapack._lapack.initialize is not None
    _jax_private.initialize_lapack()


def test_versions_are_three_numbers():
    for version in _jax_private.stablehlo_versions():
        assert [part.isdigit() for part in version.split(".")] == [True] * 3


def test_symbol_tables_rename_what_clashes_when_jax_inserts():
    # JAX adds its functions after ours; a name that we took must not be taken twice.
    assert "symbol_table.insert" in inspect.getsource(mlir.lower_jaxpr_to_fun)
