"""What the side panel says of one op: its values, attributes, places and the text around it."""

from collections.abc import Mapping, Sequence

from kernel_magics.characters import visible
from kernel_magics.graph.op_places import Place
from kernel_magics.graph.ops_graph import OpsGraph
from kernel_magics.graph.ops_model import NO_VALUE, OpNode, Value
from kernel_magics.graph.ops_view import value_type
from kernel_magics.widgets.protocol import FunctionText
from kernel_magics.widgets.protocol_ops import OpAnswer, OpValue, TextPlace

AROUND = 40
"""Lines of a text that are given on either side of an op."""

_MOST_VALUES = 40
_MOST_USERS = 12


def op_facts(
    graph: OpsGraph,
    op: str,
    places: Mapping[int, Place],
    texts: Sequence[FunctionText],
    openable: frozenset[str],
) -> OpAnswer:
    """Returns what is known of an op or an argument.

    Args:
        graph: Its function.
        op: Its id.
        places: Texts by number, to where it stands in them.
        texts: What stands around it there.
        openable: Ids of functions whose ops can be shown.

    Raises:
        UsageError: The function has no such op.
    """
    number = graph.number(op)
    node = graph.nodes[number]
    users = _users(graph, number)
    attributes = {} if node.kind == "argument" else graph.attributes(op)
    values = node.operands[:_MOST_VALUES]
    return {
        "name": visible(node.name) or "argument",
        "label": visible(_name(graph, (number, 0)) or node.short_name or op),
        "path": f"@{visible(graph.author_name)}/{op}",
        "text": graph.op_text(op),
        "scope": visible(node.scope),
        "operands": [_given(graph, value) for value in values],
        "results": [_value(graph, (number, at), "") for at in range(len(node.types))],
        "users": [_user(graph, user) for user in users[:_MOST_USERS]],
        "users_left_out": max(0, len(users) - _MOST_USERS),
        "attributes": [
            {"name": visible(name), "value": visible(value)} for name, value in attributes.items()
        ],
        "places": [_place(text, place) for text, place in places.items() if place[0]],
        "texts": list(texts),
        "callee": node.callee if node.callee in openable else "",
        "item": "",
    }


def op_on_line(nodes: Sequence[OpNode], places: Sequence[Place], line: int) -> str:
    """Returns the id of the op that stands on a line, or that goes on there.

    Args:
        nodes: Of one function.
        places: Where each stands.
        line: From 1.

    Returns:
        Nothing where the line is the function's own, before all ops.
    """
    best, found = 0, ""
    for node, (at, _) in zip(nodes, places, strict=True):
        if node.kind != "argument" and best < at <= line:
            best, found = at, node.id
    return found


def _users(graph: OpsGraph, number: int) -> list[int]:
    return [
        user
        for user, node in enumerate(graph.nodes)
        if any(value[0] == number for value in node.operands)
    ]


def _given(graph: OpsGraph, value: Value) -> OpValue:
    if value == NO_VALUE:
        return {"name": "?", "type": "", "op": ""}
    return _value(graph, value, graph.nodes[value[0]].id)


def _value(graph: OpsGraph, value: Value, op: str) -> OpValue:
    return {
        "name": visible(_name(graph, value)) or visible(graph.nodes[value[0]].short_name),
        "type": visible(value_type(graph, value)),
        "op": op,
    }


def _user(graph: OpsGraph, number: int) -> OpValue:
    node = graph.nodes[number]
    name = visible(_name(graph, (number, 0)))
    label = visible(node.short_name)
    return {"name": f"{name} {label}".strip(), "type": "", "op": node.id}


def _name(graph: OpsGraph, value: Value) -> str:
    """`%x`, or `%x#1` for another result than the first; nothing where it is not known."""
    number, result = value
    name = graph.value_names[number] if graph.value_names else ""
    return f"{name}#{result}" if name and result else name


def _place(text: int, place: Place) -> TextPlace:
    return {"text": text, "line": place[0], "column": place[1]}
