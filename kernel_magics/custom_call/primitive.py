"""`custom_call_p`: how JAX types, lowers, batches and differentiates a call of a target.

Who serves it is decided where it is lowered, for the client that it is compiled for: the same
trace may use a handler on one plugin and a fallback on another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.call.serving import CallUse, composite_name, served_targets
from kernel_magics.custom_call.attributes import Attributes
from kernel_magics.custom_call.registration import VmapMethod
from kernel_magics.custom_call.serving import Serving
from kernel_magics.errors import CustomCallError, SignatureError

custom_call_p = Primitive("custom_call")
custom_call_p.multiple_results = True


@dataclass(frozen=True, slots=True)
class Call:
    """All that a call says beside its arguments."""

    serving: Serving
    name: str
    """The target's or the block's."""
    attributes: Attributes
    results: tuple[ShapedArray, ...]
    is_block: bool = False
    vmap_method: VmapMethod | None = None
    has_side_effect: bool = False
    keep: Any = None
    """What must live as long as what is compiled."""

    def __repr__(self) -> str:
        return f"{self.name}{self.attributes}"


def bind(call: Call, body: ClosedJaxpr | None, args: Sequence[Any]) -> list[Any]:
    """Calls a target.

    Args:
        call: Which, and how.
        body: What stands in where no handler serves it; None for nothing.
        args: JAX values, tracers included.
    """
    return custom_call_p.bind(*args, call=call, body=body)


def _impl(*args: Any, call: Call, body: ClosedJaxpr | None) -> Sequence[jax.Array]:
    return _jitted(call, body)(*args)


@lru_cache(maxsize=128)
def _jitted(call: Call, body: ClosedJaxpr | None) -> Callable[..., Any]:
    def run(*args: Any) -> list[Any]:
        return bind(call, body, args)

    return jax.jit(run)


def _abstract_eval(
    *_: ShapedArray, call: Call, body: ClosedJaxpr | None
) -> tuple[list[ShapedArray], set[Any]]:
    del body
    effects = {private_ffi.host_effect()} if call.has_side_effect else set[Any]()
    return list(call.results), effects


def _lower(
    ctx: mlir.LoweringRuleContext, *operands: Any, call: Call, body: ClosedJaxpr | None
) -> Sequence[Any]:
    client = private_ffi.lowering_client(ctx)
    avals: Any = ctx.avals_in
    decision = call.serving.decide(
        CallUse(
            call.name, call.is_block, _shapes(avals), _shapes(call.results), call.attributes.values
        ),
        client,
    )
    if call.keep is not None:
        private_ffi.keep_with_executable(ctx, call.keep)
    if decision.kind == "handler":
        assert decision.registration is not None
        return _ffi(decision.registration.target, call)(ctx, *operands, **call.attributes.values)
    if call.is_block:
        assert body is not None
        said = jaxpr_as_fun(body)

        def decomposition(*args: Any, **_: Any) -> Any:
            return said(*args)  # traced with its attributes

        block = jax.lax.composite(decomposition, composite_name(call.name))

        def composite(*args: Any) -> Any:
            return block(*args, **call.attributes.values)

        return _lower_fun(composite)(ctx, *operands)
    if body is not None:
        return _lower_fun(jaxpr_as_fun(body))(ctx, *operands)
    here = served_targets(client)
    if decision.registration is None and (here is None or call.name in here):
        # One that a plugin or jaxlib has by itself, or that the place of an export may have.
        return _ffi(call.name, call)(ctx, *operands, **call.attributes.values)
    raise missing(call.name, client, call.serving)


def _ffi(target: str, call: Call) -> Any:
    return jax.ffi.ffi_lowering(target, has_side_effect=call.has_side_effect)


def _lower_fun(function: Callable[..., Any]) -> Any:
    return mlir.lower_fun(function, multiple_results=True)


def missing(name: str, client: Any, serving: Serving) -> CustomCallError:
    """What to raise where nobody serves a call."""
    where = "" if client is None else f" on the plugin `{serving.name_of(client)}`"
    return CustomCallError(
        f"Nobody serves the custom call `{name}`{where}",
        details=["it has no handler there, and no fallback"],
        advice=f'`km.custom_calls.register("{name}", handler=…)` gives it one, '
        "`fallback=` what stands in for it.",
    )


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, call: Call, body: ClosedJaxpr | None
) -> tuple[Sequence[Any], Sequence[Any]]:
    results = bind(call, body, primals)
    moving = [i for i, tangent in enumerate(tangents) if not isinstance(tangent, ad.Zero)]
    if not call.results or not moving:
        return results, [ad.Zero(r.to_tangent_aval()) for r in call.results]
    if body is None:
        raise CustomCallError(
            f"The custom call `{call.name}` cannot be differentiated",
            details=["it was registered with neither a fallback nor a derivative"],
            advice="Register it with `fallback=`, whose derivative is taken, or with `vjp=`.",
        )
    function = jaxpr_as_fun(body)

    def of_moving(*some: Any) -> Any:
        full = list(primals)
        for i, value in zip(moving, some, strict=True):
            full[i] = value
        return function(*full)

    _, found = jax.jvp(of_moving, [primals[i] for i in moving], [tangents[i] for i in moving])
    zero = [ad.Zero(r.to_tangent_aval()) for r in call.results]
    out = [z if f.dtype == jax.dtypes.float0 else f for f, z in zip(found, zero, strict=True)]
    return results, out


def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, call: Call, body: ClosedJaxpr | None
) -> tuple[Sequence[Any], Sequence[int]]:
    size = next(arg.shape[d] for arg, d in zip(args, dims, strict=True) if d is not None)
    if call.vmap_method is None:
        if body is None:
            raise CustomCallError(
                f"The custom call `{call.name}` cannot be batched",
                details=["it was registered with neither a fallback nor a `vmap_method`"],
                advice='`vmap_method="sequential"` calls it once for each element of a batch.',
            )
        results = jax.vmap(jaxpr_as_fun(body), in_axes=list(dims))(*args)
    else:
        # In front, as handlers want it.
        pairs = zip(args, dims, strict=True)
        ahead = [a if d is None else jax.numpy.moveaxis(a, d, 0) for a, d in pairs]
        is_batched = [d is not None for d in dims]
        how = _sequential if call.vmap_method.startswith("sequential") else _at_once
        results = how(ahead, is_batched, size, call, body)
    return results, [0] * len(results)


def _sequential(
    args: list[Any], is_batched: list[bool], size: int, call: Call, body: ClosedJaxpr | None
) -> Sequence[Any]:
    del size

    def one(_: Any, batched: Any) -> Any:
        given = iter(batched)
        full = [next(given) if b else a for a, b in zip(args, is_batched, strict=True)]
        return (), bind(call, body, full)

    moving = [a for a, b in zip(args, is_batched, strict=True) if b]
    return jax.lax.scan(one, (), moving, unroll=call.vmap_method == "sequential_unrolled")[1]


def _at_once(
    args: list[Any], is_batched: list[bool], size: int, call: Call, body: ClosedJaxpr | None
) -> Sequence[Any]:
    front = size if call.vmap_method == "broadcast_all" else 1
    given = [
        a if b else jax.numpy.broadcast_to(a, (front, *a.shape))
        for a, b in zip(args, is_batched, strict=True)
    ]
    results = tuple(ShapedArray((size, *r.shape), r.dtype) for r in call.results)
    _check_batched(call, given, results)
    whole = Call(
        call.serving,
        call.name,
        call.attributes,
        results,
        call.is_block,
        call.vmap_method,
        call.has_side_effect,
        call.keep,
    )
    return bind(whole, None if body is None else _batched_body(body, given, size), given)


def _batched_body(body: ClosedJaxpr, args: Sequence[Any], size: int) -> ClosedJaxpr:
    def batched(*full: Any) -> Any:
        whole = [jax.numpy.broadcast_to(a, (size, *a.shape[1:])) for a in full]
        return jax.vmap(jaxpr_as_fun(body), axis_size=size)(*whole)

    return jax.make_jaxpr(batched)(*_shapes(args))


def _check_batched(call: Call, args: Sequence[Any], results: Sequence[Any]) -> None:
    known = call.serving.now.of(call.name)
    if known is None or known.contract is None:
        return
    try:
        checked = known.contract.check(known.target, args, call.attributes.values)
        known.contract.check_results(known.target, results, args, checked)
    except SignatureError as error:
        error.details = (*error.details, f"batched by `vmap_method={call.vmap_method!r}`")
        raise


def _shapes(values: Sequence[Any]) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(tuple(v.shape), v.dtype) for v in values)


custom_call_p.def_impl(_impl)
custom_call_p.def_effectful_abstract_eval(_abstract_eval)
mlir.register_lowering(custom_call_p, _lower)
ad.primitive_jvps[custom_call_p] = _jvp
batching.primitive_batchers[custom_call_p] = _batch
