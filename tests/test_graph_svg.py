"""The static picture: well formed, harmless, complete, and readable without style sheets."""

import re
import xml.etree.ElementTree as ET

import pytest

from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.layout import available_engines
from kernel_magics.graph.measure import cells, cut_middle
from kernel_magics.graph.model import CallEdge, FunctionNode
from kernel_magics.graph.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "a<b>&c",
    'q"uote',
    "back\\slash",
    "</script><img src=x onerror=1>",
    "new\nline",
    "{rec|ord}",
    "%%hlo",
    "node",
    "nul\x00\x1b\x7f",
    "bidi\u202eevil",
    "lone\udc80surrogate",
    "non\ufffecharacter",
    "&lt;b&gt;",
    "]]>",
    "z" + "\u0301" * 40,
    "",
    "日本語の関数名" * 5,
    "x" * 5000,
]


def function(name, **more):
    return FunctionNode(more.pop("id", name), "function", name, more.pop("merged", name), **more)


def three_units():
    nodes = (
        function("main", units=("block",), is_entry=True, op_count=15),
        function("gelu", units=("block", "norm", "scale"), status="reused", op_count=12),
        function("main", id="main_3f9a", merged="main_3f9a", status="renamed", units=("norm",)),
        FunctionNode("softcap", "declaration", "softcap", "softcap", units=("scale",)),
        FunctionNode("call_target:rms", "custom_call", "rms", "rms", status="missing"),
        FunctionNode("call_target:qr", "custom_call", "qr", "qr"),
        function("decomposed", units=("norm",), op_count=1),
    )
    edges = (
        CallEdge("main", "gelu", count=4),
        CallEdge("main_3f9a", "gelu"),
        CallEdge("main", "softcap"),
        CallEdge("main_3f9a", "call_target:rms", "custom_call"),
        CallEdge("main_3f9a", "call_target:qr", "custom_call", 3),
        CallEdge("main_3f9a", "decomposed", "composite"),
        CallEdge("main", "decomposed", "reference"),
    )
    return FunctionGraph(nodes, edges, "session", {"block": "A", "norm": "B", "scale": "C"})


def texts(svg):
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314  # our own output


def test_every_state_is_said_in_words():
    shown = texts(three_units().to_svg())
    for words in (
        "@main",
        "→ @main_3f9a",
        "kept · 15 ops",
        "reused ×3 · 12 ops · also in B, C",
        "renamed · 0 ops",
        "declared only",
        "missing · custom call · 1 call",
        "custom call · 3 calls",
        "kept · 1 op",
        "×4",
    ):
        assert words in shown
    assert [shown.count(name) for name in ("block", "norm", "scale")] == [1, 1, 1]
    begin = next(index for index, line in enumerate(shown) if line.startswith("4 functions"))
    assert " · ".join(shown[begin : begin + 2]) == (
        "4 functions · 3 units · 28 ops · 1 declaration · 2 custom calls · 1 renamed · 1 reused · 24 ops saved"
        " · 1 missing: rms"
    )


def test_counts_of_one_are_not_written():
    assert [text for text in texts(three_units().to_svg()) if text.startswith("×")] == ["×4", "×3"]


def test_dashes_tell_the_kinds_of_edges_apart():
    svg = three_units().to_svg()
    assert svg.count('stroke-dasharray="1.5 3"') == 2
    assert svg.count('stroke-dasharray="7 3 1.5 3"') == 1
    assert svg.count('stroke-dasharray="4 3"') == 1
    assert "Diamond: composite to its decomposition." in svg


