"""Named blocks: a function that stays recognisable, and that a handler may take the place of."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
from jax.core import ShapedArray

from kernel_magics.custom_call.attributes import Attributes
from kernel_magics.custom_call.calling import bind_with_vjp, traced
from kernel_magics.custom_call.primitive import Call
from kernel_magics.custom_call.registration import Registration
from kernel_magics.custom_call.registry import CustomCallRegistry, custom_calls
from kernel_magics.custom_call.serving import Serving
from kernel_magics.errors import UsageError

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)*")
"""MLIR's names of composites."""


class Block:
    """A named block; called like the function that says what it computes."""

    def __init__(
        self, name: str, fallback: Callable[..., Any], registry: CustomCallRegistry
    ) -> None:
        self.name = name
        self.fallback = fallback
        self._serving = registry.serving

    def __call__(self, *args: Any, **attributes: Any) -> Any:
        """Calls it, in a trace or outside of one.

        Args:
            *args: Arrays, or trees of them: a handler is given their leaves in order.
            **attributes: What is known when it is traced: numbers, strings, arrays of NumPy.

        Returns:
            What the fallback gives.
        """
        known = self._serving.of(self.name)
        parts = () if known is None else (known.contract, known.vjp, known.vmap_method)
        given = Attributes(attributes, self.name)
        return _jitted(self._serving, self.name, self.fallback, given, parts)(*args)

    def __repr__(self) -> str:
        return f"<block `{self.name}`>"


def block(
    name: str, fallback: Callable[..., Any], *, registry: CustomCallRegistry | None = None
) -> Block:
    """Names a JAX function, so that it stays one piece in the program.

    It is a `stablehlo.composite` there, with the function as its decomposition. Where a handler
    of its name serves the plugin and the types, it is a call of that; `km.custom_calls.serve`
    says that one of another name does. A handler that is registered later is used from then on.

    Args:
        name: Of the block; handlers are registered under it.
        fallback: Takes arrays, and attributes by keyword; what it gives is what the block means.
        registry: Who knows the handlers; `km.custom_calls` by default.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a block",
            details=["wanted: words of letters, digits and `_`, with dots between"],
            advice="Choose a name such as `rms_norm` or `mine.rms_norm`.",
        )
    return Block(name, fallback, registry or custom_calls)


@lru_cache(maxsize=256)
def _jitted(
    serving: Serving,
    name: str,
    fallback: Callable[..., Any],
    given: Attributes,
    parts: tuple[Any, ...],
) -> Callable[..., Any]:
    del parts  # a registration that says something else has a function of its own

    def run(*args: Any) -> Any:
        return _call(serving, name, fallback, given, args)

    run.__name__ = run.__qualname__ = name
    return jax.jit(run, inline=True)


def _call(
    serving: Serving,
    name: str,
    fallback: Callable[..., Any],
    given: Attributes,
    args: tuple[Any, ...],
) -> Any:
    known = serving.trace(name) or Registration(name)
    leaves, tree = jax.tree.flatten(args)
    shapes = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]
    out_trees: list[Any] = []

    def flat(*some: Any, **attributes: Any) -> list[Any]:
        result = fallback(*jax.tree.unflatten(tree, some), **attributes)
        found, out_tree = jax.tree.flatten(result)
        out_trees.append(out_tree)
        return found

    body = traced(name, flat, shapes, given)
    attributes = given
    if known.contract is not None:
        checked = known.contract.check(known.target, shapes, given.values)
        known.contract.check_results(known.target, body.out_avals, shapes, checked)
        attributes = Attributes(checked.attributes, name)
    results = tuple(ShapedArray(r.shape, r.dtype) for r in body.out_avals)  # pyright: ignore[reportAttributeAccessIssue]
    call = Call(serving, name, attributes, results, is_block=True, vmap_method=known.vmap_method)
    found = bind_with_vjp(call, body, leaves, known.vjp)
    return jax.tree.unflatten(out_trees[-1], found)
