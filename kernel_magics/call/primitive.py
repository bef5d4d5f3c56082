"""`hlo_call_p`: how JAX evaluates, types and lowers the call of an MLIR function."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func
from jax.interpreters import mlir

from kernel_magics import _jax_private
from kernel_magics.call.program import Avals, Program, result_avals, slice_for
from kernel_magics.call.scalars import cast_arguments
from kernel_magics.ir.entry import MAIN
from kernel_magics.ir.link import Target, link
from kernel_magics.ir.preflight import needs_lapack

hlo_call_p = Primitive("hlo_call")
hlo_call_p.multiple_results = True


def call_program(program: Program, args: Sequence[Any]) -> tuple[jax.Array, ...]:
    """Binds the primitive, with weakly typed scalars cast to what the function takes.

    Args:
        program: The function.
        args: JAX values, tracers included.
    """
    return tuple(hlo_call_p.bind(*cast_arguments(program.signature, args), program=program))


@lru_cache(maxsize=4096)
def compiled(program: Program) -> Callable[..., tuple[jax.Array, ...]]:
    """The function under `jax.jit`; inside other traces it is inlined."""

    def entry(*args: Any) -> tuple[jax.Array, ...]:
        return call_program(program, args)

    entry.__name__ = entry.__qualname__ = program.entry
    return jax.jit(entry, inline=True)


def _impl(*args: Any, program: Program) -> Sequence[jax.Array]:
    return compiled(program)(*args)


def _abstract_eval(*avals: ShapedArray, program: Program) -> list[ShapedArray]:
    return result_avals(program, avals)


def _lower(ctx: mlir.LoweringRuleContext, *operands: Any, program: Program) -> Sequence[Any]:
    memory = _jax_private.lowering_memory(ctx)
    # Avals decide, too: one program with dynamic dimensions is a function for each shape.
    avals: Any = ctx.avals_in
    key = (hlo_call_p, program, tuple((aval.shape, aval.dtype) for aval in avals))
    symbol = memory.get(key)
    if symbol is None:
        symbol = memory[key] = _link_into(ctx, program, avals)
    function = _jax_private.lowering_module(ctx)[1][symbol]
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return func.CallOp(kind.results, ir.FlatSymbolRefAttr.get(symbol), list(operands)).results


def _link_into(ctx: mlir.LoweringRuleContext, program: Program, avals: Avals) -> str:
    """Links the program into the module that JAX is lowering; gives its entry's name there."""
    module, symbols = _jax_private.lowering_module(ctx)
    part = slice_for(program, avals, module.context)
    if needs_lapack(part.index):
        _jax_private.initialize_lapack()
    # JAX names its own entry last.
    target = Target(module, symbols, reserved=(MAIN,))
    report = link(part.module, part.index, target, unit=repr(program), tag=program.source.tag)
    return report[part.entry].new_name


hlo_call_p.def_impl(_impl)
hlo_call_p.def_abstract_eval(_abstract_eval)
mlir.register_lowering(hlo_call_p, _lower)
