"""Layouts: every engine gives boxes that do not overlap, for any graph."""

import itertools
import random
import subprocess

import pytest

from kernel_magics.graph import layout as layout_module
from kernel_magics.graph.geometry import MAX_WIDTH, MIN_WIDTH, NODE_HEIGHT, Problem
from kernel_magics.graph.layout import Layout, available_engines, lay_out
from kernel_magics.graph.layout_graphviz import (
    EngineFailedError,
    find_engine,
    lay_out_with_graphviz,
)
from kernel_magics.graph.model import CallEdge, CallGraph, FunctionNode

ENGINES = available_engines()


def graph_of(count, pairs, entries=(0,)):
    nodes = tuple(
        FunctionNode(f"f{i}", "function", f"f{i}", f"f{i}", is_entry=i in entries)
        for i in range(count)
    )
    return CallGraph(nodes, tuple(CallEdge(f"f{a}", f"f{b}") for a, b in pairs))


def random_pairs(count, edges, *, cyclic):
    chance = random.Random(count * edges)  # noqa: S311  # the same graph in every run
    pairs = [(chance.randrange(count), chance.randrange(count)) for _ in range(edges)]
    return pairs if cyclic else sorted({(min(p), max(p)) for p in pairs if p[0] != p[1]})


ODD_GRAPHS = {
    "nothing": graph_of(0, []),
    "one": graph_of(1, []),
    "one that calls itself": graph_of(1, [(0, 0)]),
    "two that call each other": graph_of(2, [(0, 1), (1, 0)]),
    "isolated": graph_of(40, []),
    "parallel": graph_of(3, [(0, 1), (0, 1), (0, 1), (1, 2)]),
    "tree": graph_of(31, [((i - 1) // 2, i) for i in range(1, 31)]),
    "acyclic": graph_of(60, random_pairs(60, 120, cyclic=False)),
    "cyclic": graph_of(40, random_pairs(40, 90, cyclic=True)),
    "300": graph_of(300, random_pairs(300, 400, cyclic=False)),
    "all entries": graph_of(20, random_pairs(20, 30, cyclic=True), entries=range(20)),
}


def overlapping(layout: Layout):
    boxes = [placed.box for placed in layout.nodes]
    return [
        (a, b)
        for a, b in itertools.combinations(boxes, 2)
        if a.x < b.x + b.width - 0.1
        and b.x < a.x + a.width - 0.1
        and a.y < b.y + b.height - 0.1
        and b.y < a.y + a.height - 0.1
    ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_no_two_boxes_overlap_and_everything_lies_inside(name, engine):
    graph = ODD_GRAPHS[name]
    widths = {node.id: 140 + 9 * (index % 17) for index, node in enumerate(graph.nodes)}
    layout = lay_out(graph, widths, engine)
    assert len(layout.nodes) == len(graph.nodes)
    assert len(layout.edges) == len(graph.edges)
    assert overlapping(layout) == []
    for placed in layout.nodes:
        assert MIN_WIDTH <= placed.box.width <= MAX_WIDTH
        assert placed.box.height == NODE_HEIGHT
    points = [point for path in layout.edges for point in (*path.points, path.tip)]
    points += [(p.box.x + p.box.width, p.box.y + p.box.height) for p in layout.nodes]
    assert all(-0.1 <= x <= layout.width + 0.1 for x, _ in points)
    assert all(-0.1 <= y <= layout.height + 0.1 for _, y in points)


@pytest.mark.parametrize("engine", ENGINES)
def test_callers_stand_left_and_edges_run_from_side_to_side(engine):
    layout = lay_out(ODD_GRAPHS["tree"], None, engine)
    assert layout.engine == engine
    boxes = {placed.node.id: placed.box for placed in layout.nodes}
    for path in layout.edges:
        caller, callee = boxes[path.edge.caller], boxes[path.edge.callee]
        assert caller.x + caller.width < callee.x
        assert path.points[0] == pytest.approx(caller.right, abs=0.5)
        assert path.tip == pytest.approx(callee.left, abs=0.5)
        assert len(path.points) % 3 == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_has_one_width(engine):
    graph = ODD_GRAPHS["acyclic"]
    widths = {node.id: 150 + 5 * (index % 20) for index, node in enumerate(graph.nodes)}
    layout = lay_out(graph, widths, engine)
    joined = {name for edge in graph.edges for name in (edge.caller, edge.callee)}
    columns: dict[int, set[float]] = {}
    for placed in layout.nodes:
        if placed.node.id in joined:
            centre = round(placed.box.x + placed.box.width / 2)
            columns.setdefault(centre, set()).add(placed.box.width)
    assert len(columns) > 2
    assert all(len(found) == 1 for found in columns.values())


@pytest.mark.parametrize("engine", ENGINES)
def test_an_entry_stands_in_the_first_column_though_it_calls_only_the_last(engine):
    graph = graph_of(5, [(0, 1), (1, 2), (2, 3), (4, 3)], entries=(0, 4))
    layout = lay_out(graph, None, engine)
    left = {placed.node.id: placed.box.x for placed in layout.nodes}
    assert left["f0"] == pytest.approx(left["f4"], abs=0.5)
    assert left["f0"] < left["f1"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_layout_is_the_same_twice(engine):
    graph = ODD_GRAPHS["cyclic"]
    assert lay_out(graph, None, engine) == lay_out(graph, None, engine)


def test_a_second_node_of_one_id_and_edges_to_nowhere_are_left_out():
    node = FunctionNode("f", "function", "f", "f")
    graph = CallGraph((node, node), (CallEdge("f", "gone"), CallEdge("gone", "f")))
    layout = lay_out(graph)
    assert [placed.node for placed in layout.nodes] == [node]
    assert layout.edges == ()


def test_plain_layering_of_a_long_chain_neither_recurses_nor_gets_slow():
    chain = [(i, i + 1) for i in range(4999)]
    long_edges = [(0, i) for i in range(2, 5000)]
    layout = lay_out(graph_of(5000, chain + long_edges), None, "plain")
    assert len(layout.edges) == 9997


def test_a_missing_engine_gives_the_plain_layering(monkeypatch):
    monkeypatch.setattr(layout_module, "find_engine", lambda _: None)
    assert available_engines() == ("plain",)
    assert lay_out(ODD_GRAPHS["tree"], None, "dot").engine == "plain"
    assert lay_out(ODD_GRAPHS["tree"]).engine == "plain"


def script(folder, text):
    path = folder / "engine"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "text",
    [
        "exec sleep 60",
        "exit 3",
        "echo no json",
        "echo []",
        "echo '{}'",
        """echo '{"objects": [{"name": "n0", "pos": "x"}]}'""",
    ],
)
def test_an_engine_that_fails_gives_the_plain_layering(text, tmp_path, monkeypatch):
    command = script(tmp_path, text)
    monkeypatch.setattr(layout_module, "find_engine", lambda _: command)
    layout = lay_out(ODD_GRAPHS["tree"], None, "dot", time_limit_s=0.5)
    assert layout.engine == "plain"
    with pytest.raises(EngineFailedError):
        lay_out_with_graphviz(command, Problem([150, 160], [(0, 1)]), 0.5)


def test_an_interrupt_kills_the_engine_and_goes_on(tmp_path, monkeypatch):
    children = []

    def interrupted(self, *_args, **_more):
        children.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lay_out_with_graphviz(script(tmp_path, "exec sleep 60"), Problem([150], []), 60)
    assert [child.returncode for child in children] == [-9]


def test_graphviz_pure_is_found_beside_this_python():
    assert find_engine("graphviz-pure") is not None
    assert find_engine("no such engine") is None
