"""Units of a session to and from what a saved file remembers of them."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from jax.extend.mlir import ir

from kernel_magics.call.program import Binding
from kernel_magics.errors import SourceError
from kernel_magics.ir import archive
from kernel_magics.ir.context import new_context
from kernel_magics.ir.module_attributes import read_attributes
from kernel_magics.ir.source import Source
from kernel_magics.ir.unit import ParsedUnit, read_unit
from kernel_magics.session_units import SessionUnit, make_unit


def archived(
    unit: SessionUnit, module: ir.Module, *, is_retired: bool = False
) -> archive.ArchivedUnit:
    """What a file remembers of a unit of a session module."""
    places: tuple[int, ...] = ()
    if unit.nameless:
        top = [view.operation for view in module.body.operations]
        places = tuple(place for place, operation in enumerate(top) if operation in unit.nameless)
    return archive.ArchivedUnit(
        name=unit.name,
        entry=unit.entry,
        serial=unit.serial,
        report=unit.report,
        text=unit.text,
        place=unit.source.name,
        first_line=unit.source.first_line,
        is_offer=unit.is_offer,
        is_retired=is_retired,
        nameless=places,
    )


def restored(
    module: ir.Module, found: Sequence[archive.ArchivedUnit]
) -> list[tuple[SessionUnit, bool]]:
    """The units of a saved module, bound as they were, and whether each is an old version."""
    made: dict[int, SessionUnit] = {}

    def make(number: int) -> SessionUnit:
        if number not in made:
            unit = found[number]
            bindings = [_binding(name, symbol) for name, symbol in unit.report.bound.items()]
            made[number] = _unit(module, unit, tuple(bindings))
        return made[number]

    def _binding(name: str, symbol: str) -> Binding:
        owner = next(i for i, unit in enumerate(found) if symbol in _own_names(unit))
        return Binding(name, make(owner).functions[name].program)

    return [(make(number), unit.is_retired) for number, unit in enumerate(found)]


def _own_names(unit: archive.ArchivedUnit) -> Iterable[str]:
    return (symbol.new_name for symbol in unit.report.symbols if symbol.why != "bound")


def _unit(
    module: ir.Module, unit: archive.ArchivedUnit, bindings: tuple[Binding, ...]
) -> SessionUnit:
    parsed = _read_again(module, unit)
    top = [view.operation for view in module.body.operations] if unit.nameless else []
    made = make_unit(
        parsed,
        unit.report,
        unit.entry,
        unit.serial,
        read_attributes(module.operation),
        bindings,
        is_offer=unit.is_offer,
    )
    return replace(made, nameless=tuple(top[place] for place in unit.nameless))


def _read_again(module: ir.Module, unit: archive.ArchivedUnit) -> ParsedUnit:
    """The author's text where this jaxlib still reads it, else what the module holds of it."""
    if unit.text is not None:
        with suppress(SourceError):
            return read_unit(Source(unit.text, unit.place, unit.first_line), new_context())
    return read_unit(Source(archive.extract(module, unit.report), unit.name), new_context())
