"""The graph as JSON: stable, in graph order, harmless inside a page."""

import json

from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.model import CallEdge, FunctionNode


def test_json_holds_nodes_and_edges_in_graph_order():
    nodes = (
        FunctionNode("z", "function", "z", "z", is_entry=True, op_count=2, units=("u",), line=3),
        FunctionNode("a", "function", "b", "a", status="renamed", units=("u",)),
    )
    graph = FunctionGraph(nodes, (CallEdge("z", "a", count=2),), "t", {"u": "A"})
    assert json.loads(graph.to_json()) == {
        "title": "t",
        "unit_letters": {"u": "A"},
        "counts": {"function": 2, "ops": 2, "renamed": 1},
        "nodes": [
            {
                "id": "z",
                "kind": "function",
                "author_name": "z",
                "merged_name": "z",
                "status": "kept",
                "units": ["u"],
                "is_entry": True,
                "op_count": 2,
                "line": 3,
                "copies": 0,
            },
            {
                "id": "a",
                "kind": "function",
                "author_name": "b",
                "merged_name": "a",
                "status": "renamed",
                "units": ["u"],
                "is_entry": False,
                "op_count": 0,
                "line": None,
                "copies": 0,
            },
        ],
        "edges": [{"caller": "z", "callee": "a", "kind": "call", "count": 2}],
    }


def test_json_of_hostile_names_is_ascii_without_tags():
    name = "</script>\n\x00\udc80日"
    shown = FunctionGraph((FunctionNode(name, "function", name, name),), ()).to_json()
    assert shown.isascii()
    assert "<" not in shown
    assert json.loads(shown)["nodes"][0]["id"] == name
