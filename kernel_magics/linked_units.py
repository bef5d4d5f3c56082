"""The units of a session, linked into one module: added, followed by others, removed."""

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace

from jax.extend.mlir import ir

from kernel_magics.bindings import Meaning, fits, meanings_on_offer, resolve
from kernel_magics.call.function import Version
from kernel_magics.errors import LinkError
from kernel_magics.interrupts import uninterrupted
from kernel_magics.ir.entry import default_entry
from kernel_magics.ir.fingerprint import Fingerprints, fingerprints
from kernel_magics.ir.link import find_equals, renamed_attributes
from kernel_magics.ir.link_report import LinkReport
from kernel_magics.ir.module_attributes import Attributes, merge_attributes, read_attributes
from kernel_magics.ir.references import ReferenceRewriter
from kernel_magics.ir.targets import call_targets, served_declarations
from kernel_magics.ir.unit import ParsedUnit, read_unit, scanned
from kernel_magics.session_module import SessionModule
from kernel_magics.session_symbols import SessionSymbols
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
        self._symbols = SessionSymbols()
        self._attributes: Attributes = {}
        for unit in units:
            self._put(unit)
        for unit in self.retired:
            self._symbols.put(unit)
            self._symbols.pop(unit)
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
        """Links a program under a unit's name; functions that are there are used again.

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
        unit = _with_targets(unit, meanings)
        default = default_entry(unit.index)
        entry = entry or (default.name if default else None)
        known = {key: self._symbols.fingerprint(m.merged_name) for key, m in meanings.items()}
        prints = fingerprints(unit.index, unit.texts, known)
        self._check_attributes(unit, name, prints)
        if serial is None:
            self._serial += 1
        # From here on nothing fails, and nothing interrupts.
        with uninterrupted():
            return self._put_in_place(
                unit, name, entry, meanings, prints, serial or self._serial, is_offer=is_offer
            )

    def _put_in_place(
        self,
        unit: ParsedUnit,
        name: str,
        entry: str | None,
        meanings: Mapping[str, Meaning],
        prints: Fingerprints,
        serial: int,
        *,
        is_offer: bool,
    ) -> SessionUnit:
        """Links a unit that fits, in place of its old version, and those bound to that again."""
        bound = {key: meaning.merged_name for key, meaning in meanings.items()}
        before, order = self.units.get(name), list(self.units)
        stays = self._stays(before, prints)
        followers = [other for other in self.bound_to(name) if not stays >= _uses_of(other, before)]
        makes_room = before is not None and not followers
        if makes_room:
            # Nothing needs the old version: its names are free for what takes its place.
            kept = {self._symbols.known.get(mark, "") for mark in prints.values()}
            self._sweep([self._pop(name)], kept)
        report, own = self._link(unit, name, bound, prints)
        report = replace(self._symbols.credit(report, before), notes=unit.notes)
        versions = _versions(before, stays)
        bound_to = tuple(meaning.binding for meaning in meanings.values())
        made = make_unit(
            unit, report, entry, serial, own, bound_to, versions=versions, is_offer=is_offer
        )
        self._put(made)
        if makes_room:
            self.units = {key: self.units[key] for key in order}
        self.module.set_attributes(self._attributes)
        if before is not None:
            _mark_outdated(before, versions)
        if before is not None and not makes_room:
            self._follow(before, made, followers)
        return self.units[name]

    def _stays(self, before: SessionUnit | None, prints: Fingerprints) -> set[str]:
        """Symbols of a unit's old version that its new one has under the same author's names."""
        symbols = before.report.symbols if before else ()
        return {
            s.new_name for s in symbols if s.fingerprint and s.fingerprint == prints.get(s.old_name)
        }

    def _check_attributes(self, unit: ParsedUnit, name: str, prints: Fingerprints) -> None:
        """Raises where a unit contradicts others; then what its old version said is forgotten."""
        present = self._attributes
        if name in self.units:
            present = _merged_attributes(self._others(name))
        served, _ = find_equals(unit.index, self._symbols.known, (), prints)
        own = renamed_attributes(unit.module, ReferenceRewriter(served, self.module.context))
        merge_attributes(own, present, unit=f"`{name}`", widen=True)
        self._attributes = present
        self.module.set_attributes(present)

    def _link(
        self, unit: ParsedUnit, name: str, bound: Mapping[str, str], prints: Fingerprints
    ) -> tuple[LinkReport, Attributes]:
        """What linking did, and the unit's module attributes, which may name symbols anew."""
        wanted = read_attributes(unit.module.operation)
        report = self.module.link(unit, name, bound, prints, self._symbols)
        held = read_attributes(self.module.module.operation)
        return report, {key: held[key] for key in wanted if key in held}

    def _follow(
        self, before: SessionUnit, after: SessionUnit, followers: Iterable[SessionUnit]
    ) -> None:
        """Links again what was bound to a unit's old version, where the new one fits."""
        relinked, outdated = list[str](), list[str]()
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

    def _sweep(self, leaving: list[SessionUnit], kept: Collection[str] = ()) -> None:
        """Erases old versions that nothing is bound to any more; keeps the others aside.

        Args:
            leaving: Units that are old versions now.
            kept: Symbols that stay all the same.
        """
        self.retired += leaving
        in_use = True
        while in_use:
            alive = [*self.units.values(), *self.retired]
            gone = [u for u in self.retired if not any(o.is_bound_to(u) for o in alive)]
            self.retired = [unit for unit in self.retired if unit not in gone]
            alive = [*self.units.values(), *self.retired]
            names = set[str]().union(*(unit.merged_names for unit in gone))
            names = names.difference(kept, *(unit.merged_names for unit in alive))
            self.module.erase(sorted(names), [op for unit in gone for op in unit.nameless])
            self._symbols.forget(names)
            in_use = bool(gone)
        self._attributes = _merged_attributes(self.units.values())
        self.module.set_attributes(self._attributes)

    def _uses(self, unit: SessionUnit, name: str) -> bool:
        """Whether a unit calls the unit `name`, directly or not."""
        seen: set[str] = set()
        pending = [unit]
        while pending:
            user = pending.pop()
            used = [o for o in self.units.values() if o.name not in seen and user.is_bound_to(o)]
            seen.update(other.name for other in used)
            pending += used
        return name in seen

    def _put(self, unit: SessionUnit) -> None:
        """Takes a unit in, in place of one of its name; all that grows with it stays cheap."""
        if unit.name in self.units:
            self._symbols.pop(self.units[unit.name])
        self.units[unit.name] = unit
        self._symbols.put(unit)
        added = merge_attributes(unit.attributes, self._attributes, unit=unit.name, widen=True)
        self._attributes = {**self._attributes, **added}

    def _pop(self, name: str) -> SessionUnit:
        unit = self.units.pop(name)
        self._symbols.pop(unit)
        return unit

    def _others(self, name: str) -> list[SessionUnit]:
        return [unit for unit in self.units.values() if unit.name != name]


