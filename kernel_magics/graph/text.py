"""Writes a function graph as an outline for terminals and readers of plain text."""

from collections.abc import Iterator
from dataclasses import dataclass

from kernel_magics.characters import visible
from kernel_magics.graph.measure import cells, cut_middle
from kernel_magics.graph.model import CallEdge, CallGraph, EdgeKind, FunctionNode
from kernel_magics.graph.words import count_phrases, new_name, plural, shown_name, status_words

DEFAULT_LIMIT = 200
_MOST_PREFIX = 60
_MOST_NAME = 60
_MOST_LEFT = 56
_MOST_STATUS = 28
_MOST_LETTERS = 4
_MOST_UNITS = 24
_ABOVE = "↑ see above"
_CYCLE = "↻ cycle: still open above"
_EDGE_WORDS: dict[EdgeKind, str] = {
    "bound": " (bound)",
    "composite": " (composite)",
    "reference": " (reference)",
}


@dataclass(frozen=True, slots=True)
class _Step:
    """One line of the outline, before it is words."""

    node: FunctionNode
    edge: CallEdge | None
    lead: str
    """The box characters left of the name."""
    seen: str
    """`_ABOVE`, `_CYCLE`, or nothing where the node is written in full."""


@dataclass(frozen=True, slots=True)
class _Row:
    letters: str
    left: str
    status: str
    ops: int | None = None
    is_entry: bool = False


def to_text(graph: CallGraph, limit: int = DEFAULT_LIMIT) -> str:
    """Returns an outline: entries first, below each function what it calls.

    A function that several call is written in full once; later lines point up to it. Call cycles
    are named where they close. The time is linear in nodes and edges, for any depth.

    Args:
        graph: The graph, of any size.
        limit: How many lines of the outline are written; a last line says what is left out.
    """
    head = [_header(graph)]
    if not graph.nodes:
        return f"{_title(graph)}: this module holds no function.\n"
    if len(graph.unit_letters) > 1:
        head.append(_legend(graph))
    rows: list[_Row] = []
    left_lines = left_functions = 0
    for step in _walk(graph):
        if len(rows) < limit:
            rows.append(_row(step, graph))
        else:
            left_lines += 1
            left_functions += not step.seen
    lines = head + _aligned(rows)
    if left_lines:
        more = f"… {plural(left_lines, 'more line')} left out"
        lines.append(f"{more}, with {plural(left_functions, 'function')} not shown above")
    return "\n".join(lines) + "\n"


def _walk(graph: CallGraph) -> Iterator[_Step]:
    """Depth first, with a stack of its own: call chains are deeper than Python's."""
    nodes: dict[str, FunctionNode] = {}
    for node in graph.nodes:
        nodes.setdefault(node.id, node)
    calls: dict[str, list[CallEdge]] = {name: [] for name in nodes}
    for edge in graph.edges:
        if edge.caller in nodes and edge.callee in nodes:
            calls[edge.caller].append(edge)
    written: set[str] = set()
    for root in _roots(graph, nodes):
        if root not in written:
            yield from _walk_from(nodes[root], nodes, calls, written)


def _walk_from(
    root: FunctionNode,
    nodes: dict[str, FunctionNode],
    calls: dict[str, list[CallEdge]],
    written: set[str],
) -> Iterator[_Step]:
    path: set[str] = {root.id}
    written.add(root.id)
    yield _Step(root, None, "", "")
    # The last number is how many calls of the caller are still to come.
    stack = [(root.id, "", iter(calls[root.id]), len(calls[root.id]))]
    while stack:
        caller, prefix, rest, count = stack.pop()
        edge = next(rest, None)
        if edge is None:
            path.discard(caller)
            continue
        stack.append((caller, prefix, rest, count - 1))
        callee = edge.callee
        seen = _CYCLE if callee in path else _ABOVE if callee in written else ""
        is_last = count == 1
        lead = _lead(prefix, len(stack)) + ("└─ " if is_last else "├─ ")
        yield _Step(nodes[callee], edge, lead, seen)
        if not seen:
            written.add(callee)
            path.add(callee)
            deeper = (prefix + ("   " if is_last else "│  "))[-_MOST_PREFIX:]
            stack.append((callee, deeper, iter(calls[callee]), len(calls[callee])))


