"""Dynamic dimensions made static for given arguments, by StableHLO's own shape refinement."""

from collections.abc import Sequence

import jax
from jax.extend import mlir
from jax.extend.mlir import ir, passmanager
from jax.extend.mlir.dialects import stablehlo

from kernel_magics.errors import SignatureError
from kernel_magics.ir.closure import keep_reachable
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import MAIN
from kernel_magics.ir.parse import bytecode, parse
from kernel_magics.ir.preflight import preflight
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import scan
from kernel_magics.ir.types import aval_text, mlir_text


def refine(source: Source, entry: str, avals: Sequence[jax.core.ShapedArray]) -> bytes:
    """The program with every shape known, as MLIR bytecode whose entry is `@main`.

    Args:
        source: The program.
        entry: A function of it with dynamic dimensions, without `@`.
        avals: Arguments with static shapes; they fit the entry's signature.

    Raises:
        PreflightError: The program cannot be compiled at all.
        SignatureError: The shapes do not work out, or depend on values.

    Source: the passes `stablehlo-refine-arguments` and `stablehlo-refine-shapes`.
    """
    module = parse(source, new_context())
    index = scan(module)
    preflight(index, entry, source)
    keep_reachable(module, index, entry)
    _make_main(module, entry)
    # Known to XLA's importer as soon as JAX is there, to the pass manager only by this.
    stablehlo.register_stablehlo_passes()
    types = ",".join(mlir_text(aval) for aval in avals)
    pipeline = f"builtin.module(stablehlo-refine-arguments{{types={types}}})"
    try:
        with module.context:
            passmanager.PassManager.parse(pipeline).run(module.operation)
        return mlir.refine_polymorphic_shapes(bytecode(module))
    except (ir.MLIRError, ValueError, jax.errors.JaxRuntimeError) as error:
        given = ", ".join(map(aval_text, avals))
        raise SignatureError(
            f"The dynamic dimensions of `@{entry}` cannot be worked out for ({given})",
            details=[line for line in str(error).split("\n") if line.strip()][:8],
            advice="Check that the shapes of the arguments fit each other.",
        ) from error


def _make_main(module: ir.Module, entry: str) -> None:
    """Names the entry `@main` and makes it public, as the refinement wants it."""
    table = ir.SymbolTable(module.operation)
    if entry != MAIN:
        if MAIN in table:
            _rename(module, table, MAIN, f"{MAIN}_of_{entry}")
        _rename(module, table, entry, MAIN)
    for view in module.body.operations:
        operation = view.operation
        if "sym_name" in operation.attributes:
            visibility = "public" if view.operation == table[MAIN].operation else "private"
            operation.attributes["sym_visibility"] = ir.StringAttr.get(visibility, module.context)


def _rename(module: ir.Module, table: ir.SymbolTable, old: str, new: str) -> None:
    while new in table:
        new += "_"
    operation = table[old]
    table.set_symbol_name(operation, new)
    table.replace_all_symbol_uses(old, new, module.operation)
