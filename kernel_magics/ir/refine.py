"""Dynamic dimensions made static for given arguments, by StableHLO's own shape refinement."""

from collections.abc import Sequence

from jax.core import ShapedArray
from jax.errors import JaxRuntimeError
from jax.extend import mlir
from jax.extend.mlir import ir, passmanager
from jax.extend.mlir.dialects import stablehlo

from kernel_magics.errors import SignatureError
from kernel_magics.ir.entry import MAIN
from kernel_magics.ir.link import rename
from kernel_magics.ir.parse import bytecode
from kernel_magics.ir.references import ReferenceRewriter
from kernel_magics.ir.symbols import SymbolIndex, scan
from kernel_magics.ir.types import aval_text, mlir_text


def refine(module: ir.Module, entry: str, avals: Sequence[ShapedArray]) -> bytes:
    """A module with every shape known, as MLIR bytecode whose entry is `@main`.

    Args:
        module: Holds the entry and what it uses, fit for the compiler; changed.
        entry: A function of it with dynamic dimensions, without `@`.
        avals: Arguments with static shapes; they fit the entry's signature.

    Raises:
        SignatureError: The shapes do not work out, or depend on values.

    Source: the passes `stablehlo-refine-arguments` and `stablehlo-refine-shapes`.
    """
    _make_main(module, scan(module), entry)
    # Known to XLA's importer as soon as JAX is there, to the pass manager only by this.
    stablehlo.register_stablehlo_passes()
    types = ",".join(mlir_text(aval) for aval in avals)
    pipeline = f"builtin.module(stablehlo-refine-arguments{{types={types}}})"
    try:
        with module.context:
            passmanager.PassManager.parse(pipeline).run(module.operation)
        return mlir.refine_polymorphic_shapes(bytecode(module))
    except (ir.MLIRError, ValueError, JaxRuntimeError) as error:
        given = ", ".join(map(aval_text, avals))
        raise SignatureError(
            f"The dynamic dimensions of `@{entry}` cannot be worked out for ({given})",
            details=[line for line in str(error).split("\n") if line.strip()][:8],
            advice="Check that the shapes of the arguments fit each other.",
        ) from error


def _make_main(module: ir.Module, index: SymbolIndex, entry: str) -> None:
    """Names the entry `@main` and makes it the only public symbol, as the refinement wants it."""
    if entry != MAIN and MAIN in index.by_name:
        free = MAIN
        while free in index.by_name:
            free += "_"
        index = _renamed(module, index, MAIN, free)
    index = _renamed(module, index, entry, MAIN)
    for op in index.by_name.values():
        visibility = ir.StringAttr.get("public" if op.name == MAIN else "private", module.context)
        op.operation.attributes["sym_visibility"] = visibility


def _renamed(module: ir.Module, index: SymbolIndex, old: str, new: str) -> SymbolIndex:
    names = {old: new}
    rename(index.ops, names, ReferenceRewriter(names, module.context))
    return scan(module)
