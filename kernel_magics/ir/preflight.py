"""What must not reach the compiler, and why: independent checks over what an entry uses."""

from collections.abc import Collection, Container
from dataclasses import dataclass
from typing import Literal

from kernel_magics.errors import PreflightError
from kernel_magics.ir.checks_calls import bodiless, cycles, expansion, nesting
from kernel_magics.ir.checks_forms import (
    fatal_bodies,
    fatal_forms,
    fatal_types,
    foreign_ops,
    host_transfers,
)
from kernel_magics.ir.checks_places import devices, memory, shardings
from kernel_magics.ir.checks_targets import fatal_targets, unknown_targets
from kernel_magics.ir.checks_values import constant_divisions, divisions_in_doubt
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.problems import Check, Doubt, Problem, Scope
from kernel_magics.ir.proven import proven, unproven
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex

__all__ = ["Assessment", "Doubt", "Problem", "assess", "needs_lapack", "preflight", "refusal"]

SHOWN = 8
"""Problems in one message; the rest is counted."""

CHECKS: tuple[Check, ...] = (
    bodiless,
    cycles,
    nesting,
    expansion,
    foreign_ops,
    host_transfers,
    fatal_types,
    fatal_forms,
    fatal_bodies,
    constant_divisions,
    fatal_targets,
    unknown_targets,
    devices,
    shardings,
    memory,
)
"""Each looks at what the entry uses, and yields what is wrong."""

_LAPACK_PREFIX = "lapack_"

Verdict = Literal["refuse", "safe", "unproven"]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is known of a program before it is compiled."""

    verdict: Verdict
    """`refuse`: there are problems. `safe`: no problems and no doubts. Else `unproven`."""
    problems: tuple[Problem, ...]
    doubts: tuple[Doubt, ...]
    """Each form once; not looked for where there are problems."""


@without_collections()
def assess(
    index: SymbolIndex,
    entry: str,
    *,
    bound: Container[str] = (),
    on_offer: Collection[str] = (),
    device_count: int | None = None,
    targets: Container[str] | None = None,
    memory_bytes: int | None = None,
) -> Assessment:
    """Sorts what `entry` uses: not to be given to XLA, proven by others like it, or neither.

    Args:
        index: The scan of the module.
        entry: The function that will be compiled, without `@`.
        bound: Declarations that mean a function elsewhere, and need no body here.
        on_offer: Functions that a declaration could have meant, for near misses.
        device_count: Devices that it may use; None where that is not known.
        targets: Custom-call targets that have a handler; None where that is not known.
        memory_bytes: Memory that it may use; None for that of this machine.
    """
    scope = Scope(index, entry, bound, on_offer, device_count, targets, memory_bytes)
    problems = tuple(problem for check in CHECKS for problem in check(scope))
    if problems:
        return Assessment("refuse", problems, ())
    doubts: dict[tuple[str, str], Doubt] = {}
    for doubt in (*unproven(scope, proven()), *divisions_in_doubt(scope)):
        doubts.setdefault((doubt.check, doubt.form), doubt)
    return Assessment("unproven" if doubts else "safe", (), tuple(doubts.values()))


def preflight(
    index: SymbolIndex,
    entry: str,
    source: Source,
    *,
    bound: Container[str] = (),
    on_offer: Collection[str] = (),
    device_count: int | None = None,
    targets: Container[str] | None = None,
    memory_bytes: int | None = None,
) -> None:
    """Raises unless what `entry` uses may be given to XLA.

    Args:
        index: The scan of the module.
        entry: The function that will be compiled, without `@`.
        source: Where the module's locations point.
        bound: Declarations that mean a function elsewhere, and need no body here.
        on_offer: Functions that a declaration could have meant, for near misses.
        device_count: Devices that it may use; None where that is not known.
        targets: Custom-call targets that have a handler; None where that is not known.
        memory_bytes: Memory that it may use; None for that of this machine.

    Raises:
        PreflightError: Lists all problems, each with its line, and what to do.
    """
    scope = Scope(index, entry, bound, on_offer, device_count, targets, memory_bytes)
    problems = [problem for check in CHECKS for problem in check(scope)]
    if problems:
        raise refusal(entry, problems, source)


def refusal(entry: str, problems: Collection[Problem], source: Source) -> PreflightError:
    """The error that lists problems, each with its line, and what to do."""
    shown = list(problems)[:SHOWN]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    quiet = len(problems) == 1
    where = [_excerpt(problem, source, quiet=quiet) for problem in shown]
    return PreflightError(
        f"`@{entry}` cannot be compiled: {shown[0].sentence}{more}",
        where=[excerpt for excerpt in where if excerpt],
        details=[] if quiet or any(where) else [problem.sentence for problem in shown],
        advice=" ".join(dict.fromkeys(problem.advice for problem in problems)),
    )


def needs_lapack(index: SymbolIndex) -> bool:
    """Whether it calls jaxlib's LAPACK handlers, which must be initialized before."""
    return any(t.startswith(_LAPACK_PREFIX) for op in index.ops for t in op.custom_calls)


def _excerpt(problem: Problem, source: Source, *, quiet: bool) -> str:
    """The caret of a single problem needs no words: they are the sentence above it."""
    at = position(problem.location, source) if problem.location else None
    return source.excerpt(*at, "" if quiet else problem.sentence) if at else ""
