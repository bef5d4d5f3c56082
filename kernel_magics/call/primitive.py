"""`hlo_call_p`: how JAX evaluates, types and lowers the call of an MLIR function."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import jax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func
from jax.interpreters import mlir

from kernel_magics import _jax_private
from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.call.assemble import Assembled, assemble
from kernel_magics.call.layouts import ensure_fits, ensure_fits_here
from kernel_magics.call.program import Program
from kernel_magics.call.scalars import cast_arguments
from kernel_magics.call.shapes import result_avals, static_program
from kernel_magics.call.transforms import register_rules
from kernel_magics.call.transforms_batching import Batching
from kernel_magics.call.transforms_effects import has_side_effect
from kernel_magics.call.transforms_traced import has_form, is_typed, traced_results
from kernel_magics.call.trial import ensure_survivable
from kernel_magics.ir.entry import MAIN
from kernel_magics.ir.link import Target

hlo_call_p = Primitive("hlo_call")
hlo_call_p.multiple_results = True


def call_program(
    program: Program, args: Sequence[Any], batching: Batching | None = None
) -> tuple[jax.Array, ...]:
    """Binds the primitive, with weakly typed scalars cast to what the function takes.

    Args:
        program: The function.
        args: JAX values, tracers included.
        batching: How the call is batched; None for by replay.
    """
    # A call of which nobody says so carries nothing of it: jaxprs stay short.
    how = {} if batching is None else {"batching": batching}
    return tuple(hlo_call_p.bind(*cast_arguments(program.signature, args), program=program, **how))


def compiled(program: Program) -> Callable[..., tuple[jax.Array, ...]]:
    """The function under `jax.jit`; inside other traces it is inlined.

    Equal programs share one, as long as somebody holds it: what XLA made of it goes with it.
    """
    found = _compiled.get(program)
    return _compiled.setdefault(program, _jitted(program)) if found is None else found


_compiled: WeakValueDictionary[Program, Callable[..., tuple[jax.Array, ...]]] = (
    WeakValueDictionary()
)


def _jitted(program: Program) -> Callable[..., tuple[jax.Array, ...]]:
    def entry(*args: Any) -> tuple[jax.Array, ...]:
        return call_program(program, args)

    entry.__name__ = entry.__qualname__ = program.entry
    return jax.jit(entry, inline=True)


# A bind outside of any trace is held by nobody else.
_recently_compiled = lru_cache(maxsize=64)(compiled)


def _impl(*args: Any, program: Program, batching: Batching | None = None) -> Sequence[jax.Array]:
    del batching
    return _recently_compiled(program)(*args)


def _abstract_eval(
    *avals: ShapedArray, program: Program, batching: Batching | None = None
) -> tuple[list[ShapedArray], Any]:
    del batching
    results = result_avals(program, avals)
    ensure_fits_here(program)
    # Shardings and manual axes that are part of types go through it as through JAX's own ops.
    if any(map(is_typed, avals)) and has_form(program, avals):
        results = traced_results(program, avals)
    return results, _jax_private.side_effects(is_there=has_side_effect(program))


def _lower(
    ctx: mlir.LoweringRuleContext,
    *operands: Any,
    program: Program,
    batching: Batching | None = None,
) -> Sequence[Any]:
    del batching
    module, symbols = _jax_private.lowering_module(ctx)
    ensure_fits(program, module)
    there = _jax_private.lowering_memory(ctx).setdefault(hlo_call_p, Assembled())
    there.site.client, there.site.context = private_ffi.lowering_client(ctx), ctx
    avals: Any = ctx.avals_in
    # JAX names its own entry last.
    target = Target(module, symbols, reserved=(MAIN,), known=there.known)
    static = static_program(program, tuple(avals))
    symbol = assemble(static, target, there)
    if jax.default_backend() in _jax_private.lowering_platforms(ctx):
        ensure_survivable(static, avals, there.doubts[static])
    kind = ir.FunctionType(ir.TypeAttr(symbols[symbol].attributes["function_type"]).value)
    return func.CallOp(kind.results, ir.FlatSymbolRefAttr.get(symbol), list(operands)).results


hlo_call_p.def_impl(_impl)
hlo_call_p.def_effectful_abstract_eval(_abstract_eval)
mlir.register_lowering(hlo_call_p, _lower)
register_rules(hlo_call_p)
