"""Folding: large graphs become small ones, and no function, op or call is lost on the way."""

import random

import pytest

from kernel_magics.graph.fold import fold
from kernel_magics.graph.model import CallEdge, CallGraph, FunctionNode


def function(name, **more):
    return FunctionNode(name, "function", name, name, op_count=3, **more)


def fan(leaves):
    nodes = (function("main", is_entry=True), *(function(f"leaf_{i}") for i in range(leaves)))
    return CallGraph(nodes, tuple(CallEdge("main", f"leaf_{i}") for i in range(leaves)))


def chain(length):
    nodes = tuple(function(f"f{i}", is_entry=i == 0) for i in range(length))
    return CallGraph(nodes, tuple(CallEdge(f"f{i}", f"f{i + 1}") for i in range(length - 1)))


def anything(count, calls):
    chance = random.Random(count)  # noqa: S311  # the same graph in every run
    nodes = tuple(
        FunctionNode(f"f{i}", "custom_call", f"f{i}", f"f{i}", status="missing")
        if i % 50 == 49
        else function(f"f{i}", is_entry=i % 40 == 0, units=(f"u{i % 3}",))
        for i in range(count)
    )
    edges = tuple(
        CallEdge(f"f{chance.randrange(count)}", f"f{chance.randrange(count)}", count=1 + i % 3)
        for i in range(calls)
    )
    return CallGraph(nodes, edges, unit_letters={"u0": "A", "u1": "B", "u2": "C"})


LARGE = {
    "fan": fan(2000),
    "chain": chain(1000),
    "300": anything(300, 500),
    "no calls": anything(500, 0),
    "dense": anything(130, 9000),
    "cycle": CallGraph(
        tuple(function(f"f{i}") for i in range(400)),
        tuple(CallEdge(f"f{i}", f"f{(i + 1) % 400}") for i in range(400)),
    ),
    "an id that a group would like": CallGraph(
        (*fan(300).nodes, function("folded:main"), function("folded:")), fan(300).edges
    ),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("limit", [1, 7, 120])
def test_what_is_drawn_and_what_is_folded_add_up(name, limit):
    graph = LARGE[name]
    folded = fold(graph, limit)
    drawn = [node for node in folded.graph.nodes if node.kind != "group"]
    assert len(drawn) <= limit
    groups = folded.groups
    members = sum(group.functions + group.custom_calls for group in groups)
    assert len(drawn) + members == len(graph.nodes)
    ops = sum(node.op_count for node in graph.nodes)
    assert sum(node.op_count for node in folded.graph.nodes) == ops
    assert sum(node.op_count for node in drawn) + sum(group.ops for group in groups) == ops
    missing = sum(node.status == "missing" for node in drawn)
    assert missing + sum(group.missing for group in groups) == graph.counts["missing"]
    calls = sum(edge.count for edge in folded.graph.edges)
    hidden = folded.hidden_calls + sum(group.inner_calls for group in groups)
    assert calls + hidden == sum(edge.count for edge in graph.edges)


@pytest.mark.parametrize("name", LARGE)
def test_a_folded_graph_is_sound_and_the_same_twice(name):
    folded = fold(LARGE[name])
    ids = [node.id for node in folded.graph.nodes]
    assert len(ids) == len(set(ids))
    assert {edge.caller for edge in folded.graph.edges} <= set(ids)
    assert {edge.callee for edge in folded.graph.edges} <= set(ids)
    assert fold(LARGE[name]) == folded


def test_a_small_graph_stays_as_it_is():
    graph = fan(100)
    assert fold(graph).graph is graph
    assert fold(graph).groups == ()


def test_many_leaves_of_one_caller_stand_in_one_group_beside_it():
    folded = fold(fan(1000))
    assert [node.id for node in folded.graph.nodes] == [
        "main",
        *(f"leaf_{i}" for i in range(6)),
        "folded:main",
    ]
    assert folded.graph.nodes[-1].author_name == "… 994 more functions"
    assert folded.groups[0].caller == "main"
    assert folded.graph.edges[-1] == CallEdge("main", "folded:main", count=994)


def test_a_long_chain_is_cut_and_its_end_is_one_group():
    folded = fold(chain(1000))
    assert [node.id for node in folded.graph.nodes] == [*(f"f{i}" for i in range(15)), "folded:"]
    assert folded.groups[0].inner_calls == 984
    assert folded.graph.edges[-1] == CallEdge("f14", "folded:")


def test_missing_targets_are_the_last_to_be_folded():
    graph = fan(1000)
    missing = FunctionNode("call_target:x", "custom_call", "x", "x", status="missing")
    graph = CallGraph(
        (*graph.nodes, missing), (*graph.edges, CallEdge("main", "call_target:x", "custom_call"))
    )
    assert missing in fold(graph).graph.nodes


def test_a_group_of_custom_calls_alone_says_so():
    targets = tuple(
        FunctionNode(f"call_target:t{i}", "custom_call", f"t{i}", f"t{i}") for i in range(200)
    )
    graph = CallGraph(
        (function("main", is_entry=True), *targets),
        tuple(CallEdge("main", target.id, "custom_call") for target in targets),
    )
    folded = fold(graph)
    assert folded.graph.nodes[-1].author_name == "… 194 more custom calls"
    assert folded.folded_functions == 0


def test_too_many_edges_are_cut_but_every_called_node_keeps_one():
    nodes = tuple(function(f"f{i}") for i in range(100))
    edges = tuple(CallEdge(f"f{i}", f"f{j}") for i in range(100) for j in range(100))
    folded = fold(CallGraph(nodes, edges))
    assert len(folded.graph.edges) == 480
    assert folded.hidden_calls == 10_000 - 480
    assert {edge.callee for edge in folded.graph.edges} == {node.id for node in nodes}
