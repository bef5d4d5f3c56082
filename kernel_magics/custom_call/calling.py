"""Calls of targets and blocks as JAX functions: checked, typed, bound."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax
from jax.core import ShapedArray, Tracer
from jax.extend.core import ClosedJaxpr

from kernel_magics.custom_call.attributes import Attributes
from kernel_magics.custom_call.primitive import Call, bind
from kernel_magics.custom_call.registration import Registration
from kernel_magics.custom_call.serving import Serving
from kernel_magics.errors import CustomCallError, SignatureError

Vjp = Callable[..., Any]


def call_target(
    serving: Serving, target: str, args: Sequence[Any], results: Any, attributes: dict[str, Any]
) -> Any:
    """Calls a target; as `CustomCallRegistry.call`."""
    known = serving.of(target)
    declared = None if results is None else tuple(_as_list(results))
    key = None if declared is None else tuple((tuple(r.shape), str(r.dtype)) for r in declared)
    parts = () if known is None else _parts(known)
    given = Attributes(attributes, target)
    return _jitted_call(serving, target, parts, given, key)(*args)


def _parts(known: Registration) -> tuple[Any, ...]:
    """What a trace of a call depends on; hashable, as it was registered."""
    return (known.contract, known.fallback, known.vjp, known.vmap_method, known.has_side_effect)


@lru_cache(maxsize=256)
def _jitted_call(
    serving: Serving,
    target: str,
    parts: tuple[Any, ...],
    given: Attributes,
    declared: tuple[tuple[tuple[int, ...], str], ...] | None,
) -> Callable[..., Any]:
    del parts  # a registration that says something else has a function of its own
    results = None if declared is None else [jax.ShapeDtypeStruct(*kind) for kind in declared]

    def custom_call(*args: Any) -> Any:
        return _call(serving, target, args, given, results)

    custom_call.__name__ = custom_call.__qualname__ = target
    return jax.jit(custom_call, inline=True)


def _call(
    serving: Serving,
    target: str,
    args: Sequence[Any],
    given: Attributes,
    results: list[jax.ShapeDtypeStruct] | None,
) -> Any:
    known = serving.trace(target) or Registration(target)
    attributes, shapes = given, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
    if known.contract is not None:
        checked = known.contract.check(target, shapes, given.values)
        if results is not None:
            known.contract.check_results(target, results, shapes, checked)
        attributes, results = Attributes(checked.attributes, target), list(checked.results)
    body = None
    if known.fallback is not None:
        body = traced(target, known.fallback, shapes, attributes)
        results = results or list(map(_shape, body.out_avals))
        _check_fallback(target, results, body)
    if results is None:
        raise SignatureError(
            f"Nothing says what the custom call `{target}` gives",
            details=["it has neither a contract nor a fallback here"],
            advice="Say `results=jax.ShapeDtypeStruct(shape, dtype)`, or register a contract.",
        )
    call = Call(
        serving,
        target,
        attributes,
        tuple(ShapedArray(r.shape, r.dtype) for r in results),
        vmap_method=known.vmap_method,
        has_side_effect=known.has_side_effect,
    )
    found = bind_with_vjp(call, body, args, known.vjp)
    return found[0] if len(found) == 1 else tuple(found)


def bind_with_vjp(
    call: Call, body: ClosedJaxpr | None, args: Sequence[Any], vjp: Vjp | None
) -> Sequence[Any]:
    """Binds a call; its derivative is the rule that was registered, where one was."""
    if vjp is None:
        return bind(call, body, args)
    rule = vjp

    @jax.custom_vjp
    def with_rule(*given: Any) -> tuple[Any, ...]:
        return tuple(bind(call, body, given))

    def forward(*given: Any) -> tuple[Any, Any]:
        results = tuple(bind(call, body, given))
        return results, (given, results)

    def backward(kept: Any, cotangents: Any) -> tuple[Any, ...]:
        given, results = kept
        found = _as_list(rule(given, results, cotangents, **call.attributes.values))
        if len(found) != len(given):
            raise SignatureError(
                f"The derivative of `{call.name}` gives {len(found)} cotangents",
                details=[f"arguments: {len(given)}"],
                advice="It gives one for each argument.",
            )
        return tuple(found)

    with_rule.defvjp(forward, backward)
    return with_rule(*args)


def traced(
    name: str, fallback: Callable[..., Any], shapes: Sequence[Any], attributes: Attributes
) -> ClosedJaxpr:
    """What stands in for a call, as JAX traces it.

    Raises:
        CustomCallError: It uses values of a trace that it was not given.
    """
    # An MLIR function has no attributes: what they are was settled when it was written.
    named = {} if hasattr(fallback, "program") else attributes.values

    def flat(*args: Any) -> list[Any]:
        return _as_list(fallback(*args, **named))

    body = jax.make_jaxpr(flat)(*shapes)
    if any(isinstance(const, Tracer) for const in body.consts):
        raise CustomCallError(
            f"The fallback of `{name}` uses a value that is being traced and is not its argument",
            details=["a handler gets the arguments and nothing else"],
            advice="Give it to the call as an argument.",
        )
    return body


def _check_fallback(target: str, results: Sequence[Any], body: ClosedJaxpr) -> None:
    wanted = [(tuple(r.shape), str(r.dtype)) for r in results]
    found = [(tuple(r.shape), str(r.dtype)) for r in map(_shape, body.out_avals)]
    if wanted != found:
        raise SignatureError(
            f"The fallback of `{target}` gives other results than the call",
            details=[f"call: {_listed(wanted)}", f"fallback: {_listed(found)}"],
            advice="A fallback gives what the handler gives, for the same arguments.",
        )


def _shape(aval: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _listed(kinds: Sequence[tuple[tuple[int, ...], str]]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in kinds) or "nothing"
