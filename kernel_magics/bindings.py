"""What the declarations of a program mean: functions of other units, of the right type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernel_magics.call.program import Binding, Program
from kernel_magics.errors import LinkError
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.signature import Signature, read_signature
from kernel_magics.ir.symbols import TopLevelOp
from kernel_magics.ir.unit import ParsedUnit
from kernel_magics.session_units import SessionUnit


@dataclass(frozen=True, slots=True)
class Meaning:
    """One function that a declaration can mean."""

    unit: SessionUnit
    name: str
    """As its author calls it."""

    @property
    def merged_name(self) -> str:
        """Its name in the session module."""
        return self.unit.report[self.name].new_name

    @property
    def binding(self) -> Binding:
        """It as a program, for calls from elsewhere."""
        return Binding(self.name, self.unit.functions[self.name].program)

    @property
    def definition(self) -> TopLevelOp:
        """The op that defines it."""
        return self.unit.index.by_name[self.name]


def meanings_on_offer(units: Iterable[SessionUnit]) -> dict[str, Meaning]:
    """What declarations can mean: public functions by name, the latest first, offers last."""
    found: dict[str, Meaning] = {}
    for unit in sorted(units, key=lambda unit: (not unit.is_offer, unit.serial)):
        found |= {name: Meaning(unit, name) for name in unit.functions if _has_body(unit, name)}
    return found


def resolve(unit: ParsedUnit, on_offer: Mapping[str, Meaning]) -> dict[str, Meaning]:
    """What each declaration of a program means; those that mean nothing here are left out.

    Raises:
        LinkError: A declaration has another type than the function of its name.
    """
    found: dict[str, Meaning] = {}
    for op in unit.index.functions():
        meaning = on_offer.get(op.name or "") if op.is_declaration else None
        if meaning is not None:
            _check_type(op, meaning, unit)
            found[meaning.name] = meaning
    return found


def fits(unit: SessionUnit, name: str, meaning: Meaning) -> bool:
    """Whether a unit that was linked declares a function with the type that it has."""
    # The declaration itself is gone; its text is not.
    declared = Program(unit.source, name).signature
    return _signature_types(declared) == _types(meaning.definition, meaning.unit)


def _check_type(declaration: TopLevelOp, meaning: Meaning, unit: ParsedUnit) -> None:
    wanted, given = _types(declaration, unit), _types(meaning.definition, meaning.unit)
    if wanted == given:
        return
    place = position(declaration.location, unit.source)
    raise LinkError(
        f"`@{meaning.name}` is declared with another type than unit `{meaning.unit.name}` gives it",
        where=[unit.source.excerpt(*place)] if place else (),
        details=[f"declared: {_shown(wanted)}", f"defined: {_shown(given)}"],
        advice="Declare it as it is defined, or give the declaration another name.",
    )


def _types(op: TopLevelOp, unit: ParsedUnit | SessionUnit) -> tuple[list[str], list[str]]:
    return _signature_types(read_signature(op, unit.source))


def _signature_types(signature: Signature) -> tuple[list[str], list[str]]:
    arguments = [argument.type.mlir_type for argument in signature.arguments]
    return arguments, [kind.mlir_type for kind in signature.results]


def _shown(types: tuple[list[str], list[str]]) -> str:
    return f"({', '.join(types[0])}) -> ({', '.join(types[1])})"


def _has_body(unit: SessionUnit, name: str) -> bool:
    return not unit.index.by_name[name].is_declaration
