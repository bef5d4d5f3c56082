"""Ops as pictures and text: no overlap, boxes inside boxes, every engine, any content."""

import itertools
import json
import subprocess
import time
import xml.etree.ElementTree as ET

import pytest

from kernel_magics.graph import ops_layout
from kernel_magics.graph.geometry import Box
from kernel_magics.graph.json_ops import view_json
from kernel_magics.graph.layout import available_engines
from kernel_magics.graph.layout_graphviz import EngineFailedError, find_engine
from kernel_magics.graph.ops_geometry import GROUP_HEIGHT, OP_HEAD, OP_HEIGHT
from kernel_magics.graph.ops_layout import lay_out_ops
from kernel_magics.graph.ops_problem import BlockProblem, lay_out_downwards, lay_out_in_layers
from kernel_magics.graph.ops_source import UnitOps
from kernel_magics.graph.ops_view import ViewOptions
from kernel_magics.graph.svg_ops import ops_svg
from kernel_magics.ir.source import Source
from tests.test_graph_ops import HOSTILE, REGIONS
from tests.test_graph_ops_view import SMALL, chain, nested

ENGINES = available_engines()
PROGRAMS = {
    "regions": (REGIONS, ViewOptions()),
    "small": (SMALL, ViewOptions()),
    "trivial": (SMALL, ViewOptions(is_trivial_folded=True)),
    "entered": (SMALL, ViewOptions(root="8")),
    "chain": (chain(120), ViewOptions()),
    "groups": (chain(3000), ViewOptions()),
    "nested": (nested(30), ViewOptions()),
    "empty": ("func.func @main() { return }", ViewOptions()),
}


def view_of(name):
    text, options = PROGRAMS[name]
    return UnitOps(Source(text), "unit", {}).open("main").view(options)


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width - 0.1
        and other.x < one.x + one.width - 0.1
        and one.y < other.y + other.height - 0.1
        and other.y < one.y + one.height - 0.1
    )


