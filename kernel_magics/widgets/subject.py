"""What an inspector looks into: a session or one function, read at one moment."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace

from kernel_magics.call.function import HloFunction
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.ir.context import new_context
from kernel_magics.ir.link_report import LinkReport
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source
from kernel_magics.sessions import Session

# Constants of more elements are shortened: a view never carries megabytes of digits.
_MOST_ELEMENTS = 16


@dataclass(frozen=True, slots=True)
class UnitText:
    """A unit and what its author wrote."""

    name: str
    letter: str
    text: str | None
    """None for a unit that came in as bytes."""
    report: LinkReport | None
    source: Source
    earlier: tuple[str, ...] = ()
    """What it said before it was replaced, the oldest first."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A module at one moment, as plain values: safe to read in any thread."""

    title: str
    graph: FunctionGraph
    units: tuple[UnitText, ...]
    text_word: str
    """What the printed module is called: `Merged` or `Printed`."""
    printed_names: Mapping[str, str]
    """Names of functions in the printed module, to the ids of their nodes."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Where the snapshots come from. Call it in the thread that runs the cells."""

    snapshot: Callable[[], Snapshot]
    state: Callable[[], Hashable]
    """Cheap, and another one whenever the module is another one."""
    printed: Callable[[], str]
    """The module's text, with large constants shortened."""
    on_change: Callable[[Callable[[], None]], None]
    """Has a bound method called whenever the module may be another one."""


def subject_of(thing: Session | HloFunction) -> Subject:
    """Returns how to look into a session or a function."""
    if isinstance(thing, Session):
        return Subject(
            lambda: _session_snapshot(thing),
            lambda: tuple((u.name, u.report, u.source.content) for u in thing.units.values()),
            lambda: thing.module_text(elide=_MOST_ELEMENTS),
            thing.on_change,
        )
    return Subject(
        lambda: _function_snapshot(thing),
        lambda: thing.program.source,
        lambda: printed_program(thing.program.source),
        lambda _: None,
    )


def _session_snapshot(session: Session) -> Snapshot:
    graph = session.graph()
    units = tuple(
        UnitText(
            unit.name,
            graph.unit_letters[unit.name],
            unit.text,
            unit.report,
            unit.source,
            session.earlier_texts(unit.name),
        )
        for unit in session.units.values()
    )
    printed = {node.merged_name: node.id for node in graph.nodes if node.kind != "custom_call"}
    return Snapshot(graph.title, graph, units, "Merged", printed)


def _function_snapshot(function: HloFunction) -> Snapshot:
    graph = function.graph()
    source, report = function.program.source, function.link_report
    name = report.unit if report else source.name
    text = source.content if isinstance(source.content, str) else None
    # A program that was not linked names no unit in its nodes.
    nodes = tuple(replace(node, units=node.units or (name,)) for node in graph.nodes)
    graph = replace(graph, nodes=nodes, unit_letters={name: "A"})
    printed = {node.author_name: node.id for node in nodes if node.kind != "custom_call"}
    unit = UnitText(name, "A", text, report, source)
    return Snapshot(graph.title, graph, (unit,), "Printed", printed)


def printed_program(source: Source) -> str:
    """A program as MLIR prints it, with large constants shortened."""
    module = parse(source, new_context())
    return str(module.operation.get_asm(assume_verified=True, large_elements_limit=_MOST_ELEMENTS))
