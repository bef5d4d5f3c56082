"""Declarations that mean a registered custom call: their calls become custom calls."""

from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from jax.extend.mlir import ir

from kernel_magics.ir.symbols import CALLS, CUSTOM_CALL, SymbolIndex, TopLevelOp, rescan


@dataclass(frozen=True, slots=True)
class TargetForm:
    """How a custom call of a target is written."""

    api_version: int = 4
    """XLA's calling convention: 4 is the typed FFI."""
    has_side_effect: bool = False


@dataclass(frozen=True, slots=True)
class ServedTargets(Collection[str]):
    """Targets that have a handler where a program is compiled."""

    names: frozenset[str]
    place: str
    """In words, such as "on the plugin `cpu`"."""
    registered: tuple[str, ...] = ()
    """Those that a user has registered."""

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class TargetResolver(Protocol):
    """Who knows the custom-call targets that are registered."""

    def form(self, target: str) -> TargetForm | None:
        """How a call of the target is written; None where it is not registered."""
        ...


class _NoTargets:
    def form(self, target: str) -> TargetForm | None:
        del target


_resolver: TargetResolver = _NoTargets()


def resolve_targets_with(resolver: TargetResolver | None) -> TargetResolver:
    """Says who knows the registered targets, for every module read from now on.

    Args:
        resolver: None for nobody.

    Returns:
        The one before, to be put back.
    """
    global _resolver
    before, _resolver = _resolver, resolver or _NoTargets()
    return before


def is_registered(target: str) -> bool:
    """Whether a target is registered here: its handlers have been tried, or were not to be."""
    return _resolver.form(target) is not None


def served_declarations(index: SymbolIndex, bound: Container[str] = ()) -> dict[str, TargetForm]:
    """Declarations that mean a registered target, for they mean nothing else.

    Args:
        index: The scan of a module.
        bound: Declarations that mean a function.
    """
    declared = [op.name or "" for op in index.functions() if op.is_declaration]
    forms = {name: _resolver.form(name) for name in declared if name not in bound}
    return {name: form for name, form in forms.items() if form is not None}


def call_targets(index: SymbolIndex, served: dict[str, TargetForm]) -> None:
    """Writes calls of declarations as custom calls of the targets of their names, in place.

    A declaration that something else than a call refers to gets a body that makes the call.

    Args:
        index: The scan of a module; stale afterwards.
        served: What `served_declarations` gave.
    """
    for op in index.ops:
        if op.is_copy:
            rescan(op)
    for use in [use for op in index.ops for use in op.uses]:
        name = use.symbols[0]
        if name in served and use.operation.name == CALLS:
            _replace(use.operation, name, served[name])
    others = _named_elsewhere(index.ops, served)
    for name, form in served.items():
        declaration = index.by_name[name].operation
        if name in others:
            _give_body(declaration, name, form)
        else:
            declaration.erase()


def _named_elsewhere(ops: Iterable[TopLevelOp], served: Container[str]) -> set[str]:
    references = (reference for op in ops for reference in op.references)
    return {name for name, kind in references if name in served and kind != CALLS}


def _replace(call: ir.Operation, name: str, form: TargetForm) -> None:
    made = _custom_call(
        name,
        form,
        list(call.operands),
        [r.type for r in call.results],
        call.location,
        ir.InsertionPoint(call),
    )
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()


def _give_body(declaration: ir.Operation, name: str, form: TargetForm) -> None:
    function_type = ir.FunctionType(ir.TypeAttr(declaration.attributes["function_type"]).value)
    location = declaration.location
    block = declaration.regions[0].blocks.append(
        *function_type.inputs, arg_locs=[location] * len(function_type.inputs)
    )
    point = ir.InsertionPoint(block)
    made = _custom_call(name, form, list(block.arguments), function_type.results, location, point)
    ir.Operation.create("func.return", operands=list(made.results), loc=location, ip=point)


def _custom_call(
    name: str,
    form: TargetForm,
    operands: list[ir.Value[Any]],
    results: Iterable[ir.Type],
    location: ir.Location,
    point: ir.InsertionPoint,
) -> ir.Operation:
    context = location.context
    attributes: dict[str, ir.Attribute] = {
        "call_target_name": ir.StringAttr.get(name, context),
        "api_version": ir.IntegerAttr.get(
            ir.IntegerType.get_signless(32, context), form.api_version
        ),
        "has_side_effect": ir.BoolAttr.get(form.has_side_effect, context),
    }
    return ir.Operation.create(
        CUSTOM_CALL,
        results=list(results),
        operands=operands,
        attributes=attributes,
        loc=location,
        ip=point,
    )
