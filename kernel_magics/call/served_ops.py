"""The custom calls and composites of a program, as they are served where it is compiled.

What a handler serves is written as a custom call of its target. What a fallback stands in for is
written as a call of a function, which is lowered into the module that the program goes into.
"""

from collections.abc import Iterator
from typing import Any

import jax
from jax.extend.mlir import ir

from kernel_magics.call.serving import CallUse, Handled, block_name, call_resolver, unasked
from kernel_magics.call.stand_ins import FALLBACK, Site, lowered
from kernel_magics.errors import PreflightError
from kernel_magics.ir.attribute_parts import word_of
from kernel_magics.ir.call_attributes import read_attributes, write_attributes
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.link import Target
from kernel_magics.ir.problems import target_of
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import CALLS, COMPOSITE, CUSTOM_CALL, SymbolIndex, scan
from kernel_magics.ir.types import tensor_type

_TYPED = 4
"""XLA's calling convention with named attributes."""


def serve_calls(
    index: SymbolIndex, entry: str, source: Source, target: Target, site: Site
) -> tuple[SymbolIndex, dict[str, str]]:
    """Writes custom calls and composites as they are served, in place.

    Args:
        index: The scan of a program.
        entry: Only what it uses is looked at.
        source: Where locations point.
        target: The module that fallbacks are lowered into.
        site: Where it is compiled.

    Returns:
        The scan of what was written, and declarations in it to functions of the target.

    Raises:
        SignatureError: A call does not fit its handler; points at it.
        PreflightError: A fallback uses the target that it stands in for.
    """
    resolver = call_resolver()
    found = list(_calls(index, entry)) if site.context else []
    bound: dict[str, str] = {}
    has_changed = False
    for operation in found:
        use = read_use(operation, source)
        if use is not None and resolver is None:
            unasked.add(use.name)
        choice = resolver.choose(use, site.client) if use is not None and resolver else None
        if use is None or choice is None:
            continue
        if isinstance(choice, Handled):
            if not use.is_block and not _is_typed(operation):
                raise _untyped(entry, use)
            _write_custom_call(operation, choice)
        else:
            name = lowered(use, choice, target, site)
            declared = _declaration(index, name, operation, bound)
            _replace(operation, CALLS, {"callee": declared})
        has_changed = True
    return (scan(index.module) if has_changed else index), bound


def _is_typed(operation: ir.Operation) -> bool:
    """Whether a custom call asks for the convention with named attributes."""
    attributes = operation.attributes
    if "mhlo.backend_config" in attributes:  # as JAX writes it, whatever the version says
        return True
    version = attributes["api_version"] if "api_version" in attributes else None  # noqa: SIM401 - has no `get`
    return isinstance(version, ir.IntegerAttr) and version.value == _TYPED


def _untyped(entry: str, use: CallUse) -> PreflightError:
    return PreflightError(
        f"`@{entry}` cannot be compiled: `{use.name}` is registered as a handler of the typed FFI, "
        "and the text asks for the untyped form",
        where=[use.where] if use.where else (),
        advice="Write `api_version = 4 : i32`, and a dictionary as in `backend_config = {}`: "
        "without them a custom call is an untyped one.",
    )


def read_use(operation: ir.Operation, source: Source) -> CallUse | None:
    """What a custom call or a composite says; None where its values are no arrays."""
    arguments, results = _kinds(operation.operands), _kinds(operation.results)
    if arguments is None or results is None:
        return None
    at = position(operation.location, source)
    is_block = operation.name == COMPOSITE
    name = block_name(_text(operation, "name")) if is_block else target_of(operation)
    where = source.excerpt(*at) if at else ""
    return CallUse(name, is_block, arguments, results, read_attributes(operation), where)


def _calls(index: SymbolIndex, entry: str) -> Iterator[ir.Operation]:
    wanted = (CUSTOM_CALL, COMPOSITE)
    names = index.reachable([entry])
    for op in index.ops:
        if op.name in names and op.is_function and any(kind in op.op_kinds for kind in wanted):
            yield from _inside(op.operation, wanted)


def _inside(operation: ir.Operation, kinds: tuple[str, ...]) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name in kinds:
            found.append(inner)
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _kinds(values: Any) -> tuple[jax.ShapeDtypeStruct, ...] | None:
    found: list[jax.ShapeDtypeStruct] = []
    for value in values:
        kind = tensor_type(value.type)
        if kind.shape is None or kind.dtype is None or kind.is_dynamic:
            return None
        found.append(jax.ShapeDtypeStruct(kind.shape, kind.dtype))
    return tuple(found)


def _text(operation: ir.Operation, name: str) -> str:
    return word_of(operation.attributes[name])


def _write_custom_call(operation: ir.Operation, choice: Handled) -> None:
    context = operation.context
    number = ir.IntegerType.get_signless(32, context)
    attributes: dict[str, ir.Attribute] = {
        "call_target_name": ir.StringAttr.get(choice.target, context),
        "api_version": ir.IntegerAttr.get(number, _TYPED),
        "has_side_effect": ir.BoolAttr.get(choice.has_side_effect, context),
        "backend_config": write_attributes(choice.attributes, context),
    }
    kept = ("operand_layouts", "result_layouts", "output_operand_aliases")
    attributes |= {
        name: operation.attributes[name] for name in kept if name in operation.attributes
    }
    # Without them XLA may hand over a transposed array.
    attributes.setdefault("operand_layouts", _layouts(operation.operands, context))
    attributes.setdefault("result_layouts", _layouts(operation.results, context))
    _replace(operation, CUSTOM_CALL, attributes)


def _layouts(values: Any, context: ir.Context) -> ir.Attribute:
    layouts = [
        f"dense<{list(reversed(range(value.type.rank)))}> : tensor<{value.type.rank}xindex>"
        for value in values
    ]
    return ir.Attribute.parse(f"[{', '.join(layouts)}]", context)


def _replace(operation: ir.Operation, kind: str, attributes: dict[str, ir.Attribute]) -> None:
    made = ir.Operation.create(
        kind,
        results=[result.type for result in operation.results],
        operands=list(operation.operands),
        attributes=attributes,
        loc=operation.location,
        ip=ir.InsertionPoint(operation),
    )
    for old, new in zip(operation.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    operation.erase()


def _declaration(
    index: SymbolIndex, name: str, operation: ir.Operation, bound: dict[str, str]
) -> ir.Attribute:
    """A reference to a declaration of the program that means a function of the target."""
    known = next((declared for declared, meaning in bound.items() if meaning == name), None)
    context = operation.context
    if known is None:
        known = f"{FALLBACK}.{len(bound)}"
        while known in index.by_name:
            known += "_"
        kind = ir.FunctionType.get(
            [value.type for value in operation.operands],
            [value.type for value in operation.results],
            context,
        )
        ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(known, context),
                "function_type": ir.TypeAttr.get(kind, context),
                "sym_visibility": ir.StringAttr.get("private", context),
            },
            regions=1,
            loc=operation.location,
            ip=ir.InsertionPoint(index.module.body),
        )
        bound[known] = name
    return ir.FlatSymbolRefAttr.get(known, context)
