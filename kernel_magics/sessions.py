"""The notebook's module: units come in, are replaced and dropped, are saved and restored."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax

from kernel_magics.bindings import Meaning
from kernel_magics.call.function import HloFunction
from kernel_magics.errors import LinkError, SessionError
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.functions import merge_graphs
from kernel_magics.ir import archive
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import ambiguous, default_entry, named_entry
from kernel_magics.ir.link_report import LinkReport
from kernel_magics.ir.source import Code, Source, read_source
from kernel_magics.ir.unit import ParsedUnit, read_unit
from kernel_magics.linked_units import LinkedUnits
from kernel_magics.session_changes import SessionChanges
from kernel_magics.session_file import archived, restored
from kernel_magics.session_module import SessionModule
from kernel_magics.session_units import SessionUnit

_BARE_NAME = re.compile(r"[A-Za-z_][\w$.]*")


class Session:
    """One linked MLIR module, and the functions that its units define.

    Everything in the module is private and has a name of its own; `functions` finds the public
    functions under the names that their authors gave. Starts empty, and cheap.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._made: LinkedUnits | None = None
        self._changes = SessionChanges()

    @without_collections()
    def define(self, code: Code, *, name: str | None = None) -> LinkReport:
        """Links a program into the session module.

        Args:
            code: MLIR or HLO, as text or bytes, a function exported by JAX, or a path to a file
                of these.
            name: The unit's name; a unit of this name is replaced. Without one the program
                stands by itself.

        Returns:
            What became of each of its symbols.

        Raises:
            SourceError: It is not a program that we take.
            LinkError: It contradicts what the session holds. The session is unchanged.
        """
        return self.add(self.read(read_source(code)), name or self.next_name()).report

    @without_collections()
    def load(
        self, code: Code, *, name: str | None = None, func_name: str | None = None
    ) -> HloFunction:
        """Links a program and gives the function to call.

        Args:
            code: MLIR or HLO, as text or bytes, a function exported by JAX, or a path to a file
                of these.
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

    def offer(self, function: Callable[..., Any], *example_args: Any, name: str) -> LinkReport:
        """Lets MLIR programs declare and call a JAX function.

        Args:
            function: Traced and lowered once, for arguments like the examples.
            *example_args: Arrays, `jax.ShapeDtypeStruct`s, or trees of them.
            name: What a program declares: `func.func private @name(…) -> …`. A public function
                of a unit with this name goes first.

        Raises:
            LinkError: The name cannot be written in MLIR without quotes.
        """
        if not _BARE_NAME.fullmatch(name):
            raise LinkError(
                f"`{name}` cannot be the name of an offered function",
                advice="Use letters, digits, `_`, `$` and `.`, and begin with a letter.",
            )
        text = jax.jit(function).lower(*example_args).as_text()
        text = text.replace("func.func public @main(", f"func.func public @{name}(", 1)
        unit = self.read(Source(text, f"JAX function {name}"))
        return self.add(unit, f"jax:{name}", entry=name, is_offer=True).report

    @property
    def units(self) -> Mapping[str, SessionUnit]:
        """The units by name, in the order in which they first came in."""
        # To be asked makes no module: views ask whenever something changed.
        return MappingProxyType(self._made.units if self._made else {})

    @property
    def functions(self) -> Mapping[str, HloFunction]:
        """Public functions by their authors' names, and entries by the names of their units.

        The latest definition of a name wins.
        """
        found: dict[str, HloFunction] = {}
        for unit in sorted(self.units.values(), key=lambda unit: unit.serial):
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
        return self._linked.module.text(elide)

    @without_collections()
    def graph(self) -> FunctionGraph:
        """All functions of the session and how they call each other."""
        return merge_graphs((unit.graph for unit in self.units.values()), "session")

    def drop(self, name: str, *, force: bool = False) -> None:
        """Takes a unit out of the session; functions that a user still holds keep working.

        Args:
            name: The unit.
            force: Also when units are bound to it; those keep its functions as they are.

        Raises:
            SessionError: There is no unit of this name, or others are bound to it.
        """
        if name not in self.units:
            known = ", ".join(f"`{unit}`" for unit in self.units) or "none"
            raise SessionError(
                f"The session has no unit `{name}`",
                details=[f"units: {known}"],
                advice="`%hlo functions` lists the units with what they define.",
            )
        dependents = [unit.name for unit in self._linked.bound_to(name)]
        if dependents and not force:
            raise SessionError(
                f"Unit `{name}` is in use",
                details=[f"bound to it: {', '.join(f'`{other}`' for other in dependents)}"],
                advice="Drop those first, or `drop(name, force=True)`: they keep what they use.",
            )
        self._linked.remove(name)
        self._changes.forget(name)
        self._changes.announce()

    def reset(self) -> None:
        """Forgets everything; functions that a user still holds keep working."""
        for name in list(self.units):
            self._linked.remove(name)
            self._changes.forget(name)
        self._names.clear()
        self._made = None
        self._changes.announce()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the module, its names and where they came from as one file.

        A portable artifact, which later versions read too; MLIR bytecode where the module holds
        what has no portable form. A write that is interrupted leaves the file as it was.

        Raises:
            SessionError: The file cannot be written.
        """
        module = self._linked.module.module
        units = [archived(unit, module) for unit in self.units.values()]
        units += [archived(unit, module, is_retired=True) for unit in self._linked.retired]
        archive.write_file(Path(path).expanduser(), archive.write(module, units))

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Brings back what `save` wrote, in place of what the session holds.

        Raises:
            SourceError: The file cannot be read, or is text and no program.
            SessionError: It is not a saved session, is damaged, or is of another jaxlib. The
                session is unchanged.
        """
        module, found = archive.read(read_source(Path(path)), new_context())
        units = restored(module, found)
        self.reset()
        alive = [unit for unit, is_retired in units if not is_retired]
        retired = [unit for unit, is_retired in units if is_retired]
        self._made = LinkedUnits(SessionModule(module), alive, retired)
        self._changes.announce()

    def unchanged(self, source: Source, name: str) -> SessionUnit | None:
        """The unit `name` if this text made it and would make the same again, without parsing.

        It is the latest definition then. One with a declaration that means nothing yet is not
        given: it may mean something by now.
        """
        unit = self.units.get(name)
        if unit is None or unit.source.content != source.content:
            return None
        unbound = [op for op in unit.index.functions() if op.is_declaration]
        if any(op.name not in unit.report.bound for op in unbound):
            return None
        return self._linked.make_latest(name)

    def read(self, source: Source) -> ParsedUnit:
        """Reads a program into the session's context, not yet into its module."""
        return read_unit(source, self._linked.module.context)

    def add(
        self, unit: ParsedUnit, name: str, *, entry: str | None = None, is_offer: bool = False
    ) -> SessionUnit:
        """Links what `read` gave under a unit's name; see `LinkedUnits.add`."""
        before = self.units.get(name)
        made = self._linked.add(unit, name, entry=entry, is_offer=is_offer)
        if before is not None and before.text != made.text:
            self._changes.keep(name, before.text)
        self._changes.announce()
        return made

    def meanings(self, unit: ParsedUnit, name: str) -> dict[str, Meaning]:
        """What the declarations of a program would mean, were it linked as the unit `name`.

        Raises:
            LinkError: A declaration has another type than what it means, or two units would
                call each other.
        """
        return self._linked.meanings(unit, name)

    def on_offer(self, name: str) -> dict[str, Meaning]:
        """All that declarations of the unit `name` could mean."""
        return self._linked.on_offer(name)

    def put_back(self, name: str, unit: SessionUnit | None) -> None:
        """Undoes a definition: what the name stood for before holds again, if anything did."""
        if unit is None:
            self.drop(name)
            return
        refused = self.units.get(name)
        self._linked.add(self.read(unit.source), name, entry=unit.entry)
        if refused is not None and refused.text != unit.text:
            self._changes.undo(name)
        self._changes.announce()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Has a bound method called after each change of the units, while its object lives."""
        self._changes.subscribe(listener)

    def earlier_texts(self, name: str) -> tuple[str, ...]:
        """What a unit said before it was replaced, the oldest first; at most 20 texts."""
        return self._changes.earlier(name)

    def next_name(self, cell: str = "") -> str:
        """A name for a unit that has none; the same again for the same cell.

        Args:
            cell: The id of the notebook's cell; empty where there is none.
        """
        if cell in self._names:
            return self._names[cell]
        number = len(self.units) + 1
        while f"unit {number}" in self.units:
            number += 1
        if cell:
            self._names[cell] = f"unit {number}"
        return f"unit {number}"

    @property
    def _linked(self) -> LinkedUnits:
        if self._made is None:
            self._made = LinkedUnits(SessionModule())
        return self._made
