"""Searches functions and ops, whatever a drawing folds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kernel_magics.graph.model import CallGraph, FunctionNode
from kernel_magics.graph.ops_model import OpNode, OpsData
from kernel_magics.graph.query import Query, Term, parse_query, refusal, split_type

Open = Callable[[str], OpsData]


@dataclass(frozen=True, slots=True)
class Hit:
    """One function or op that a query found."""

    function: str
    """The node of the function graph."""
    op: str = ""
    """The op's id; empty where the function itself was found."""
    name: str = ""
    """What it is called: `@f`, `stablehlo.add`."""
    line: int | None = None
    """In its unit's cell."""


def find_functions(graph: CallGraph, text: str, open_ops: Open | None) -> tuple[Hit, ...]:
    """Returns what a query finds in a function graph, in module order.

    With `op:`, `type:` or `shape:` it finds ops; the other terms then say in which functions,
    but for `calls:` and `target:`: of calls, only those of such functions and targets are found.

    Args:
        graph: The functions.
        text: The query.
        open_ops: Gives the ops of a function; without it no ops are found.

    Raises:
        UsageError: It is no query.
    """
    query = parse_query(text)
    callees: dict[str, list[str]] = {}
    names = {node.id: f"{node.author_name}\n{node.merged_name}" for node in graph.nodes}
    for edge in graph.edges:
        name = names.get(edge.callee, edge.callee.removeprefix("call_target:"))
        kind = "target" if edge.kind == "custom_call" else "calls"
        callees.setdefault(f"{kind} {edge.caller}", []).append(name)
    if not query.asks_for_ops:
        kept = [node for node in graph.nodes if _is_function(node, query, callees)]
        return tuple(_function_hit(node) for node in kept)
    found: list[Hit] = []
    for node in graph.nodes:
        if node.kind == "function" and open_ops and _may_hold(node, query, callees):
            found += _found(open_ops(node.id), query)
    return tuple(found)


def find_ops(graph: OpsData, text: str) -> tuple[Hit, ...]:
    """Returns the ops and arguments of one function that a query finds, in text order.

    Raises:
        UsageError: It is no query, or it asks what only the function graph knows.
    """
    query = parse_query(text)
    for term in query.of("status"):
        what = "`status:` asks about functions, and this searches the ops of one"
        raise refusal(text, term.column, what, term.length)
    for term in query.of("unit"):
        if term.test(graph.unit) == term.is_negated:
            return ()
    return tuple(_found(graph, query))


def _is_function(node: FunctionNode, query: Query, callees: dict[str, list[str]]) -> bool:
    for term in query.terms:
        test = term.test
        if term.key == "unit":
            holds = any(map(test, node.units))
        elif term.key == "status":
            holds = test(node.status)
        elif term.key == "target" and node.kind == "custom_call":
            holds = test(node.merged_name)
        elif term.key in ("calls", "target"):
            holds = any(map(test, callees.get(f"{term.key} {node.id}", ())))
        else:
            holds = test(node.author_name) or test(node.merged_name)
        if holds == term.is_negated:
            return False
    return True


def _may_hold(node: FunctionNode, query: Query, callees: dict[str, list[str]]) -> bool:
    """Whether ops of a function can be hits; spares opening it where they cannot."""
    for term in query.of("unit", "status"):
        texts = node.units if term.key == "unit" else (node.status,)
        if any(map(term.test, texts)) == term.is_negated:
            return False
    for term in query.of("calls", "target"):
        known = callees.get(f"{term.key} {node.id}", ())
        if not term.is_negated and not any(map(term.test, known)):
            return False
    return True


def _function_hit(node: FunctionNode) -> Hit:
    name = node.author_name if node.kind == "custom_call" else f"@{node.author_name}"
    return Hit(node.id, "", name, node.line)


def _found(graph: OpsData, query: Query) -> Iterator[Hit]:
    tests = [_op_test(graph, term) for term in query.terms if term.key not in ("unit", "status")]
    for number, node in enumerate(graph.nodes):
        if all(test(number, node) for test in tests):
            yield Hit(graph.function, node.id, node.name or "argument", graph.line(node))


def _op_test(graph: OpsData, term: Term) -> Callable[[int, OpNode], bool]:
    if term.key in ("type", "shape"):
        return _type_test(graph, term)
    test, is_negated = term.test, term.is_negated
    if term.key == "op":
        return lambda _, node: (
            node.kind != "argument" and (test(node.name) or test(node.short_name)) != is_negated
        )
    if term.key in ("calls", "target"):
        return _call_test(graph, term)
    names = graph.value_names

    def has_word(number: int, node: OpNode) -> bool:
        texts = (node.name, node.symbol, node.callee, node.scope, names[number] if names else "")
        return any(map(test, texts)) != is_negated

    return has_word


def _call_test(graph: OpsData, term: Term) -> Callable[[int, OpNode], bool]:
    test, is_custom = term.test, term.key == "target"

    def is_called(node: OpNode) -> bool:
        return (
            bool(node.callee)
            and (node.does == "custom call") == is_custom
            and (test(node.symbol) or test(node.callee))
        )

    if term.is_negated:
        return lambda _, node: not is_called(node)
    is_here = any(map(is_called, graph.nodes))
    return lambda _, node: is_called(node) if node.callee else is_here


def _type_test(graph: OpsData, term: Term) -> Callable[[int, OpNode], bool]:
    nodes, is_negated, is_shape, test = graph.nodes, term.is_negated, term.key == "shape", term.test
    known: dict[tuple[str, ...], bool] = {}

    def fits(types: tuple[str, ...]) -> bool:
        if types not in known:
            parts = [split_type(text) for text in types]
            known[types] = any(
                test(shape) if is_shape else test(element) or test(text)
                for text, (shape, element) in zip(types, parts, strict=True)
            )
        return known[types]

    def has_type(_: int, node: OpNode) -> bool:
        given = any(
            fits(nodes[giver].types[result : result + 1])
            for giver, result in node.operands
            if giver >= 0
        )
        return (given or fits(node.types)) != is_negated

    return has_type
