"""What stands in for custom calls, lowered into the module that a program goes into."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.core import ShapedArray
from jax.extend.mlir import ir
from jax.interpreters import mlir

from kernel_magics.call.serving import CallUse, StandIn
from kernel_magics.errors import PreflightError
from kernel_magics.ir.link import Target
from kernel_magics.ir.types import mlir_text

FALLBACK = "km.fallback"
"""Begins the names of functions that stand in, and of declarations that mean one."""


@dataclass(slots=True)
class Site:
    """Where a module is compiled, and what was lowered into it in place of custom calls."""

    client: Any = None
    """Of the plugin; None where that is open."""
    context: Any = None
    """Of the lowering rule at work."""
    fallbacks: dict[Any, str] = field(default_factory=dict[Any, str])
    """What stands in, for which types, to names of functions in the module."""
    open: list[Any] = field(default_factory=list[Any])
    """Those that are being lowered: one that needs itself would never end."""


def lowered(use: CallUse, choice: StandIn, target: Target, site: Site) -> str:
    """Lowers what stands in for a call into the target, once for each of its types.

    Returns:
        The name of the function there.
    """
    shapes = tuple((k.shape, str(k.dtype)) for k in use.arguments)
    key = (id(choice.function), shapes, str(sorted(choice.attributes.items())))
    if key in site.open:
        raise PreflightError(
            f"The fallback of `{use.name}` calls `{use.name}` itself",
            where=[use.where] if use.where else (),
            advice=f"Register a handler of `{use.name}` for this plugin, or another fallback.",
        )
    if key not in site.fallbacks:
        site.open.append(key)
        try:
            site.fallbacks[key] = _function(use, choice, target, site)
        finally:
            site.open.remove(key)
    return site.fallbacks[key]


def _function(use: CallUse, choice: StandIn, target: Target, site: Site) -> str:
    function: Callable[..., Any] = choice.function
    # An MLIR function has no attributes: what they are was settled when it was written.
    attributes = {} if hasattr(function, "program") else dict(choice.attributes)

    def flat(*args: Any) -> list[Any]:
        given: Any = function(*args, **attributes)
        arrays = list(given) if isinstance(given, list | tuple) else [given]
        return check_stand_in(use, arrays)

    avals = [ShapedArray(k.shape, k.dtype) for k in use.arguments]
    outs = [ShapedArray(k.shape, k.dtype) for k in use.results]
    context = site.context.replace(avals_in=avals, avals_out=outs, primitive=None)
    owner = target.module.context
    with ir.Location.unknown(owner), ir.InsertionPoint(target.module.body):
        kinds: list[list[ir.Type]] = [
            [_type(kind, owner) for kind in group] for group in (use.arguments, use.results)
        ]
        made = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(f"{FALLBACK}.{use.name}", owner),
                "function_type": ir.TypeAttr.get(
                    ir.FunctionType.get(kinds[0], kinds[1], owner), owner
                ),
                "sym_visibility": ir.StringAttr.get("private", owner),
            },
            regions=1,
        )
        target.symbols.insert(made)
        locations = [ir.Location.unknown(owner)] * len(avals)
        block = made.regions[0].blocks.append(*kinds[0], arg_locs=locations)
        with ir.InsertionPoint(block):
            lower: Any = mlir.lower_fun(flat, multiple_results=True)
            tree: Any = mlir.ir_tree_registry
            results, _ = tree.flatten(lower(context, *block.arguments))
            ir.Operation.create("func.return", operands=list(results))
    attribute = made.attributes["sym_name"]
    assert isinstance(attribute, ir.StringAttr)
    return attribute.value


def _type(kind: jax.ShapeDtypeStruct, context: ir.Context) -> ir.Type:
    return ir.Type.parse(mlir_text(ShapedArray(kind.shape, kind.dtype)), context)


def check_stand_in(use: CallUse, given: list[Any]) -> list[Any]:
    """Holds what a fallback gave against what the call gives.

    Raises:
        PreflightError: It is something else.
    """
    found = [(tuple(a.shape), str(a.dtype)) for a in map(jax.typeof, given)]
    wanted = [(tuple(k.shape), str(k.dtype)) for k in use.results]
    if found != wanted:
        raise PreflightError(
            f"The fallback of `{use.name}` gives other results than the call",
            where=[use.where] if use.where else (),
            details=[f"call: {_listed(wanted)}", f"fallback: {_listed(found)}"],
            advice="A fallback gives what the handler gives, for the same arguments.",
        )
    return given


def _listed(kinds: list[tuple[tuple[int, ...], str]]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in kinds) or "nothing"