def test_the_picture_needs_no_style_script_or_id_and_has_a_ground_and_words():
    root = ET.fromstring(three_units().to_svg())  # noqa: S314  # our own output
    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names <= {"svg", "title", "desc", "g", "rect", "path", "text", "tspan"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not attributes & {"id", "class", "style", "href"}
    assert not [name for name in attributes if name.startswith("on")]
    assert root[0].tag == f"{SVG}title"
    assert root[1].tag == f"{SVG}desc"
    assert root[1].text == (
        "4 functions, 3 units, 28 ops, 1 declaration, 2 custom calls, 1 renamed, 1 reused, "
        "24 ops saved (block, norm, scale). Renamed: @main to @main_3f9a. Reused: @gelu. Missing: rms."
    )
    assert root[2].attrib["fill"] == "#ffffff"
    sizes = [float(e.attrib["font-size"]) for e in root.iter() if "font-size" in e.attrib]
    assert min(sizes) >= 11


@pytest.mark.parametrize("engine", available_engines())
def test_hostile_names_are_text(engine):
    nodes = tuple(
        FunctionNode(f"{kind}{name}", kind, name, name, units=(name,))
        for name in HOSTILE
        for kind in ("function", "custom_call")
    )
    edges = tuple(CallEdge(nodes[0].id, node.id, count=2) for node in nodes)
    letters = {name: chr(ord("A") + index) for index, name in enumerate(HOSTILE)}
    svg = to_svg(FunctionGraph(nodes, edges, HOSTILE[3], letters), engine=engine)
    root = ET.fromstring(svg.encode())  # noqa: S314  # our own output
    assert not list(root.iter("img"))
    shown = texts(svg)
    assert "@a<b>&c" in shown
    assert "@new\\nline" in shown
    assert "@nul\\x00\\x1b\\x7f" in shown
    assert "bidi\\u202eevil" in shown
    assert "lone\\udc80surrogate" in shown
    assert "@&lt;b&gt;" in shown


@pytest.mark.parametrize("engine", available_engines())
def test_names_fit_into_their_boxes(engine):
    names = ["jit_transformer_encoder_block_with_a_name_that_does_not_fit_0", *HOSTILE]
    nodes = tuple(function(name, id=str(i), merged=name + "_9") for i, name in enumerate(names))
    svg = to_svg(FunctionGraph(nodes, ()), engine=engine)
    root = ET.fromstring(svg.encode())  # noqa: S314  # our own output
    checked = 0
    for group in root.iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect")
        if box is None or "width" not in box.attrib:
            continue
        for text in group.findall(f"./{SVG}g/{SVG}text"):
            advance = 0.603 * float(text.attrib["font-size"])
            end = float(text.attrib["x"]) + advance * cells(text.text or "")
            assert end <= float(box.attrib["width"]) - 3
            checked += 1
    assert checked == 2 * len(names)
    assert "<title>@jit_transformer_encoder_block_with_a_name_that_does_not_fit_0 → " in svg


def test_names_are_cut_in_the_middle_and_keep_their_tails():
    assert cut_middle("dynamic_index_in_dim_0", 12) == "dyn…in_dim_0"
    assert cut_middle("short_0", 12) == "short_0"
    assert cut_middle("nounderscores" * 3, 11) == "nound…cores"
    for budget in range(3, 40):
        for name in HOSTILE:
            assert cells(cut_middle(name, budget)) <= budget


def test_an_empty_graph_says_so():
    svg = FunctionGraph((), (), "norm").to_svg()
    assert texts(svg) == ["norm: this module holds no function."]


def test_what_is_folded_is_said_and_the_file_stays_small():
    nodes = (
        function("main", is_entry=True),
        *(function(f"leaf_{i}", op_count=3) for i in range(2000)),
    )
    edges = tuple(CallEdge("main", f"leaf_{i}", count=1 + i % 3) for i in range(2000))
    svg = FunctionGraph(nodes, edges).to_svg()
    shown = texts(svg)
    assert "… 1,994 more functions" in shown
    assert "5,982 ops · called by @main" in shown
    assert any("1,994 functions folded into 1 group" in line for line in shown)
    assert len(svg.encode()) < 20_000


@pytest.mark.parametrize("engine", available_engines())
def test_a_picture_of_120_nodes_is_below_200_kb(engine):
    nodes = tuple(
        function(f"function_number_{i}", merged=f"function_number_{i}_3f9a", units=("u", "v"))
        for i in range(120)
    )
    edges = tuple(
        CallEdge(nodes[(i - 1) // 5].id, nodes[i].id, count=2 + j)
        for i in range(1, 120)
        for j in range(2)
    )
    svg = to_svg(FunctionGraph(nodes, edges, "s", {"u": "A", "v": "B"}), engine=engine)
    assert len(re.findall("→ @", svg.split("</desc>")[1])) >= 120
    assert len(svg.encode()) < 200_000


def test_many_units_get_a_legend_that_wraps_and_ends():
    letters = {f"unit_{i}": ("A" if i > 25 else "") + chr(ord("A") + i % 26) for i in range(40)}
    nodes = tuple(function(f"f{i}", units=(f"unit_{i}",)) for i in range(40))
    shown = texts(FunctionGraph(nodes, (), "session", letters).to_svg())
    assert "unit_23" in shown
    assert "unit_24" not in shown
    assert "and 16 more units" in shown
    assert "AN" in shown


def test_a_picture_is_the_same_twice():
    assert three_units().to_svg() == three_units().to_svg()
