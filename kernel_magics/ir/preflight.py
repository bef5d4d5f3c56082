"""What must not reach the compiler, and why: independent checks over what an entry uses."""

from collections.abc import Callable, Collection, Container, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from jax.extend.mlir import ir

from kernel_magics.errors import PreflightError
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex, TopLevelOp

SHOWN = 8
"""Problems in one message; the rest is counted."""

# XLA's translation knows these and no others; of `arith` it knows constants alone.
_XLA_DIALECTS = frozenset(
    ("builtin", "chlo", "func", "mhlo", "sdy", "shape", "stablehlo", "tensor")
)
_XLA_OPS = frozenset(("arith.constant", "cf.assert", "cf.br"))

# XLA's CPU compiler ends the process on values of these types.
_FATAL_ELEMENTS = ("f6E2M3FN", "f6E3M2FN")

_LAPACK_PREFIX = "lapack_"


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a program cannot be compiled."""

    check: str
    """Stable name of the check, such as `call-cycle`."""
    sentence: str
    location: ir.Location | None
    advice: str


Check = Callable[[SymbolIndex, str], Iterator[Problem]]


def preflight(
    index: SymbolIndex,
    entry: str,
    source: Source,
    *,
    bound: Container[str] = (),
    on_offer: Collection[str] = (),
) -> None:
    """Raises unless what `entry` uses may be given to XLA.

    Args:
        index: The scan of the module.
        entry: The function that will be compiled, without `@`.
        source: Where the module's locations point.
        bound: Declarations that mean a function elsewhere, and need no body here.
        on_offer: Functions that a declaration could have meant, for near misses.

    Raises:
        PreflightError: Lists all problems, each with its line, and what to do.
    """
    problems = list(_bodiless(index, entry, bound, on_offer))
    problems += [problem for check in CHECKS for problem in check(index, entry)]
    if not problems:
        return
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    quiet = len(problems) == 1
    where = [_excerpt(problem, source, quiet=quiet) for problem in problems[:SHOWN]]
    raise PreflightError(
        f"`@{entry}` cannot be compiled: {first.sentence}{more}",
        where=[excerpt for excerpt in where if excerpt],
        details=[] if quiet or any(where) else [p.sentence for p in problems[:SHOWN]],
        advice=" ".join(dict.fromkeys(problem.advice for problem in problems)),
    )


def needs_lapack(index: SymbolIndex) -> bool:
    """Whether it calls jaxlib's LAPACK handlers, which must be initialized before."""
    return any(t.startswith(_LAPACK_PREFIX) for op in index.ops for t in op.custom_calls)


def _bodiless(
    index: SymbolIndex, entry: str, bound: Container[str], on_offer: Collection[str]
) -> Iterator[Problem]:
    for op in _reachable(index, entry):
        if not op.is_declaration or (op.name or "") in bound:
            continue
        close = get_close_matches(op.name or "", on_offer, 1)
        hint = f"Did you mean `@{close[0]}`? " if close else ""
        yield Problem(
            "no-body",
            f"`@{op.name}` is declared without a body",
            op.location,
            f"{hint}Give `@{op.name}` a body, or define it in another cell first.",
        )


def _cycles(index: SymbolIndex, entry: str) -> Iterator[Problem]:
    """Depth-first search without recursion; one problem for each edge that closes a cycle."""
    path: list[str] = []
    on_path: set[str] = set()
    done: set[str] = set()
    pending: list[tuple[str, bool]] = [(entry, True)]
    while pending:
        name, enters = pending.pop()
        if not enters:
            on_path.discard(path.pop())
            done.add(name)
            continue
        if name in on_path:
            yield _cycle([*path[path.index(name) :], name], index)
            continue
        if name in done or name not in index.by_name:
            continue
        path.append(name)
        on_path.add(name)
        pending.append((name, False))
        callees = dict.fromkeys(symbol for symbol, _ in index.by_name[name].references)
        pending += [(callee, True) for callee in reversed(callees)]


