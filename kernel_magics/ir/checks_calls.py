"""Checks of calls: bodies that are missing, cycles, and calls and regions nested too deep."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from kernel_magics.ir.problems import Problem, Scope
from kernel_magics.ir.symbols import CALLS, COMPOSITE, SymbolIndex

DEEPEST = 128
"""Calls and regions inside one another that XLA's recursion has stack for.

Measured with a stack of 8 MB: JAX 0.10.2 ends at 183 calls, 202 `if` or 209 `case` inside one
another, and at 97 calls each in a `case`; JAX 0.12 at 790 calls or 895 `case`.
"""


MOST_OPS = 5_000_000
"""Ops after every call has a copy of its function: XLA makes those copies, and with them runs
out of memory and time."""


def bodiless(scope: Scope) -> Iterator[Problem]:
    """Calls of functions that have no body: XLA ends the process."""
    for op in scope.ops:
        if not op.is_declaration or (op.name or "") in scope.bound:
            continue
        close = get_close_matches(op.name or "", scope.on_offer, 1)
        hint = f"Did you mean `@{close[0]}`? " if close else ""
        yield Problem(
            "no-body",
            f"`@{op.name}` is declared without a body",
            op.location,
            f"{hint}Give `@{op.name}` a body, or define it in another cell first.",
        )


def cycles(scope: Scope) -> Iterator[Problem]:
    """Depth-first search without recursion; one problem for each edge that closes a cycle."""
    path: list[str] = []
    on_path: set[str] = set()
    done: set[str] = set()
    pending: list[tuple[str, bool]] = [(scope.entry, True)]
    while pending:
        name, enters = pending.pop()
        if not enters:
            on_path.discard(path.pop())
            done.add(name)
            continue
        if name in on_path:
            yield _cycle([*path[path.index(name) :], name], scope.index)
            continue
        if name in done or name not in scope.index.by_name:
            continue
        path.append(name)
        on_path.add(name)
        pending.append((name, False))
        callees = dict.fromkeys(symbol for symbol, _ in scope.index.by_name[name].references)
        pending += [(callee, True) for callee in reversed(callees)]


def nesting(scope: Scope) -> Iterator[Problem]:
    """Calls and regions inside one another: XLA recurses into them until the stack ends."""
    by_name = scope.index.by_name
    depths = _depths(scope)
    if depths.get(scope.entry, 0) <= DEEPEST:
        return
    name, left = scope.entry, DEEPEST
    # Down the deepest path to the function that goes over the limit.
    while left > 0:
        left -= by_name[name].depth + 1
        callees = [c for c, _ in by_name[name].references if c in depths and c != name]
        if left <= 0 or not callees:
            break
        name = max(callees, key=depths.__getitem__)
    yield Problem(
        "nesting",
        f"calls and regions are nested {depths[scope.entry]:,} deep; "
        f"XLA has stack for {DEEPEST} of them",
        by_name[name].location,
        "Put a chain of calls into one function, or write a `stablehlo.while`.",
    )


def expansion(scope: Scope) -> Iterator[Problem]:
    """Calls that multiply: thirty functions that call the next one twice are a billion ops."""
    size = expanded_ops(scope.index, scope.entry)
    if size > MOST_OPS:
        yield Problem(
            "expansion",
            f"its calls expand to {size:,} ops; XLA copies a function for each call of it, and "
            f"{MOST_OPS:,} ops are too many",
            scope.index.by_name[scope.entry].location,
            "Write a `stablehlo.while` where a function is called again and again.",
        )


def expanded_ops(
    index: SymbolIndex, entry: str, elsewhere: Mapping[str, int] = MappingProxyType({})
) -> int:
    """How many ops a function has when each call is replaced by what it calls.

    Args:
        index: The scan of the module.
        entry: The function; its calls form no cycle.
        elsewhere: The same for functions that are declared here.
    """
    sizes = dict(elsewhere)
    entered: set[str] = set()
    pending = [entry] if entry in index.by_name else []
    while pending:
        name = pending[-1]
        op = index.by_name[name]
        calls = [
            (callee, count)
            for (callee, kind), count in op.references.items()
            if kind in (CALLS, COMPOSITE) and callee in index.by_name
        ]
        if name not in entered:
            entered.add(name)
            pending += [callee for callee, _ in calls if callee not in entered]
            continue
        pending.pop()
        if name not in sizes:
            sizes[name] = op.op_count + sum(n * sizes.get(callee, 0) for callee, n in calls)
    return sizes.get(entry, 0)


def call_depth(index: SymbolIndex, entry: str) -> int:
    """How deep calls and regions are nested below a function, its own regions included."""
    return _depths(Scope(index, entry)).get(entry, 0)


def _depths(scope: Scope) -> dict[str, int]:
    """Nesting below each function, its own regions included; calls that close a cycle left out.

    A function's deepest region and its deepest call are added up, wherever the call stands.
    """
    by_name = scope.index.by_name
    depths: dict[str, int] = {}
    entered: set[str] = set()
    pending = [scope.entry] if scope.entry in by_name else []
    while pending:
        name = pending[-1]
        callees = [callee for callee, _ in by_name[name].references if callee in by_name]
        if name not in entered:
            entered.add(name)
            pending += [callee for callee in callees if callee not in entered]
            continue
        pending.pop()
        if name not in depths:
            below = [depths[callee] + 1 for callee in callees if callee in depths]
            depths[name] = by_name[name].depth + max(below, default=0)
    return depths


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
