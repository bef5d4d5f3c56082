"""The only door to `jax._src` and `jaxlib`.

Each wrapper says why the public way does not do. `tests/test_jax_private.py` pins what it
relies on, for JAX 0.10.2 and the newest JAX.
"""

from typing import Any

from jax._src.interpreters import mlir as _mlir
from jax._src.lib import lapack as _lapack  # pyright: ignore[reportPrivateImportUsage]
from jax._src.lib.mlir import dialects as _dialects
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir


def new_context() -> ir.Context:
    """A fresh MLIR context that knows the dialects which JAX's own contexts know.

    Public `make_ir_context` will not do: since JAX 0.11 it hands out one shared context per
    thread, so that whatever is set on it reaches unrelated lowerings.
    """
    context = _mlir.JaxIrContext()
    context.append_dialect_registry(_mlir.upstream_dialects)
    context.load_all_available_dialects()
    context.enable_multithreading(enable=False)
    dialects: Any = _dialects
    dialects.sdy.register_dialect(context)
    dialects.mpmd.register_dialect(context)
    dialects.mhlo.register_mhlo_dialect(context)
    dialects.chlo.register_dialect(context)
    dialects.hlo.register_dialect(context)
    return context


def lowering_module(context: mlir.LoweringRuleContext) -> tuple[ir.Module, ir.SymbolTable]:
    """The module that a lowering rule writes into, with its symbol table.

    Both hang off the public rule context, but `ModuleContext` itself is documented nowhere.
    """
    module_context: Any = context.module_context
    return module_context.module, module_context.symbol_table


def lowering_memory(context: mlir.LoweringRuleContext) -> dict[Any, Any]:
    """A dictionary that lives as long as the module being lowered, shared by its rules.

    JAX has no public place to remember what a rule has already put into a module.
    """
    module_context: Any = context.module_context
    return module_context.cached_primitive_lowerings


def stablehlo_versions() -> tuple[str, str]:
    """Oldest and newest StableHLO version that this jaxlib reads, such as `("0.9.0", "1.17.0")`.

    Public in `jax.extend`, but without types.
    """
    dialect: Any = stablehlo
    return dialect.get_minimum_version(), dialect.get_current_version()


def initialize_lapack() -> None:
    """Registers jaxlib's LAPACK handlers, which crash when called before.

    JAX does this while lowering its own `jax.numpy.linalg`; a program from elsewhere that names
    `lapack_*` targets has no public way to ask for it.
    """
    library: Any = _lapack
    library._lapack.initialize()
