import json

import pytest

import kernel_magics as km
from kernel_magics.graph.model import CallEdge, CallGraph, FunctionNode
from kernel_magics.widgets.folding import DRAWN_AT_FIRST, MOST_DRAWN, OPENED_AT_ONCE, draw
from kernel_magics.widgets.saved import MOST_BYTES, SAVED_VIEW_TYPE
from kernel_magics.widgets.texts import ranges, signature


def fan(count: int, *, depth: int = 1) -> CallGraph:
    """An entry that calls `count` functions, each of which calls a chain of its own."""
    nodes = [FunctionNode("main", "function", "main", "main", is_entry=True)]
    edges = []
    for number in range(count):
        caller = "main"
        for level in range(depth):
            name = f"f{number}_{level}"
            nodes.append(FunctionNode(name, "function", name, name, op_count=2))
            edges.append(CallEdge(caller, name))
            caller = name
    return CallGraph(tuple(nodes), tuple(edges))


def test_small_graphs_are_drawn_whole():
    drawn = draw(fan(50))
    assert len(drawn.graph.nodes) == 51
    assert (drawn.groups, drawn.group_of, drawn.folded) == ({}, {}, "")


@pytest.mark.parametrize("graph", [fan(3000), fan(60, depth=20), fan(1, depth=2000)])
def test_every_function_is_drawn_or_in_one_group(graph):
    drawn = draw(graph)
    shown = [node for node in drawn.graph.nodes if node.kind != "group"]
    assert len(shown) <= DRAWN_AT_FIRST
    assert {node.id for node in shown} | set(drawn.group_of) == {node.id for node in graph.nodes}
    assert {node.id for node in shown}.isdisjoint(drawn.group_of)
    assert sum(group.functions for group in drawn.groups.values()) == len(drawn.group_of)
    assert sum(group.ops for group in drawn.groups.values()) + sum(
        node.op_count for node in shown
    ) == sum(node.op_count for node in graph.nodes)


def test_an_opened_group_shows_some_of_its_members_and_keeps_the_rest():
    graph = fan(3000)
    before = draw(graph)
    (group,) = before.groups
    after = draw(graph, [group])
    assert len(after.graph.nodes) == len(before.graph.nodes) + OPENED_AT_ONCE
    assert after.groups[group].functions == before.groups[group].functions - OPENED_AT_ONCE


def test_a_group_that_is_opened_to_the_end_is_gone():
    graph = fan(DRAWN_AT_FIRST + 30)
    drawn = draw(graph)
    while drawn.groups:
        opened = [next(iter(drawn.groups))] * 10
        drawn = draw(graph, opened)
    assert len(drawn.graph.nodes) == len(graph.nodes)
    assert drawn.folded == ""


def test_no_more_is_drawn_than_can_be_laid_out():
    graph = fan(3000)
    (group,) = draw(graph).groups
    drawn = draw(graph, [group] * 100)
    assert len([node for node in drawn.graph.nodes if node.kind != "group"]) == MOST_DRAWN


def test_what_is_missing_is_opened_first():
    graph = fan(3000)
    nodes = [*graph.nodes, FunctionNode("gone", "declaration", "gone", "gone", status="missing")]
    graph = CallGraph(tuple(nodes), (*graph.edges, CallEdge("main", "gone")))
    shown = {node.id for node in draw(graph).graph.nodes}
    (group,) = draw(graph).groups
    shown |= {node.id for node in draw(graph, [group]).graph.nodes}
    assert "gone" in shown


def test_a_session_of_thousands_of_functions_fits_into_a_notebook(session):
    calls = "".join(f"  func.call @f{n}() : () -> ()\n" for n in range(2000))
    bodies = "".join(f"func.func private @f{n}() {{\n  return\n}}\n" for n in range(2000))
    session.define(f"func.func @main() {{\n{calls}  return\n}}\n{bodies}", name="fan")
    bundle, _ = km.inspect(session)._repr_mimebundle_()
    assert len(json.dumps(bundle[SAVED_VIEW_TYPE])) < MOST_BYTES


TEXT = """module {
  // func.func @no(
  func.func private @declared(tensor<f32>) -> tensor<f32>
  func.func public @main(%x: tensor<f32> {jax.name = "}{"}) -> (tensor<f32> {a = 1}) attributes {b} {
    %0 = "stablehlo.case"(%i) ({
      // }
    }) : (tensor<i32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @"a \\22b\\22\\0A"() { return }
}"""


def test_functions_are_found_in_text():
    ids = {"declared": "d", "main": "m", 'a "b"\n': "q"}
    found = [(r["node"], r["first"], r["last"]) for r in ranges(TEXT.split("\n"), ids)]
    assert found == [("d", 3, 3), ("m", 4, 9), ("q", 10, 10)]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("  func.func @f() {", "() → ()"),
        ("func.func @f(%a: tensor<4x?xf32>, %b: i32) -> tensor<f32> {", "(4x?xf32, i32) → f32"),
        (
            "func.func private @f(tensor<2xbf16>) -> (i1, tuple<i1, i1>)",
            "(2xbf16) → (i1, tuple<i1, i1>)",
        ),
        (
            'func.func @f(%a: tensor<1xf32> {jax.n = "a, b"}) -> (tensor<f32> {x = "y"}) {',
            "(1xf32) → f32",
        ),
        ("return", ""),
    ],
)
def test_signatures_are_spelled_as_shapes_are(line, wanted):
    assert signature(line) == wanted