def _cycle(names: list[str], index: SymbolIndex) -> Problem:
    shown = " → ".join(f"`@{name}`" for name in names)
    calls_itself = len(names) == 2  # noqa: PLR2004
    uses = index.by_name[names[-2]].uses
    location = next(use.operation.location for use in uses if names[-1] in use.symbols)
    return Problem(
        "call-cycle",
        f"`@{names[0]}` calls itself" if calls_itself else f"the calls form a cycle, {shown}",
        location,
        "XLA has no recursion: write a `stablehlo.while` instead.",
    )


def _foreign_ops(index: SymbolIndex, entry: str) -> Iterator[Problem]:
    for op in _reachable(index, entry):
        kinds = [kind for kind, count in op.op_kinds.items() if count and not _is_known(kind)]
        if op.kind != "func.func" and not _is_known(op.kind):
            kinds.append(op.kind)
        for kind in kinds:
            yield Problem(
                "foreign-op",
                f"`{kind}` is not an op that XLA takes",
                _first(op, kind),
                "Lower the program to StableHLO first.",
            )


def _fatal_types(index: SymbolIndex, entry: str) -> Iterator[Problem]:
    """Forms on which XLA's CPU compiler ends the process."""
    for op in _reachable(index, entry):
        found: list[Problem] = []
        fatal: dict[ir.Type, bool] = {}

        def visit(
            view: ir.Operation, found: list[Problem] = found, fatal: dict[ir.Type, bool] = fatal
        ) -> ir.WalkResult:
            for value in (*view.results, *view.operands):
                known = fatal.get(value.type)
                if known is None:
                    text = str(value.type)
                    known = fatal[value.type] = any(e in text for e in _FATAL_ELEMENTS)
                if known:
                    found.append(_fatal_element(view, value.type))
                    return ir.WalkResult.INTERRUPT
            if view.name == "stablehlo.bitcast_convert" and _changes_complex(view):
                found.append(_fatal_bitcast(view))
            return ir.WalkResult.ADVANCE

        op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        yield from found


def _fatal_element(operation: ir.Operation, kind: ir.Type) -> Problem:
    return Problem(
        "fatal-type",
        f"`{operation.name}` works on `{kind}`, on which XLA's CPU compiler ends the process",
        operation.location,
        "Convert to a wider float outside of the program.",
    )


def _fatal_bitcast(operation: ir.Operation) -> Problem:
    return Problem(
        "fatal-bitcast",
        "a `stablehlo.bitcast_convert` between complex types of other widths "
        "ends the process in XLA's CPU compiler",
        operation.location,
        "Take real and imaginary part apart first.",
    )


def _changes_complex(operation: ir.Operation) -> bool:
    given, made = (str(v.type) for v in (operation.operands[0], operation.results[0]))
    return ("complex<f32>" in given) != ("complex<f32>" in made)


def _is_known(kind: str) -> bool:
    return kind.partition(".")[0] in _XLA_DIALECTS or kind in _XLA_OPS


def _reachable(index: SymbolIndex, entry: str) -> Iterator[TopLevelOp]:
    names = index.reachable([entry])
    return (op for op in index.ops if op.name is None or op.name in names)


def _first(op: TopLevelOp, kind: str) -> ir.Location | None:
    found: list[ir.Location] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name != kind:
            return ir.WalkResult.ADVANCE
        found.append(inner.location)
        return ir.WalkResult.INTERRUPT

    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else None


def _excerpt(problem: Problem, source: Source, *, quiet: bool) -> str:
    """The caret of a single problem needs no words: they are the sentence above it."""
    at = position(problem.location, source) if problem.location else None
    return source.excerpt(*at, "" if quiet else problem.sentence) if at else ""


CHECKS: tuple[Check, ...] = (_cycles, _foreign_ops, _fatal_types)
"""Each looks at what the entry uses, and yields what is wrong."""
