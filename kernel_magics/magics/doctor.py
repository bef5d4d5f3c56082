"""`%hlo doctor`: what is known of the session's programs before they are compiled."""

from collections.abc import Iterator, Mapping, Sequence

from kernel_magics.call.placement import device_count
from kernel_magics.errors import SessionError
from kernel_magics.ir.context import new_context
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.preflight import Assessment, Doubt, Problem, assess
from kernel_magics.ir.source import Source
from kernel_magics.ir.unit import read_unit
from kernel_magics.session_units import SessionUnit

SHOWN = 8
"""Problems and doubts of one function; the rest is counted."""

_VERDICTS = {
    "refuse": "refused, it would not compile or would end the process",
    "safe": "safe, every form in it is proven",
    "unproven": "unproven, it holds forms that no known program has shown to work",
}


def diagnose(units: Mapping[str, SessionUnit], name: str | None) -> str:
    """What is known of one unit, or of all, in words.

    Raises:
        SessionError: There is no unit of this name.
    """
    if name is not None and name not in units:
        raise SessionError(
            f"The session has no unit `{name}`",
            details=[f"it holds: {', '.join(units)}" if units else "it is empty"],
            advice="`%hlo functions` lists what can be called.",
        )
    if not units:
        return "The session holds no program yet: a `%%hlo` cell or `%hlo load FILE` brings some."
    chosen = units.values() if name is None else [units[name]]
    return "\n".join(line for unit in chosen for line in _unit(unit))


def _unit(unit: SessionUnit) -> Iterator[str]:
    # Read again: linking has renamed and merged what the unit's own index points at.
    read = read_unit(unit.source, new_context())
    entries = [unit.entry] if unit.entry else [op.name for op in read.index.public_functions()]
    if not entries:
        yield f"{unit.name}: no function that can be called"
    for entry in filter(None, entries):
        bound = unit.report.bound
        found = assess(read.index, entry, bound=bound, device_count=device_count())
        yield f"{unit.name} @{entry}: {_VERDICTS[found.verdict]}"
        yield from _findings(found, unit.source)


def _findings(found: Assessment, source: Source) -> Iterator[str]:
    for problem in found.problems[:SHOWN]:
        yield f"  {problem.check}: {problem.sentence}"
        yield from _place(problem, source)
        yield f"    {problem.advice}"
    for doubt in found.doubts[:SHOWN]:
        yield f"  {doubt.check}: {doubt.form}"
        yield from _place(doubt, source)
    yield from _rest(found.problems or found.doubts)


def _rest(findings: Sequence[Problem | Doubt]) -> Iterator[str]:
    if len(findings) > SHOWN:
        yield f"  … and {len(findings) - SHOWN} more"


def _place(finding: Problem | Doubt, source: Source) -> Iterator[str]:
    at = position(finding.location, source) if finding.location else None
    if at is not None:
        yield from (f"    {line}".rstrip() for line in source.excerpt(*at, "").split("\n"))
