"""The notebook's module: units come in, are replaced and dropped, are saved and restored."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from jax.extend.mlir import ir

from kernel_magics.call.function import HloFunction
from kernel_magics.errors import SessionError, SourceError
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.functions import merge_graphs
from kernel_magics.ir import archive
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import ambiguous, default_entry, named_entry
from kernel_magics.ir.fingerprint import Shape, shape
from kernel_magics.ir.link import LinkReport, Target, link
from kernel_magics.ir.module_attributes import Attributes, merge_attributes, read_attributes
from kernel_magics.ir.source import Code, Source, read_source
from kernel_magics.ir.unit import ParsedUnit, read_unit
from kernel_magics.session_units import SessionUnit, make_unit


class Session:
    """One linked MLIR module, and the functions that its units define.

    Everything in the module is private and has a name of its own; `functions` finds the public
    functions under the names that their authors gave. Starts empty, and cheap.
    """

    def __init__(self) -> None:
        self._units: dict[str, SessionUnit] = {}
        self._names: dict[str, str] = {}
        self._serial = 0

    def define(self, code: Code, *, name: str | None = None) -> LinkReport:
        """Links a program into the session module.

        Args:
            code: MLIR text, MLIR bytecode or a portable artifact, or a path to a file of these.
            name: The unit's name; a unit of this name is replaced. Without one the program
                stands by itself.

        Returns:
            What became of each of its symbols.

        Raises:
            SourceError: It is not a program that we take.
            LinkError: It contradicts what the session holds. The session is unchanged.
        """
        return self.add(self.read(read_source(code)), name or self.next_name()).report

    def load(
        self, code: Code, *, name: str | None = None, func_name: str | None = None
    ) -> HloFunction:
        """Links a program and gives the function to call.

        Args:
            code: MLIR text, MLIR bytecode or a portable artifact, or a path to a file of these.
            name: The unit's name; a unit of this name is replaced.
            func_name: The function wanted; else `@main` or the only public one.

        Raises:
            SourceError: It is not a program that we take.
            EntryError: It has no such function, or several and none is chosen.
            LinkError: It contradicts what the session holds. The session is unchanged.
        """
        unit = self.read(read_source(code))
        op = (
            named_entry(unit.index, func_name, unit.source)
            if func_name
            else default_entry(unit.index)
        )
        if op is None or op.name is None:
            raise ambiguous(unit.index, unit.source)
        return self.add(unit, name or self.next_name(), entry=op.name).functions[op.name]

    @property
    def units(self) -> Mapping[str, SessionUnit]:
        """The units by name, in the order in which they first came in."""
        return MappingProxyType(self._units)

    @property
    def functions(self) -> Mapping[str, HloFunction]:
        """Public functions by their authors' names, and entries by the names of their units.

        The latest definition of a name wins.
        """
        found: dict[str, HloFunction] = {}
        for unit in sorted(self._units.values(), key=lambda unit: unit.serial):
            found.update(unit.functions)
            if unit.entry is not None:
                found[unit.name] = unit.functions[unit.entry]
        return MappingProxyType(found)

    def module_text(self, *, elide: int | None = None) -> str:
        """The session module as MLIR text.

        Args:
            elide: Constants of more elements than this are shortened; the text is then for
                reading only.
        """
        operation = self._module.operation
        return str(operation.get_asm(assume_verified=True, large_elements_limit=elide))

    def graph(self) -> FunctionGraph:
        """All functions of the session and how they call each other."""
        return merge_graphs((unit.graph for unit in self._units.values()), "session")

    def drop(self, name: str) -> None:
        """Takes a unit out of the session; functions that a user still holds keep working.

        Raises:
            SessionError: There is no unit of this name.
        """
        if name not in self._units:
            known = ", ".join(f"`{unit}`" for unit in self._units) or "none"
            raise SessionError(
                f"The session has no unit `{name}`",
                details=[f"units: {known}"],
                advice="`%hlo functions` lists the units with what they define.",
            )
        self._erase(name)
        del self._units[name]

    def reset(self) -> None:
        """Forgets everything."""
        self._units.clear()
        self._names.clear()
        self._serial = 0
        for part in ("_context", "_module", "_symbols"):
            self.__dict__.pop(part, None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the module, its names and where they came from as one portable artifact.

        Raises:
            LinkError: The module holds ops that have no portable form.
            SessionError: The file cannot be written.
        """
        units = [
            archive.ArchivedUnit(unit.name, unit.entry, unit.serial, unit.report, unit.text)
            for unit in self._units.values()
        ]
        content = archive.write(self._module, units)
        try:
            Path(path).expanduser().write_bytes(content)
        except OSError as error:
            raise SessionError(
                f"`{path}` cannot be written: {error.strerror or error}",
                advice="Choose a folder that exists and is yours.",
            ) from error

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Brings back what `save` wrote, in place of what the session holds.

        Raises:
            SourceError: The file cannot be read, or holds no program.
            SessionError: It is not a saved session. The session is unchanged.
        """
        context = new_context()
        module, archived = archive.read(read_source(Path(path)), context)
        units = {unit.name: _restored(module, unit) for unit in archived}
        self.reset()
        self._context, self._module = context, module
        self._symbols = ir.SymbolTable(module.operation)
        self._units.update(units)
        self._serial = max((unit.serial for unit in archived), default=0)

    def read(self, source: Source) -> ParsedUnit:
        """Reads a program into the session's context, not yet into its module."""
        return read_unit(source, self._context)

    def add(self, unit: ParsedUnit, name: str, *, entry: str | None = None) -> SessionUnit:
        """Links what `read` gave under a unit's name; content that is there is used again.

        Args:
            unit: The program; empty afterwards.
            name: The unit's name; a unit of this name is replaced.
            entry: The function it is called by; else `@main` or the only public one.

        Raises:
            LinkError: It contradicts what the session holds. The session is unchanged.
        """
        own = read_attributes(unit.module.operation)
        merge_attributes(own, _merged_attributes(self._others(name)), unit=f"`{name}`", widen=True)
        default = default_entry(unit.index)
        entry = entry or (default.name if default else None)
        outline = shape(unit.index)
        # From here on nothing fails.
        report = self._link(unit, name, outline)
        self._serial += 1
        self._units[name] = make_unit(unit, report, entry, self._serial, own, outline)
        return self._units[name]

    def put_back(self, name: str, unit: SessionUnit | None) -> None:
        """Undoes a definition: what the name stood for before holds again, if anything did."""
        if unit is None:
            self.drop(name)
        else:
            self.add(self.read(unit.source), name, entry=unit.entry)

    def next_name(self, cell: str = "") -> str:
        """A name for a unit that has none; the same again for the same cell.

        Args:
            cell: The id of the notebook's cell; empty where there is none.
        """
        if cell in self._names:
            return self._names[cell]
        number = len(self._units) + 1
        while f"unit {number}" in self._units:
            number += 1
        if cell:
            self._names[cell] = f"unit {number}"
        return f"unit {number}"

    @cached_property
    def _context(self) -> ir.Context:
        return new_context()

    @cached_property
    def _module(self) -> ir.Module:
        return ir.Module.create(ir.Location.unknown(self._context))

    @cached_property
    def _symbols(self) -> ir.SymbolTable:
        return ir.SymbolTable(self._module.operation)

    def _link(self, unit: ParsedUnit, name: str, outline: Shape) -> LinkReport:
        """Links, in place of what the name stood for; equal content is not linked again."""
        known = self._units.get(name)
        if known is not None and known.says_the_same(unit, outline):
            return known.report
        self._erase(name)
        equal = [other.report for other in self._others(name) if other.says_the_same(unit, outline)]
        if equal:
            return _reused(equal[0], name)
        target = Target(self._module, self._symbols, widen=True)
        return link(unit.module, unit.index, target, unit=name, tag=unit.source.tag)

    def _erase(self, name: str) -> None:
        """Erases a unit's symbols unless another unit shares them, and its module attributes."""
        if name not in self._units:
            return
        others = self._others(name)
        for symbol in self._units[name].merged_names.difference(*(o.merged_names for o in others)):
            self._symbols.erase(self._symbols[symbol])
        held = self._module.operation.attributes
        for attribute in list(held):
            del held[attribute]
        for attribute, value in _merged_attributes(others).items():
            held[attribute] = value

    def _others(self, name: str) -> list[SessionUnit]:
        return [unit for unit in self._units.values() if unit.name != name]


def _merged_attributes(units: Iterable[SessionUnit]) -> Attributes:
    merged: dict[str, ir.Attribute] = {}
    for unit in units:
        merged |= merge_attributes(unit.attributes, merged, unit=unit.name, widen=True)
    return merged


def _reused(report: LinkReport, unit: str) -> LinkReport:
    symbols = tuple(replace(symbol, why="reused") for symbol in report.symbols)
    return LinkReport(unit, symbols, reused_from=report.unit)


def _restored(module: ir.Module, unit: archive.ArchivedUnit) -> SessionUnit:
    parsed = _read_again(module, unit)
    own = read_attributes(module.operation)
    outline = shape(parsed.index)
    return make_unit(parsed, unit.report, unit.entry, unit.serial, own, outline)


def _read_again(module: ir.Module, unit: archive.ArchivedUnit) -> ParsedUnit:
    """The author's text where this jaxlib still reads it, else what the module holds of it."""
    if unit.text is not None:
        with suppress(SourceError):
            return read_unit(Source(unit.text, unit.name), new_context())
    return read_unit(Source(archive.extract(module, unit.report), unit.name), new_context())
