"""What JAX has no derivative of, found in a traced program and told with its lines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax
from jax import numpy as jnp
from jax.extend.core import Jaxpr, JaxprEqn, Primitive, jaxprs_in_params
from jax.extend.mlir import ir
from jax.interpreters import ad, batching, mlir

from kernel_magics.call.program import Program, parsed
from kernel_magics.call.transforms_errors import ADVICE
from kernel_magics.call.transforms_traced import Avals, of_some, own_lines, traced_jaxpr
from kernel_magics.errors import KernelMagicsError, PreflightError
from kernel_magics.ir.attribute_parts import word_of
from kernel_magics.ir.diagnostics import SHOWN, position
from kernel_magics.ir.loops import find_counter
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import CUSTOM_CALLS

LOOPS = ("stablehlo.while", "mhlo.while")

backwards_p = Primitive("hlo_backwards")
"""Passes tangents on; where JAX cannot go backwards through them, it says which loops block."""
backwards_p.multiple_results = True


def derivative_error(program: Program, avals: Avals, error: Exception) -> Exception:
    """The error to raise where JAX finds no derivative: ours with all lines, where it is known.

    Args:
        program: The function.
        avals: What it was called with.
        error: What JAX said.
    """
    calls = _equations(traced_jaxpr(program, avals).jaxpr, "ffi_call")
    if isinstance(error, KernelMagicsError) or not calls:
        return error
    targets = dict.fromkeys(str(call.params["target_name"]) for call in calls)

    def is_meant(operation: ir.Operation) -> bool:
        if operation.name not in CUSTOM_CALLS:
            return False
        return word_of(operation.attributes["call_target_name"]) in targets

    return _refusal(
        program,
        f"cannot be differentiated: what {_listed(targets)} does is not known, nor the derivative",
        _places(program, is_meant),
        ADVICE["differentiated"],
    )


def _listed(targets: Iterable[str]) -> str:
    return ", ".join(f"`{target}`" for target in targets)


def batching_error(program: Program, error: Exception) -> PreflightError:
    """The error to raise where JAX has no batch of an operation."""
    return PreflightError(
        f"`@{program.entry}` cannot be batched op by op",
        details=[str(error)],
        advice=ADVICE["batched"],
    )


def with_loops_told(
    program: Program, avals: Avals, varying: Sequence[int], tangents: Sequence[Any]
) -> list[Any]:
    """Tangents that tell, where JAX goes backwards and cannot, which loops are in the way."""
    places = [i for i, tangent in enumerate(tangents) if not isinstance(tangent, ad.Zero)]
    told = list(tangents)
    if places and _has_loops(program, avals):
        call = _Call(program, avals, tuple(varying), tuple(places))
        for place, value in zip(
            places, backwards_p.bind(*(tangents[i] for i in places), call=call), strict=True
        ):
            told[place] = value
    return told


@dataclass(frozen=True, slots=True)
class _Call:
    """A call under differentiation."""

    program: Program
    avals: Avals
    varying: tuple[int, ...]
    """Places of the arguments by which it is differentiated."""
    results: tuple[int, ...]
    """Places of the results that the tangents belong to."""

    def __repr__(self) -> str:
        return repr(self.program)


@lru_cache(maxsize=256)
def _has_loops(program: Program, avals: Avals) -> bool:
    return bool(_equations(traced_jaxpr(program, avals).jaxpr, "while"))


def _transpose(cotangents: Sequence[Any], *_: Any, call: _Call) -> Sequence[Any]:
    """Passes them on, if JAX goes backwards from these results to these arguments at all."""
    used = [
        place
        for place, cotangent in zip(call.results, cotangents, strict=True)
        if not isinstance(cotangent, ad.Zero)
    ]
    try:
        with own_lines():
            jax.eval_shape(partial(_gradient, call, used), *call.avals)
    except ValueError as error:
        if isinstance(error, KernelMagicsError):
            raise
        raise _loops_error(call) from error
    return cotangents


def _gradient(call: _Call, used: Sequence[int], *args: Any) -> Any:
    def used_results(*values: Any) -> list[jax.Array]:
        results = of_some(call.program, args, call.varying)(*values)
        return [results[place] for place in used]

    results, backwards = jax.vjp(used_results, *(args[place] for place in call.varying))
    return backwards([jnp.zeros_like(result) for result in results])


def _loops_error(call: _Call) -> PreflightError:
    return _refusal(
        call.program,
        "has no gradient: how often a loop runs is known at run time only, and a gradient needs "
        "what each round made",
        _places(call.program, _is_unending),
        "Forward mode works: `jax.jvp`, `jax.jacfwd`. Or give it a gradient of its own: "
        "`fn.with_vjp(rule)`.",
    )


def _is_unending(operation: ir.Operation) -> bool:
    """Whether it is a loop that replay cannot turn into a scan."""
    counter = find_counter(operation) if operation.name in LOOPS else None
    return operation.name in LOOPS and (counter is None or counter.trip_count is None)


def _refusal(program: Program, what: str, places: Sequence[str], advice: str) -> PreflightError:
    hidden = [f"… and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
    return PreflightError(
        f"`@{program.entry}` {what}", where=[*places[:SHOWN], *hidden], advice=advice
    )


def _places(program: Program, is_meant: Callable[[ir.Operation], bool]) -> list[str]:
    """Excerpts of the text that show some of the ops that an entry uses, those of bindings too."""
    index = parsed(program.source).index
    used = index.reachable([program.entry])
    found: list[str] = []
    for top in index.ops:
        if top.name in used:
            found += [_excerpt(program.source, op) for op in _inside(top.operation, is_meant)]
    for binding in program.bindings:
        if binding.name in used:
            found += _places(binding.program, is_meant)
    return [place for place in dict.fromkeys(found) if place]


def _inside(
    operation: ir.Operation, is_meant: Callable[[ir.Operation], bool]
) -> Iterator[ir.Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                if is_meant(view.operation):
                    yield view.operation
                yield from _inside(view.operation, is_meant)


def _excerpt(source: Source, operation: ir.Operation) -> str:
    at = position(operation.location, source)
    return source.excerpt(*at) if at else ""


def _equations(jaxpr: Jaxpr, name: str) -> list[JaxprEqn]:
    """The equations of one primitive, inner ones included, in order."""
    found: list[JaxprEqn] = []
    for equation in jaxpr.eqns:
        if equation.primitive.name == name:
            found.append(equation)
        for inner in jaxprs_in_params(equation.params):
            found += _equations(getattr(inner, "jaxpr", inner), name)
    return found


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: _Call) -> tuple[Any, Any]:
    given = [ad.instantiate_zeros(tangent) for tangent in tangents]
    return backwards_p.bind(*primals, call=call), backwards_p.bind(*given, call=call)


def _pass(*values: Any, call: _Call) -> Sequence[Any]:
    del call
    return values


def _pass_rows(
    values: Sequence[Any], dimensions: Sequence[Any], *, call: _Call
) -> tuple[Sequence[Any], Sequence[Any]]:
    return backwards_p.bind(*values, call=call), dimensions


def _lower(_: mlir.LoweringRuleContext, *operands: Any, call: _Call) -> Sequence[Any]:
    del call
    return operands


backwards_p.def_impl(_pass)
backwards_p.def_abstract_eval(_pass)
mlir.register_lowering(backwards_p, _lower)
ad.primitive_jvps[backwards_p] = _jvp
ad.primitive_transposes[backwards_p] = _transpose
batching.primitive_batchers[backwards_p] = _pass_rows