def _roots(graph: CallGraph, nodes: dict[str, FunctionNode]) -> list[str]:
    called = {edge.callee for edge in graph.edges if edge.caller != edge.callee}
    entries = [name for name, node in nodes.items() if node.is_entry]
    uncalled = [name for name in nodes if name not in called]
    # The rest are roots only where nothing above leads to them: cycles that nobody enters.
    return [*entries, *uncalled, *nodes]


def _lead(prefix: str, level: int) -> str:
    """The lines left of a name; far down they are cut, and the level is named instead."""
    if len(prefix) < _MOST_PREFIX:
        return prefix
    mark = f"⋯ level {level:,} "
    return mark + prefix[len(mark) - len(prefix) :]


def _row(step: _Step, graph: CallGraph) -> _Row:
    node = step.node
    name = cut_middle(shown_name(node), _MOST_NAME)
    if step.edge is not None:
        name += f" ×{step.edge.count:,}" if step.edge.count > 1 else ""
        name += _EDGE_WORDS.get(step.edge.kind, "")
    left, letters = step.lead + name, _letters(node, graph)
    if step.seen:
        return _Row(letters, left, step.seen)
    ops = node.op_count if node.kind == "function" else None
    return _Row(letters, left, _status(node), ops, is_entry=node.is_entry)


def _status(node: FunctionNode) -> str:
    if node.kind == "custom_call" and node.status == "missing":
        return "custom call, missing"
    if node.kind == "declaration" and node.status == "missing":
        return "missing, declared only"
    words, renamed = status_words(node), new_name(node)
    if not renamed:
        return words
    return f"{words} → {cut_middle(renamed, _MOST_NAME)}"


def _letters(node: FunctionNode, graph: CallGraph) -> str:
    if len(graph.unit_letters) < 2:  # noqa: PLR2004  # one unit needs no letter
        return ""
    known = [graph.unit_letters[unit] for unit in node.units if unit in graph.unit_letters]
    more = "…" if len(known) > _MOST_LETTERS else ""
    return "+".join(known[:_MOST_LETTERS]) + more


def _aligned(rows: list[_Row]) -> list[str]:
    letters = max((len(row.letters) for row in rows), default=0)
    left = min(_MOST_LEFT, max((cells(row.left) for row in rows), default=0))
    counted = [row for row in rows if row.ops is not None]
    status = min(_MOST_STATUS, max((len(row.status) for row in counted), default=0))
    digits = max((len(f"{row.ops:,}") for row in counted), default=0)
    lines: list[str] = []
    for row in rows:
        first = f"{row.letters:<{letters}}  " if letters else ""
        # Padding by cells keeps the columns straight beside names of wide characters.
        padded = row.left + " " * (left - cells(row.left))
        ops = "" if row.ops is None else f"{row.ops:>{digits},} {'op' if row.ops == 1 else 'ops'}"
        facts = ", ".join(fact for fact in (ops, "entry" if row.is_entry else "") if fact)
        lines.append(f"{first}{padded}  {row.status:<{status}}  {facts}".rstrip())
    return lines


def _header(graph: CallGraph) -> str:
    counts = graph.counts
    phrases = count_phrases(counts, len(graph.unit_letters))
    if counts["missing"]:
        phrases.append(f"{counts['missing']:,} missing")
    return f"{_title(graph)}: {', '.join(phrases)}"


def _legend(graph: CallGraph) -> str:
    units = list(graph.unit_letters.items())
    listed = [f"{letter} {cut_middle(visible(unit), 32)}" for unit, letter in units[:_MOST_UNITS]]
    more = len(units) - _MOST_UNITS
    return "units: " + " · ".join(listed) + (f" and {more:,} more" if more > 0 else "")


def _title(graph: CallGraph) -> str:
    return cut_middle(visible(graph.title), _MOST_NAME)
