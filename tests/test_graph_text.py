"""The outline: complete, linear, and plain about what it leaves out."""

import time
from itertools import pairwise

from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.model import CallEdge, FunctionNode
from kernel_magics.graph.text import to_text


def function(name, **more):
    return FunctionNode(more.pop("id", name), "function", name, more.pop("merged", name), **more)


def graph(names, pairs):
    return FunctionGraph(
        tuple(function(name, op_count=1) for name in names),
        tuple(CallEdge(*pair) for pair in pairs),
    )


def test_the_outline_of_three_units():
    nodes = (
        function("helper", units=("block",), op_count=1234),
        function("main", units=("block",), is_entry=True, op_count=15),
        function("gelu", units=("block", "norm"), status="reused", op_count=12),
        function(
            "main",
            id="main_3f9a",
            merged="main_3f9a",
            status="renamed",
            units=("norm",),
            is_entry=True,
            op_count=1,
        ),
        FunctionNode("softcap", "declaration", "softcap", "softcap", units=("norm",)),
        FunctionNode("call_target:rms", "custom_call", "rms", "rms", status="missing"),
        FunctionNode("call_target:qr", "custom_call", "qr", "qr"),
    )
    edges = (
        CallEdge("main", "helper", count=4),
        CallEdge("helper", "gelu"),
        CallEdge("helper", "call_target:qr", "custom_call"),
        CallEdge("main_3f9a", "gelu", "composite"),
        CallEdge("main_3f9a", "softcap", "reference"),
        CallEdge("main_3f9a", "call_target:rms", "custom_call", 2),
    )
    shown = FunctionGraph(nodes, edges, "session", {"block": "A", "norm": "B"}).to_text()
    assert shown.splitlines() == [
        (
            "session: 4 functions, 2 units, 1,262 ops, 1 declaration, 2 custom calls, 1 renamed, "
            "1 reused, 12 ops saved, 1 missing"
        ),
        "units: A block · B norm",
        "A    @main                    kept                     15 ops, entry",
        "A    └─ @helper ×4            kept                  1,234 ops",
        "A+B     ├─ @gelu              reused ×2                12 ops",
        "        └─ qr                 custom call",
        "B    @main                    renamed → @main_3f9a      1 op, entry",
        "A+B  ├─ @gelu (composite)     ↑ see above",
        "B    ├─ @softcap (reference)  declared only",
        "     └─ rms ×2                custom call, missing",
    ]


def test_cycles_are_named_where_they_close():
    shown = graph("abc", [("a", "b"), ("b", "c"), ("c", "b"), ("c", "c")]).to_text()
    assert shown.splitlines()[1:] == [
        "@a           kept  1 op",
        "└─ @b        kept  1 op",
        "   └─ @c     kept  1 op",
        "      ├─ @b  ↻ cycle: still open above",
        "      └─ @c  ↻ cycle: still open above",
    ]


def test_a_cycle_that_nobody_enters_is_shown_too():
    shown = graph("ab", [("a", "b"), ("b", "a")]).to_text()
    assert [line.split()[0] for line in shown.splitlines()[1:]] == ["@a", "└─", "└─"]


def test_a_function_called_from_two_places_is_written_in_full_once():
    shown = graph("abcd", [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).to_text()
    assert sum("@d" in line and "kept" in line for line in shown.splitlines()) == 1
    assert sum("@d" in line and "↑ see above" in line for line in shown.splitlines()) == 1


def test_what_is_left_out_is_counted():
    names = ["main", *(f"leaf_{i}" for i in range(2000))]
    pairs = [("main", name) for name in names[1:]]
    lines = to_text(graph(names, pairs), limit=200).splitlines()
    assert len(lines) == 202
    assert lines[-1] == "… 1,801 more lines left out, with 1,801 functions not shown above"


def test_a_chain_of_thousands_neither_recurses_nor_gets_slow():
    names = [f"f{i}" for i in range(20_000)]
    chain = graph(names, list(pairwise(names)))
    start = time.perf_counter()
    lines = to_text(chain, limit=1000).splitlines()
    assert time.perf_counter() - start < 5
    assert len(lines) == 1002
    assert max(map(len, lines)) < 110
    assert lines[501].startswith("⋯ level 500 ")


def test_hostile_names_stay_on_one_line():
    shown = graph(["a\nb", "c\x1b[31m", "d\u202e", "日本"], []).to_text()
    assert shown.splitlines()[1:] == [
        "@a\\nb       kept  1 op",
        "@c\\x1b[31m  kept  1 op",
        "@d\\u202e    kept  1 op",
        "@日本       kept  1 op",
    ]


def test_an_empty_graph_says_so():
    assert FunctionGraph((), (), "norm").to_text() == "norm: this module holds no function.\n"