def holds(outer: Box, inner: Box) -> bool:
    return (
        outer.x <= inner.x + 0.1
        and outer.y <= inner.y + 0.1
        and inner.x + inner.width <= outer.x + outer.width + 0.1
        and inner.y + inner.height <= outer.y + outer.height + 0.1
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_boxes_overlap_nowhere_and_lie_in_what_holds_them(name, engine):
    view = view_of(name)
    layout = lay_out_ops(view, engine, 30.0)
    boxes = {placed.item.id: placed.box for placed in layout.items}
    frames = {placed.block.id: placed.box for placed in layout.blocks}
    assert len(boxes) == len(layout.items) == view.drawn
    pending = [(block, None) for block in view.blocks]
    while pending:
        block, holder = pending.pop()
        inside = [boxes[item.id] for item in block.items]
        assert not any(overlap(a, b) for a, b in itertools.combinations(inside, 2))
        frame = frames.get(block.id)
        assert holder is None or frame is not None
        for item in block.items:
            assert frame is None or holds(frame, boxes[item.id])
            pending += [(region, item) for region in item.regions]
        if holder is not None:
            assert holds(boxes[holder.id], frame)
            assert frame.y >= boxes[holder.id].y + OP_HEAD
    page = Box(0, 0, layout.width, layout.height)
    assert all(holds(page, box) for box in [*boxes.values(), *frames.values()])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_edges_run_down_from_box_to_box(name, engine):
    view = view_of(name)
    layout = lay_out_ops(view, engine, 30.0)
    boxes = {placed.item.id: placed.box for placed in layout.items}
    for path in layout.links:
        tail, head = boxes[path.source], boxes[path.target]
        assert tail.y + tail.height <= head.y
        assert len(path.points) % 3 == 1
        x, y = path.points[0]
        assert tail.x - 9 <= x <= tail.x + tail.width + 9
        assert tail.y - 1 <= y <= tail.y + tail.height + 1
        assert head.x - 9 <= path.tip[0] <= head.x + head.width + 9
        assert head.y - 1 <= path.tip[1] <= head.y + head.height + 1


def test_sizes_are_those_of_the_style_guide():
    layout = lay_out_ops(view_of("groups"))
    assert {placed.box.height for placed in layout.items} == {OP_HEIGHT, GROUP_HEIGHT}
    assert OP_HEIGHT == 26
    assert OP_HEAD == 32


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_types_cover_no_box_and_each_other(name, engine):
    layout = lay_out_ops(view_of(name), engine, 30.0)
    labels = [Box(label.x, label.y - 9, len(label.text) * 6.5, 11) for label in layout.types]
    closed = [placed.box for placed in layout.items if not placed.item.regions]
    assert not any(overlap(a, b) for a, b in itertools.combinations(labels, 2))
    assert not any(overlap(label, box) for label in labels for box in closed)
    assert len(labels) == len({(label.x, label.y) for label in labels})


def test_a_type_is_written_once_a_value():
    graph = UnitOps(
        Source("""func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %a = stablehlo.tanh %x : tensor<8xf32>
          %b = stablehlo.negate %x : tensor<8xf32>
          %c = stablehlo.add %a, %b : tensor<8xf32>
          return %c : tensor<8xf32>
        }"""),
        "u",
        {},
    ).open("main")
    assert len(lay_out_ops(graph.view()).types) == 4


def test_a_layout_is_the_same_twice():
    view = view_of("regions")
    one, other = lay_out_ops(view, time_limit_s=30.0), lay_out_ops(view, time_limit_s=30.0)
    assert (one.items, one.links, one.types) == (other.items, other.links, other.types)


def test_an_engine_without_time_gives_the_plain_layering():
    layout = lay_out_ops(view_of("regions"), time_limit_s=0.0)
    assert layout.engine == "plain"
    problem = BlockProblem([(50, 26)] * 3, [(0, 1), (1, 2)])
    with pytest.raises(EngineFailedError):
        lay_out_downwards(problem, find_engine("graphviz-pure"), time.monotonic() - 1)


@pytest.mark.parametrize("answer", ["echo no json", "exit 3", "echo '{}'", "exec sleep 60"])
def test_an_engine_that_fails_gives_the_plain_layering(answer, tmp_path, monkeypatch):
    path = tmp_path / "engine"
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    monkeypatch.setattr(ops_layout, "find_engine", lambda _: str(path))
    assert lay_out_ops(view_of("regions"), "dot", 0.3).engine == "plain"


def test_layers_take_cycles_and_parallel_edges():
    problem = BlockProblem([(60, 26)] * 4, [(0, 1), (1, 2), (2, 0), (0, 1), (3, 3 - 1)])
    drawing = lay_out_in_layers(problem)
    assert len(drawing.splines) == 5
    assert not any(overlap(a, b) for a, b in itertools.combinations(drawing.boxes, 2))
    upwards = 0
    for (tail, head), curve in zip(problem.edges, drawing.splines, strict=True):
        start, end = drawing.boxes[tail], drawing.boxes[head]
        is_upwards = start.y > end.y
        upwards += is_upwards
        assert curve.tip[1] == (end.y + end.height if is_upwards else end.y)
        assert curve.points[0][1] == (start.y if is_upwards else start.y + start.height)
        assert curve.points[-1][1] == curve.tip[1] + (8 if is_upwards else -8)
    assert upwards == 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_picture_is_xml_of_presentation_attributes(name):
    svg = ops_svg(view_of(name))
    root = ET.fromstring(svg)  # noqa: S314  # our own text
    tags = {element.tag.partition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "rect", "g", "path", "text", "tspan"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not attributes & {"style", "class", "id", "href", "onclick"}
    sizes = [float(e.attrib["font-size"]) for e in root.iter() if "font-size" in e.attrib]
    assert min(sizes) >= 11


def test_the_picture_says_what_it_shows_and_what_not():
    svg = ops_svg(view_of("groups"), note="compiled in 3 s")
    assert ">1 of 3,001 ops drawn</tspan>" in svg
    assert ">3,000 ops folded into 8 groups by order</tspan>" in svg
    assert ">compiled in 3 s</tspan>" in svg
    svg = ops_svg(view_of("regions"))
    assert "Hexagon: custom call." in svg
    assert "Dashed pill: a value from outside the region." in svg
    assert "Σ reduce." in svg


def test_static_pictures_stay_small():
    graph = UnitOps(Source(chain(50_000)), "u", {}).open("main")
    assert len(graph.to_svg()) < 200_000
    assert graph.to_svg(ViewOptions(limit=8)).count("ops folded by order") >= 4


def test_the_outline_names_values_regions_and_types():
    text = UnitOps(Source(SMALL), "u", {}).open("main").to_text()
    assert text.startswith("@main: 11 of 13 ops drawn, 2 constants folded\n  %x  ")
    lines = [" ".join(line.split()) for line in text.split("\n")]
    assert lines[1:] == [
        "%x 8xf32",
        "%i i32",
        "%ones = broadcast_in_dim const 1 → 8xf32",
        "%a = add (%x, %ones) → 8xf32",
        "%b = multiply const 8xf32 (%a) → 8xf32",
        "%r = reshape (%b) → 2x4xf32",
        "%t = transpose (%r) → 4x2xf32",
        "%u = reshape (%t) → 8xf32",
        "%case = case (%i, %u, %a) → 8xf32",
        "├─ branch 0 1 op",
        "│ %u from outside",
        "│ return (%u)",
        "├─ branch 1 2 ops",
        "│ %a from outside",
        "│ %n = negate (%a) → 8xf32",
        "│ return (%n)",
        "return (%case)",
        "",
    ]


def test_a_long_outline_is_cut_and_says_so():
    graph = UnitOps(Source(chain(700)), "u", {}).open("main")
    lines = graph.to_text().split("\n")
    assert len(lines) == 203
    assert lines[-2] == "… 502 more lines left out"


@pytest.mark.parametrize("name", PROGRAMS)
def test_dot_text_is_taken_by_graphviz(name):
    text, options = PROGRAMS[name]
    dot = UnitOps(Source(text), "unit", {}).open("main").to_dot(options)
    command = find_engine("graphviz-pure")
    done = subprocess.run(
        [command, "-Tsvg"], input=dot, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "rror" not in done.stderr


@pytest.mark.parametrize("name", HOSTILE)
def test_dot_text_of_hostile_names_is_labels(name):
    quoted = "".join(f"\\{byte:02X}" for byte in name.encode())
    graph = UnitOps(
        Source(f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
          %1 = stablehlo.custom_call @"{quoted}"(%x) : (tensor<f32>) -> tensor<f32>
          return %1 : tensor<f32>
        }}"""),
        "u",
        {},
    ).open("main")
    done = subprocess.run(
        [find_engine("graphviz-pure"), "-Tjson0"],
        input=graph.to_dot(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(json.loads(done.stdout)["objects"]) == 3


def test_the_json_of_a_drawing_holds_places_and_curves():
    view = view_of("small")
    layout = lay_out_ops(view)
    plain = json.loads(view_json(view, layout))
    (block,) = plain["blocks"]
    add = next(item for item in block["items"] if item["label"] == "add")
    assert (add["id"], add["name"], add["does"], add["line"]) == (
        "3",
        "stablehlo.add",
        "elementwise",
        5,
    )
    assert len(add["box"]) == 4
    case = next(item for item in block["items"] if item["label"] == "case")
    assert [region["name"] for region in case["regions"]] == ["branch 0", "branch 1"]
    assert all(len(link["points"]) % 6 == 2 for link in plain["links"])
    assert {link["source"] for link in plain["links"]} <= {item.id for item in view.items()}
    assert plain["left_out"] == ["2 constants folded"]


def test_the_json_of_a_drawing_is_harmless_in_a_page():
    graph = UnitOps(
        Source("""func.func @main(%x: tensor<f32>) -> tensor<f32> {
          %1 = stablehlo.custom_call @"</script>"(%x) : (tensor<f32>) -> tensor<f32>
          return %1 : tensor<f32>
        }"""),
        "u",
        {},
    ).open("main")
    view = graph.view()
    assert "<" not in view_json(view, lay_out_ops(view))
