"""Writes a function graph in the DOT language of Graphviz."""

from typing import Any

import graphviz  # pyright: ignore[reportMissingTypeStubs]  # it ships none

from kernel_magics.characters import visible
from kernel_magics.graph.model import CallEdge, CallGraph, FunctionNode
from kernel_magics.graph.words import new_name, plural, shown_name, status_words


def to_dot(graph: CallGraph) -> str:
    """Returns the whole graph as DOT text, for `dot` and for `graphviz-pure`.

    Nodes are numbered and names stand in labels only, where quotes, backslashes, `<b>`, `&lt;`,
    `{a|b}` and control characters are plain text. Custom calls have cut corners and dotted edges,
    declarations a dashed frame, composites an open diamond at the tail.
    """
    dot: Any = graphviz.Digraph(
        graph_attr={
            "rankdir": "LR",
            "nodesep": "0.18",
            "ranksep": "0.78",
            "fontname": "Helvetica",
            "fontsize": "12",
        },
        node_attr={"shape": "box", "fontname": "Helvetica", "fontsize": "11", "height": "0.6"},
        edge_attr={"fontname": "Helvetica", "fontsize": "11", "arrowsize": "0.8"},
    )
    dot.attr(label=left_label(visible(graph.title)), labelloc="t", labeljust="l")
    numbers: dict[str, str] = {}
    for node in graph.nodes:
        if node.id not in numbers:
            numbers[node.id] = f"n{len(numbers)}"
            dot.node(numbers[node.id], label=_node_label(node, graph), **_node_style(node))
    for edge in graph.edges:
        if edge.caller in numbers and edge.callee in numbers:
            dot.edge(numbers[edge.caller], numbers[edge.callee], **_edge_style(edge))
    return dot.source


def _node_label(node: FunctionNode, graph: CallGraph) -> str:
    letters = "+".join(graph.unit_letters[u] for u in node.units if u in graph.unit_letters)
    entry = "▸ " if node.is_entry else ""
    renamed = f" → {new_name(node)}" if new_name(node) else ""
    facts = [f"unit {letters}"] if letters and len(graph.unit_letters) > 1 else []
    facts.append(status_words(node))
    if node.kind == "function":
        facts.append(plural(node.op_count, "op"))
    return left_label(f"{entry}{shown_name(node)}{renamed}", " · ".join(facts))


def left_label(*lines: str) -> str:
    r"""Joins lines with `\l`, left aligned; entities and backslashes in them lose their meaning."""
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\") + r"\l" for line in lines)
    # `nohtml` keeps a text in angle brackets from being read as HTML.
    return graphviz.nohtml("".join(escaped))


def _node_style(node: FunctionNode) -> dict[str, str]:
    style: dict[str, str] = {}
    if node.kind == "custom_call":
        style["shape"] = "octagon"
    if node.kind == "declaration":
        style["style"] = "dashed"
    if node.is_entry:
        style["penwidth"] = "2"
    if node.status == "missing":
        style |= {"color": "#a92525", "fontcolor": "#a92525"}
    return style


def _edge_style(edge: CallEdge) -> dict[str, str]:
    style: dict[str, str] = {}
    if edge.kind == "custom_call":
        style["style"] = "dotted"
    if edge.kind == "composite":
        style |= {"dir": "both", "arrowtail": "odiamond"}
    if edge.kind == "bound":
        style["style"] = "dashed"
    if edge.kind == "reference":
        # DOT has no dash-dotted line, and plain dashes mean a declaration and its definition.
        style |= {"style": "dashed", "arrowhead": "vee", "label": "reference"}
    if edge.count > 1:
        style["headlabel"] = f"×{edge.count:,}"
    return style
