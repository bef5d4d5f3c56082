"""The units of a session, linked into one module: added, followed by others, removed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from jax.extend.mlir import ir

from kernel_magics.bindings import Meaning, fits, meanings_on_offer, resolve
from kernel_magics.errors import LinkError
from kernel_magics.ir.entry import default_entry
from kernel_magics.ir.fingerprint import Shape, shape
from kernel_magics.ir.link import LinkReport
from kernel_magics.ir.module_attributes import Attributes, merge_attributes, read_attributes
from kernel_magics.ir.unit import ParsedUnit, read_unit
from kernel_magics.session_module import SessionModule
from kernel_magics.session_units import SessionUnit, make_unit


class LinkedUnits:
    """Units by name, and old versions of them that others are still bound to.

    Attributes:
        units: In the order in which their names first came in.
        retired: Old versions, kept while something is bound to them.
        module: Holds the functions of both.
    """

    def __init__(
        self,
        module: SessionModule,
        units: Iterable[SessionUnit] = (),
        retired: Iterable[SessionUnit] = (),
    ) -> None:
        self.units: dict[str, SessionUnit] = {}
        self.retired = list(retired)
        self.module = module
        self._names_by_shape: dict[Shape, dict[str, None]] = {}
        self._attributes: Attributes = {}
        for unit in units:
            self._put(unit)
        self._serial = max((unit.serial for unit in self.units.values()), default=0)

    def remove(self, name: str) -> None:
        """Takes a unit out; what is bound to it keeps its functions."""
        unit = self._pop(name)
        _mark_outdated(unit)
        self._sweep([unit])

    def make_latest(self, name: str) -> SessionUnit:
        """Gives a unit the last place in the order of definitions."""
        self._serial += 1
        self._put(replace(self.units[name], serial=self._serial))
        return self.units[name]

    def bound_to(self, name: str) -> list[SessionUnit]:
        """The units with a declaration that means a function of the unit `name`."""
        unit = self.units.get(name)
        return [] if unit is None else [o for o in self._others(name) if o.is_bound_to(unit)]

    def meanings(self, unit: ParsedUnit, name: str) -> dict[str, Meaning]:
        """What the declarations of a program would mean, were it linked as the unit `name`.

        Raises:
            LinkError: A declaration has another type than what it means, or two units would
                call each other.
        """
        if not any(op.is_declaration for op in unit.index.functions()):
            return {}
        found = resolve(unit, self.on_offer(name))
        for meaning in found.values():
            if self._uses(meaning.unit, name):
                raise LinkError(
                    f"Units `{name}` and `{meaning.unit.name}` would call each other",
                    details=[f"`@{meaning.name}` is declared here and defined there."],
                    advice="Put functions that call each other into one unit.",
                )
        return found

    def on_offer(self, name: str) -> dict[str, Meaning]:
        """All that declarations of the unit `name` could mean."""
        return meanings_on_offer(self._others(name))

    def add(
        self,
        unit: ParsedUnit,
        name: str,
        *,
        entry: str | None = None,
        is_offer: bool = False,
        serial: int | None = None,
    ) -> SessionUnit:
        """Links a program under a unit's name; content that is there is used again.

        Args:
            unit: The program; empty afterwards.
            name: The unit's name; a unit of this name is replaced, and those bound to it follow.
            entry: The function it is called by; else `@main` or the only public one.
            is_offer: Whether it is a JAX function on offer.
            serial: Its place in the order of definitions; else it is the latest.

        Raises:
            LinkError: It contradicts what the session holds. The session is unchanged.
        """
        meanings = self.meanings(unit, name)
        default = default_entry(unit.index)
        entry = entry or (default.name if default else None)
        outline = shape(unit.index)
        bound = {key: meaning.merged_name for key, meaning in meanings.items()}
        bindings = tuple(meaning.binding for meaning in meanings.values())
        same = self._same(unit, name, outline, bound)
        self._check_attributes(unit, name, same)
        # From here on nothing fails.
        before, followers, order = self.units.get(name), self.bound_to(name), list(self.units)
        makes_room = before is not None and same is None and not followers
        if makes_room:
            # Nothing needs the old version: its names are free for what takes its place.
            self._sweep([self._pop(name)])
        report, own = self._link(unit, name, bound) if same is None else _again(same, name)
        report = replace(report, notes=unit.notes)
        self._serial += serial is None
        number = self._serial if serial is None else serial
        made = make_unit(unit, report, entry, number, own, outline, bindings, is_offer=is_offer)
        self._put(made)
        if makes_room:
            self.units = {key: self.units[key] for key in order}
        self.module.set_attributes(self._attributes)
        if before is not None and before.report.symbols != report.symbols:
            _mark_outdated(before)
            if not makes_room:
                self._follow(before, made, followers)
        return self.units[name]

    def _check_attributes(self, unit: ParsedUnit, name: str, same: SessionUnit | None) -> None:
        """Raises where a unit contradicts others; then what its old version said is forgotten."""
        present = self._attributes
        if name in self.units:
            present = _merged_attributes(self._others(name))
        if same is None:
            own = read_attributes(unit.module.operation)
            merge_attributes(own, present, unit=f"`{name}`", widen=True)
        self._attributes = present
        self.module.set_attributes(present)

    def _same(
        self, unit: ParsedUnit, name: str, outline: Shape, bound: Mapping[str, str]
    ) -> SessionUnit | None:
        """A unit that says the same: first the one of this name, else any."""
        names = [name] if name in self.units else []
        names += [other for other in self._names_by_shape.get(outline, ()) if other != name]
        units = (self.units[other] for other in names)
        return next((u for u in units if u.says_the_same(unit, outline, bound)), None)

    def _link(
        self, unit: ParsedUnit, name: str, bound: Mapping[str, str]
    ) -> tuple[LinkReport, Attributes]:
        """What linking did, and the unit's module attributes, which may name symbols anew."""
        wanted = read_attributes(unit.module.operation)
        report = self.module.link(unit, name, bound)
        held = read_attributes(self.module.module.operation)
        return report, {key: held[key] for key in wanted if key in held}

    def _follow(
        self, before: SessionUnit, after: SessionUnit, followers: Iterable[SessionUnit]
    ) -> None:
        """Links again what was bound to a unit's old version, where the new one fits."""
        relinked: list[str] = []
        outdated: list[str] = []
        self.retired.append(before)
        for unit in followers:
            if not _still_fits(unit, before, after):
                outdated.append(unit.name)
                continue
            relinked.append(unit.name)
            again = read_unit(unit.source, self.module.context)
            self.add(again, unit.name, entry=unit.entry, is_offer=unit.is_offer, serial=unit.serial)
        report = replace(after.report, relinked=tuple(relinked), outdated=tuple(outdated))
        self._put(replace(after, report=report))
        self._sweep([])

    def _sweep(self, leaving: list[SessionUnit]) -> None:
        """Erases old versions that nothing is bound to any more; keeps the others aside."""
        self.retired += leaving
        in_use = True
        while in_use:
            alive = [*self.units.values(), *self.retired]
            gone = [u for u in self.retired if not any(o.is_bound_to(u) for o in alive)]
            self.retired = [unit for unit in self.retired if unit not in gone]
            kept = [*self.units.values(), *self.retired]
            names = set[str]().union(*(unit.merged_names for unit in gone))
            self.module.erase(sorted(names.difference(*(u.merged_names for u in kept))))
            in_use = bool(gone)
        self._attributes = _merged_attributes(self.units.values())
        self.module.set_attributes(self._attributes)

    def _uses(self, unit: SessionUnit, name: str) -> bool:
        """Whether a unit calls the unit `name`, directly or not."""
        used = [other for other in self.units.values() if unit.is_bound_to(other)]
        return any(other.name == name or self._uses(other, name) for other in used)

    def _put(self, unit: SessionUnit) -> None:
        """Takes a unit in, in place of one of its name; all that grows with it stays cheap."""
        if unit.name in self.units:
            self._names_by_shape[self.units[unit.name].shape].pop(unit.name, None)
        self.units[unit.name] = unit
        self._names_by_shape.setdefault(unit.shape, {})[unit.name] = None
        added = merge_attributes(unit.attributes, self._attributes, unit=unit.name, widen=True)
        self._attributes = {**self._attributes, **added}

    def _pop(self, name: str) -> SessionUnit:
        unit = self.units.pop(name)
        self._names_by_shape[unit.shape].pop(name, None)
        return unit

    def _others(self, name: str) -> list[SessionUnit]:
        return [unit for unit in self.units.values() if unit.name != name]


def _merged_attributes(units: Iterable[SessionUnit]) -> Attributes:
    merged: dict[str, ir.Attribute] = {}
    for unit in units:
        merged |= merge_attributes(unit.attributes, merged, unit=unit.name, widen=True)
    return merged


def _again(same: SessionUnit, name: str) -> tuple[LinkReport, Attributes]:
    """The report of a unit that says what another, or itself, said before."""
    report = same.report
    if same.name == name:
        return replace(report, relinked=(), outdated=()), same.attributes
    symbols = tuple(s if s.why == "bound" else replace(s, why="reused") for s in report.symbols)
    return LinkReport(name, symbols, reused_from=report.unit), same.attributes


def _still_fits(unit: SessionUnit, before: SessionUnit, after: SessionUnit) -> bool:
    """Whether all that a unit uses of another's old version is in the new one, of that type."""
    names = [name for name, symbol in unit.report.bound.items() if symbol in before.merged_names]
    public = meanings_on_offer([after])
    return all(name in public and fits(unit, name, public[name]) for name in names)


def _mark_outdated(unit: SessionUnit) -> None:
    for function in unit.functions.values():
        function.is_outdated = True
