"""`%%hlo`: from the text of a cell to functions in the user's namespace."""

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import jax
from IPython.core.interactiveshell import InteractiveShell
from jax.errors import JaxRuntimeError

from kernel_magics.call.failure import compile_error
from kernel_magics.call.function import HloFunction
from kernel_magics.compile.background import Job
from kernel_magics.compile.cost import read_cost
from kernel_magics.errors import CompileError, CompileInterrupted
from kernel_magics.ir.arguments import check_callable
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.entry import ambiguous, default_entry, named_entry
from kernel_magics.ir.legalize import lowered_copy
from kernel_magics.ir.link_report import LinkedSymbol, LinkReport
from kernel_magics.ir.preflight import preflight
from kernel_magics.ir.signature import Signature, read_signature
from kernel_magics.ir.source import Source
from kernel_magics.ir.targets import served_declarations
from kernel_magics.ir.unit import ParsedUnit
from kernel_magics.magics.arguments import HelpShown, cell_parser
from kernel_magics.magics.binding import Binding, bind
from kernel_magics.magics.display import CellView, GraphView, TextView
from kernel_magics.session_units import SessionUnit
from kernel_magics.sessions import Session

ELIDED = 16
"""Constants of more elements than this are shortened in what a cell shows."""


class HloCell:
    """The `%%hlo` magic of one shell."""

    __name__ = "hlo"

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        self._shell = shell
        self._session = session
        self._raw_cell = ""
        self._cell_id = ""

    def remember(self, info: Any) -> None:
        """Notes the cell that is about to run: its text before IPython took the magic off."""
        self._raw_cell = info.raw_cell or ""
        self._cell_id = info.cell_id or ""

    def keep_empty_body(self, lines: list[str]) -> list[str]:
        """An input transformer: IPython refuses an empty body itself, without an example."""
        is_bare = len(lines) == 1 and lines[0].split() and lines[0].split()[0] == "%%hlo"
        return [*lines, "\n"] if is_bare else lines

    def __call__(self, line: str, cell: str) -> CellView | None:
        """Links the program of the cell, binds its functions, shows the graph, compiles.

        `%%hlo --help` lists the options.
        """
        try:
            options = cell_parser().parse_line(line)
        except HelpShown:
            return None
        source = self._source(cell)
        name = options.name or self._session.next_name(self._cell_id)
        before = self._session.units.get(name)
        unit = self._session.unchanged(source, name) or self._define(source, name, options)
        if options.func not in (None, unit.entry):
            unit = self._define(source, name, options)
        for other in unit.report.relinked:
            bind(self._shell, self._session.units[other])
        binding = bind(self._shell, unit)
        note = "\n".join(filter(None, [binding.note, summary(unit.report)]))
        view = CellView(self._shell, self._content(unit, options, note), unit.report)
        view.show()
        if not options.no_compile and unit.entry is not None:
            try:
                view.complete(_compile(unit.functions[unit.entry]))
            except CompileInterrupted:
                raise
            except CompileError:
                self._put_back(name, before, binding)
                raise
        return view

    @without_collections()
    def _define(self, source: Source, name: str, options: argparse.Namespace) -> SessionUnit:
        """Links the program, unless it could not be compiled: then it leaves no trace."""
        read = self._session.read(source)
        entry = _entry(read, options)
        if entry is not None and not options.no_compile:
            check_callable(entry, read.source)
            meanings = self._session.meanings(read, name)
            on_offer = self._session.on_offer(name)
            bound = {*meanings, *served_declarations(read.index, meanings)}
            seen = lowered_copy(read, entry.name)
            preflight(seen, entry.name, read.source, bound=bound, on_offer=on_offer)
        return self._session.add(read, name, entry=entry.name if entry else None)

    def _put_back(self, name: str, before: SessionUnit | None, binding: Binding) -> None:
        """Undoes a cell that XLA refused: its unit, its variables, and the units that followed."""
        binding.undo()
        self._session.put_back(name, before)
        if before is None:
            return
        again = self._session.units[name]
        old = {id(function): key for key, function in before.functions.items()}
        for variable, value in binding.before.items():
            if id(value) in old:
                self._shell.push({variable: again.functions[old[id(value)]]})
        for other in again.report.relinked:
            bind(self._shell, self._session.units[other])

    def _source(self, cell: str) -> Source:
        """The body with the line at which it begins in the cell, blank lines in front included."""
        body = cell.rstrip()
        before, found, _ = self._raw_cell.rpartition(body) if body else ("", "", "")
        in_this_cell = bool(found) and before.lstrip().startswith("%%")
        return Source(cell, "cell", before.count("\n") + 1 if in_this_cell else 2)

    def _content(
        self, unit: SessionUnit, options: argparse.Namespace, note: str
    ) -> GraphView | TextView | None:
        if options.show == "graph":
            return GraphView(self._session.graph(), note)
        if options.show == "text":
            return TextView(self._session.module_text(elide=ELIDED), note)
        if options.show == "symbols":
            return TextView(str(unit.report), note)
        return None


def _entry(unit: ParsedUnit, options: argparse.Namespace) -> Signature | None:
    """The entry's signature; None for a cell that just defines several functions."""
    if options.func:
        op = named_entry(unit.index, options.func, unit.source)
    else:
        op = default_entry(unit.index)
    if op is None and options.name and unit.index.public_functions():
        raise ambiguous(unit.index, unit.source)
    return read_signature(op, unit.source) if op is not None else None


def summary(report: LinkReport) -> str:
    """What linking did to a unit, in a line: `blend: 2 kept · 1 renamed`."""
    counts = Counter(_why(symbol, report.unit) for symbol in report.symbols)
    parts = [f"{count:,} {why}" for why, count in counts.items()]
    if report.ops_saved:
        parts.append(f"{report.ops_saved:,} ops saved")
    lines = [f"{report.unit}: {' · '.join(parts) or 'nothing to link'}"]
    if report.outdated:
        lines.insert(0, f"still on the old version, for types differ: {_listed(report.outdated)}")
    if report.relinked:
        lines.insert(0, f"linked again: {_listed(report.relinked)}")
    return "\n".join([*lines, *report.notes])


def _why(symbol: LinkedSymbol, unit: str) -> str:
    if symbol.why != "reused":
        return symbol.why
    return "equal to another" if symbol.reused_from == unit else f"reused from {symbol.reused_from}"


def _listed(units: Sequence[str]) -> str:
    return ", ".join(f"`{unit}`" for unit in units)


def _compile(function: HloFunction) -> str:
    """Compiles for the default device; says what it took.

    Raises:
        CompileError: XLA refused the program.
        CompileInterrupted: The user did not want to wait.
    """
    signature = function.signature
    if signature.is_dynamic:
        return f"`@{signature.name}` has dynamic dimensions: it is compiled when it is called"
    shapes = [jax.ShapeDtypeStruct(a.type.shape or (), a.type.dtype) for a in signature.arguments]
    lowered = function.lower(*shapes)
    began = time.perf_counter()
    try:
        compiled = Job(lowered.compile).wait()
    except JaxRuntimeError as error:
        raise compile_error(function.program, error) from error
    except KeyboardInterrupt:
        # No chain: the interrupt is what the user did, not what went wrong.
        raise CompileInterrupted(
            f"Interrupted: the compile of `@{signature.name}` goes on in the background",
            details=["The functions of this cell are linked and bound."],
            advice="A call waits for its own compile; run the cell again to see what it costs.",
        ) from None
    return str(read_cost(compiled, jax.default_backend(), time.perf_counter() - began))
