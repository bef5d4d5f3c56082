"""For a query that finds nothing: queries near to it that find something."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches

from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.query import OP_KEYS, Query, Term, parse_query, split_type

_MOST_TRIED = 8
_MOST_GIVEN = 3
_MOST_CLOSE = 2
_MOST_NAMES = 20_000
_CLOSE_ENOUGH = 0.55


def nearest_queries(
    graph: FunctionGraph, text: str, count: Callable[[str], int]
) -> list[tuple[str, int]]:
    """Returns at most three other queries, each with the number of its hits, which is not 0.

    Each has another word, near in spelling, in place of one of the query's, or lacks one of its
    terms.

    Args:
        graph: Where names, types and ops are looked up.
        text: A query that finds nothing.
        count: Tells how much a query finds.
    """
    query = parse_query(text)
    found: list[tuple[str, int]] = []
    for number, other in enumerate(dict.fromkeys(_others(graph, query))):
        if number >= _MOST_TRIED or len(found) >= _MOST_GIVEN:
            break
        if total := count(other):
            found.append((other, total))
    return found


def _others(graph: FunctionGraph, query: Query) -> Iterator[str]:
    for term in query.terms:
        if term.is_negated:
            continue
        wanted = term.value.strip("*").casefold()
        known: dict[str, str] = {}
        for name in _vocabulary(graph, term, query):
            known.setdefault(name.casefold(), name)
        for close in get_close_matches(wanted, list(known), _MOST_CLOSE, _CLOSE_ENOUGH):
            yield _with(query, term, known[close])
    if len(query.terms) > 1:
        for term in query.terms:
            yield _with(query, term, None)


def _with(query: Query, changed: Term, value: str | None) -> str:
    words: list[str] = []
    for term in query.terms:
        if term is not changed:
            words.append(query.text[term.column : term.column + term.length])
        elif value is not None:
            needs_quotes = not value or any(sign in value for sign in ' ":')
            shown = f'"{value}"' if needs_quotes else value
            words.append(f"{term.key}:{shown}" if term.key else shown)
    return " ".join(words)


def _vocabulary(graph: FunctionGraph, term: Term, query: Query) -> list[str]:
    """What may stand in place of a term's value."""
    nodes = graph.nodes
    match term.key:
        case "unit":
            names = (unit for node in nodes for unit in node.units)
        case "target":
            names = (node.author_name for node in nodes if node.kind == "custom_call")
        case "op" | "type" | "shape":
            names = _of_ops(graph, term.key)
        case _:
            names = (name for node in nodes for name in (node.author_name, node.merged_name))
    found = dict.fromkeys(name for name, _ in zip(names, range(_MOST_NAMES), strict=False))
    if not term.key and any(other.key in OP_KEYS for other in query.terms):
        found |= dict.fromkeys(_of_ops(graph, "op"))
    return [name for name in found if '"' not in name]


def _of_ops(graph: FunctionGraph, key: str) -> Iterator[str]:
    seen: set[str] = set()
    for function in graph.nodes:
        if function.kind != "function":
            continue
        for node in graph.ops(function.id).nodes:
            texts = (node.short_name,) if key == "op" else node.types
            for text in texts:
                if text in seen:
                    continue
                seen.add(text)
                yield text if key == "op" else split_type(text)[key == "type"]
