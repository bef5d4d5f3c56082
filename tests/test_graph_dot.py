"""DOT: hostile names stay labels, and Graphviz reads what is written."""

import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

from kernel_magics.graph.dot import to_dot
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.layout import available_engines
from kernel_magics.graph.layout_graphviz import find_engine
from kernel_magics.graph.model import CallEdge, FunctionNode

PROGRAMS = [engine for engine in available_engines() if engine != "plain"]
HOSTILE = [
    "a<b>&c",
    'q"uote',
    "back\\slash",
    "ends with \\",
    "</script><img src=x onerror=1>",
    "new\nline",
    "{rec|ord}",
    "%%hlo",
    "node",
    "a:b",
    "<b>html</b>",
    "\\N \\G \\l",
    "&lt;entity&gt; &amp; &#65;",
    "nul\x00",
    "lone\udc80",
    '"] evil [label="',
]


def test_the_text_of_a_small_graph():
    nodes = (
        FunctionNode("main", "function", "main", "main", is_entry=True, op_count=2, units=("n",)),
        FunctionNode("h_1", "function", "h", "h_1", "renamed", op_count=1, units=("n",)),
        FunctionNode("d", "declaration", "d", "d"),
        FunctionNode("call_target:t", "custom_call", "t", "t", "missing"),
    )
    edges = (
        CallEdge("main", "h_1", count=4),
        CallEdge("main", "d", "reference"),
        CallEdge("main", "h_1", "composite"),
        CallEdge("h_1", "call_target:t", "custom_call"),
    )
    body = FunctionGraph(nodes, edges, "s", {"n": "A", "m": "B"}).to_dot().splitlines()[4:]
    assert body == [
        '\tlabel="s\\l" labeljust=l labelloc=t',
        '\tn0 [label="▸ @main\\lunit A · kept · 2 ops\\l" penwidth=2]',
        '\tn1 [label="@h → @h_1\\lunit A · renamed · 1 op\\l"]',
        '\tn2 [label="@d\\ldeclared only\\l" style=dashed]',
        '\tn3 [label="t\\lmissing\\l" color="#a92525" fontcolor="#a92525" shape=octagon]',
        '\tn0 -> n1 [headlabel="×4"]',
        "\tn0 -> n2 [label=reference arrowhead=vee style=dashed]",
        "\tn0 -> n1 [arrowtail=odiamond dir=both]",
        "\tn1 -> n3 [style=dotted]",
        "}",
    ]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", ["function", "custom_call"])
def test_graphviz_shows_hostile_names_as_they_are(program, kind):
    nodes = tuple(FunctionNode(name, kind, name, name) for name in HOSTILE)
    edges = tuple(CallEdge(HOSTILE[0], name) for name in HOSTILE[1:])
    dot = to_dot(FunctionGraph(nodes, edges, HOSTILE[0]))
    command = find_engine(program)
    assert command is not None
    run = subprocess.run(
        [command, "-Tsvg"], input=dot.encode(), capture_output=True, check=True, timeout=60
    )
    svg = ET.fromstring(run.stdout)  # noqa: S314  # Graphviz's own output
    shown = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    at = "@" if kind == "function" else ""
    for name in HOSTILE:
        spelled = name.replace("\n", "\\n").replace("\x00", "\\x00").replace("\udc80", "\\udc80")
        assert at + spelled in shown
    assert len(re.findall(rb'class="node"', run.stdout)) == len(HOSTILE)
    assert len(re.findall(rb'class="edge"', run.stdout)) == len(HOSTILE) - 1


def test_odd_graphs_are_written():
    node = FunctionNode("f", "function", "f", "f")
    dot = to_dot(FunctionGraph((node, node), (CallEdge("f", "f"), CallEdge("f", "gone"))))
    assert dot.count("n0 -> n0") == 1
    assert "n1" not in dot
    assert to_dot(FunctionGraph((), ())).startswith("digraph {")