def _merged_attributes(units: Iterable[SessionUnit]) -> Attributes:
    merged: dict[str, ir.Attribute] = {}
    for unit in units:
        merged |= merge_attributes(unit.attributes, merged, unit=unit.name, widen=True)
    return merged


def _with_targets(unit: ParsedUnit, meanings: Container[str]) -> ParsedUnit:
    """A program whose declarations of registered custom calls are such calls."""
    served = served_declarations(unit.index, meanings)
    if not served:
        return unit
    call_targets(unit.index, served)
    return scanned(unit.source, unit.module)


def _uses_of(unit: SessionUnit, other: SessionUnit | None) -> set[str]:
    """The symbols of another unit that declarations of a unit mean."""
    return other.merged_names & set(unit.report.bound.values()) if other else set()


def _still_fits(unit: SessionUnit, before: SessionUnit, after: SessionUnit) -> bool:
    """Whether all that a unit uses of another's old version is in the new one, of that type."""
    names = [name for name, symbol in unit.report.bound.items() if symbol in before.merged_names]
    public = meanings_on_offer([after])
    return all(name in public and fits(unit, name, public[name]) for name in names)


def _versions(unit: SessionUnit | None, stays: Collection[str]) -> dict[str, Version]:
    """The versions of those functions of a unit whose symbols stay."""
    symbols = unit.report.symbols if unit else ()
    kept = {symbol.old_name for symbol in symbols if symbol.new_name in stays}
    return {n: f.version for n, f in unit.functions.items() if n in kept} if unit else {}


def _mark_outdated(unit: SessionUnit, versions: Container[str] = ()) -> None:
    """Tells functions that a user may hold, but for those whose version is still there."""
    for name, function in unit.functions.items():
        if name not in versions:
            function.retire()
