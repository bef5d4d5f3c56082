"""`%%hlo`: from the text of a cell to functions in the user's namespace."""

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from kernel_magics.call.placement import device_count
from kernel_magics.errors import CompileInterrupted, KernelMagicsError
from kernel_magics.interrupts import uninterrupted
from kernel_magics.ir.arguments import check_callable
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.entry import ambiguous, default_entry, named_entry
from kernel_magics.ir.legalize import lowered_copy
from kernel_magics.ir.link_report import LinkedSymbol, LinkReport
from kernel_magics.ir.preflight import assess, refusal
from kernel_magics.ir.signature import Signature, read_signature
from kernel_magics.ir.source import Source
from kernel_magics.ir.targets import served_declarations
from kernel_magics.ir.unit import ParsedUnit
from kernel_magics.magics.arguments import HelpShown, cell_parser
from kernel_magics.magics.binding import Binding, bind
from kernel_magics.magics.compiling import compile_entry
from kernel_magics.magics.display import CellView, Displays, GraphView
from kernel_magics.magics.place import body_source
from kernel_magics.magics.plugins import device_for, place, working_there
from kernel_magics.magics.reopened import ReopenedViews
from kernel_magics.magics.runs import limit_runs
from kernel_magics.sandbox.kernel import kernel_sandbox
from kernel_magics.sandbox.policy import Policy, policy, using
from kernel_magics.session_units import SessionUnit
from kernel_magics.sessions import Session

_OURS = ("%%hlo", "%%custom_call")
ELIDED = 16
"""Constants of more elements than this are shortened in what a cell shows."""


class HloCell:
    """The `%%hlo` magic of one shell."""

    __name__ = "hlo"

    def __init__(
        self,
        shell: InteractiveShell,
        session: Session,
        displays: Displays,
        reopened: ReopenedViews,
    ) -> None:
        self._shell = shell
        self._session = session
        self.displays = displays
        self.reopened = reopened
        self._raw_cell = ""
        self._cell_id = ""

    def remember(self, info: Any) -> None:
        """Notes the cell that is about to run: its text before IPython took the magic off."""
        self._raw_cell = info.raw_cell or ""
        self._cell_id = info.cell_id or ""
        self.displays.begin(self._cell_id)

    def keep_empty_body(self, lines: list[str]) -> list[str]:
        """An input transformer: IPython refuses an empty body itself, without an example."""
        is_bare = len(lines) == 1 and lines[0].split() and lines[0].split()[0] in _OURS
        return [*lines, "\n"] if is_bare else lines

    def __call__(self, line: str, cell: str) -> CellView | None:
        """Links the program of the cell, binds its functions, shows the graph, compiles.

        `%%hlo --help` lists the options.
        """
        try:
            options = cell_parser().parse_line(line)
        except HelpShown:
            return None
        general = policy()
        wanted = Policy(options.trial or general.when, options.timeout or general.timeout_s)
        device = device_for(options.on)
        with using(wanted), working_there(device):
            return self._run(self._source(cell), options)

    def _run(self, source: Source, options: argparse.Namespace) -> CellView:
        name = options.name or self._session.next_name(self._cell_id)
        if not self._cell_id:
            # A front end that names no cells: the unit stands for the one that defines it.
            self.displays.begin(f"unit {name}")
        before = self._session.units.get(name)
        unit = self._session.unchanged(source, name)
        if unit is None or options.func not in (None, unit.entry):
            read, entry = self._read_interruptibly(source, name, options)
            with uninterrupted():
                unit = self._session.add(read, name, entry=entry)
                binding = self._bind(unit)
        else:
            binding = self._bind(unit)
        place(unit, device_for(options.on))
        function = unit.functions[unit.entry] if unit.entry is not None else None
        notes = [binding.note, summary(unit.report)]
        if function is not None:
            notes.append(limit_runs(function, options.timeout))
        view = CellView(
            self.displays,
            self._content(unit, options, "\n".join(filter(None, notes))),
            unit.report,
        )
        view.show()
        if function is not None and not options.no_compile:
            try:
                view.complete(compile_entry(function))
            except CompileInterrupted:
                raise
            except KernelMagicsError:
                self._put_back(name, before, binding)
                raise
        else:
            view.complete("")
        return view

    def _bind(self, unit: SessionUnit) -> Binding:
        for other in unit.report.relinked:
            bind(self._shell, self._session.units[other])
        return bind(self._shell, unit)

    def _read_interruptibly(
        self, source: Source, name: str, options: argparse.Namespace
    ) -> tuple[ParsedUnit, str | None]:
        try:
            return self._read(source, name, options)
        except KeyboardInterrupt:
            raise CompileInterrupted(
                "Interrupted while the program was read; the session is as it was",
                details=["Nothing goes on in the background."],
                advice="Run the cell again.",
            ) from None

    @without_collections()
    def _read(
        self, source: Source, name: str, options: argparse.Namespace
    ) -> tuple[ParsedUnit, str | None]:
        """The program and its entry, unless it cannot be compiled: then nothing has changed."""
        read = self._session.read(source)
        entry = _entry(read, options)
        if entry is not None and not options.no_compile:
            check_callable(entry, read.source)
            meanings = self._session.meanings(read, name)
            on_offer = self._session.on_offer(name)
            bound = {*meanings, *served_declarations(read.index, meanings)}
            seen = lowered_copy(read, entry.name)
            found = assess(
                seen,
                entry.name,
                bound=bound,
                on_offer=on_offer,
                device_count=device_count(),
            )
            if found.problems:
                raise refusal(entry.name, found.problems, read.source)
            if found.doubts and policy().when != "never":
                # It starts while the program is linked and its graph is drawn.
                kernel_sandbox().warm_up()
        return read, entry.name if entry else None

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
        return body_source(self._raw_cell, cell)

    def _content(
        self, unit: SessionUnit, options: argparse.Namespace, note: str
    ) -> GraphView | None:
        show = partial(GraphView, self.displays, self._session, note)
        if options.show == "graph":
            return show()
        if options.show == "text":
            return show("text", self._session.module_text(elide=ELIDED))
        if options.show == "symbols":
            return show("symbols", str(unit.report))
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
