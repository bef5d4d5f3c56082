"""One query syntax for functions and ops."""

import pytest

import kernel_magics as km
from kernel_magics.errors import UsageError
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.model import CallEdge, FunctionNode
from kernel_magics.graph.query import KEYS, Term, parse_query, split_type

ONE = """
func.func @main(%x: tensor<128x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<128x32xbf16> {
  %0 = call @layer_norm(%x) : (tensor<128x64xbf16>) -> tensor<128x64xbf16>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<128x64xbf16>, tensor<64x32xbf16>) -> tensor<128x32xbf16>
  %2 = stablehlo.custom_call @lapack_gemm(%1) : (tensor<128x32xbf16>) -> tensor<128x32xbf16>
  return %2 : tensor<128x32xbf16>
}
func.func private @layer_norm(%a: tensor<128x64xbf16>) -> tensor<128x64xbf16> {
  %0 = stablehlo.convert %a : (tensor<128x64xbf16>) -> tensor<128x64xf32>
  %1 = stablehlo.convert %0 : (tensor<128x64xf32>) -> tensor<128x64xbf16>
  return %1 : tensor<128x64xbf16>
}"""
TWO = """
func.func @other(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = call @layer_norm(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
func.func private @layer_norm(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.negate %a : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}"""


@pytest.fixture(scope="module")
def graph():
    session = km.Session()
    session.define(ONE, name="first unit")
    session.define(TWO, name="second")
    return session.graph()


def names(hits):
    return [f"{hit.function}/{hit.op}".removesuffix("/") for hit in hits]


@pytest.fixture(scope="module")
def renamed(graph):
    return next(node.id for node in graph.nodes if node.status == "renamed")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["main", "call_target:lapack_gemm", "layer_norm", "other", "RENAMED"]),
        ("layer", ["layer_norm", "RENAMED"]),
        ("LAYER_n", ["layer_norm", "RENAMED"]),
        ("l*norm", ["layer_norm", "RENAMED"]),
        ('"layer norm"', []),
        ("layer -unit:second", ["layer_norm"]),
        ("calls:layer_", ["main", "other"]),
        ("calls:layer_ -main", ["other"]),
        ('unit:"first unit"', ["main", "call_target:lapack_gemm", "layer_norm"]),
        ("status:renamed", ["RENAMED"]),
        ("-status:KEPT", ["RENAMED"]),
        ("target:lapack", ["main", "call_target:lapack_gemm"]),
        ("target:lapack*mm main", ["main"]),
        ("-calls:layer_ -target:lapack", ["layer_norm", "RENAMED"]),
    ],
)
def test_functions_are_found_by_names_calls_units_and_status(graph, renamed, query, found):
    assert names(graph.find(query)) == [name.replace("RENAMED", renamed) for name in found]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("op:dot_general", ["main/1", "other/1"]),
        ("op:stablehlo.dot_general type:bf16", ["main/1"]),
        ("op:dot", []),
        ("op:dot*", ["main/1", "other/1"]),
        ("op:dot_general type:bf16 shape:128x* calls:layer_", ["main/1"]),
        ("op:dot_general -type:bf16", ["other/1"]),
        ("op:dot_general shape:2x2", ["other/1"]),
        ("op:dot_general type:2x2xf32", ["other/1"]),
        ("op:dot_general unit:second", ["other/1"]),
        ("op:dot_general status:renamed", []),
        ("op:convert", ["layer_norm/0", "layer_norm/1"]),
        ("op:call calls:layer", ["main/0", "other/0"]),
        ("op:call -calls:layer", []),
        ("op:custom_call target:gemm", ["main/2"]),
        ("op:dot_general target:gemm", ["main/1"]),
        ("op:* shape:64x32", ["main/1"]),
        ("shape:64x32", ["main/#1", "main/1"]),
        ("type:f32 unit:first", ["layer_norm/0", "layer_norm/1"]),
        ("op:dot_general %1 unit:first", ["main/1"]),
        ("type:bf16 lapack", ["main/2"]),
    ],
)
def test_ops_are_found_by_name_type_shape_and_what_they_call(graph, query, found):
    assert names(graph.find(query)) == found


def test_hits_say_what_and_in_which_line(graph):
    (hit,) = graph.find("op:dot_general type:bf16")
    assert (hit.function, hit.op, hit.name, hit.line) == ("main", "1", "stablehlo.dot_general", 4)
    (hit,) = graph.find("main")
    assert (hit.function, hit.op, hit.name, hit.line) == ("main", "", "@main", 2)


def test_one_function_is_searched_alone(graph):
    ops = graph.ops("main")
    assert [hit.op for hit in ops.find("shape:64x32")] == ["#1", "1"]
    assert [hit.op for hit in ops.find("lapack")] == ["2"]
    assert [hit.op for hit in ops.find("calls:layer_ op:dot_general")] == ["1"]
    assert ops.find("calls:nobody op:dot_general") == ()
    assert [hit.op for hit in ops.find("unit:first op:return")] == ["3"]
    assert ops.find("unit:second op:return") == ()


def test_a_query_is_words_keys_quotes_and_minus():
    query = parse_query(' a -"b c"  op:add -type:"x: y" "" '.replace('""', "z"))
    assert query.terms == (
        Term("", "a", is_negated=False, column=1, length=1),
        Term("", "b c", is_negated=True, column=3, length=6),
        Term("op", "add", is_negated=False, column=11, length=6),
        Term("type", "x: y", is_negated=True, column=18, length=12),
        Term("", "z", is_negated=False, column=31, length=1),
    )


def test_a_type_is_a_shape_and_an_element():
    assert split_type("8x64xf32") == ("8x64", "f32")
    assert split_type("i1") == ("", "i1")
    assert split_type("?x4xcomplex<f32>") == ("?x4", "complex<f32>")
    assert split_type("8xf32, #bounds<1>") == ("8", "f32")


HELP = "\n".join(f"  {key}: {means}" for key, means in KEYS.items()) + (
    '\n  Other words are parts of names; quote those with blanks or colons: `"a b"`. '
    "A minus in front means not."
)


@pytest.mark.parametrize(
    ("query", "what", "caret"),
    [
        ("a shap:8", "A query knows no `shap:`; did you mean `shape:`?", "  ^^^^^"),
        ("-zzz:1", "A query knows no `zzz:`", " ^^^^"),
        ("a op:", "`op:` has no value", "  ^^^"),
        ('op:"a b', "A quote is not closed", "   ^"),
        ('x "', "A quote is not closed", "  ^"),
        ('x ""', "A word is missing", "  ^^"),
        ("-", "A word is missing", "^"),
        ("status:blue", "There is no status 'blue'", "       ^^^^"),
    ],
)
def test_what_is_no_query_is_refused_with_a_caret(graph, query, what, caret):
    for search in (graph.find, graph.ops("main").find):
        with pytest.raises(UsageError) as error:
            search(query)
        assert str(error.value) == f"{what}\n  {query}\n  {caret}\n{HELP}"


def test_status_is_no_question_about_ops(graph):
    with pytest.raises(UsageError) as error:
        graph.ops("main").find("op:add status:kept")
    assert str(error.value).split("\n")[:3] == [
        "`status:` asks about functions, and this searches the ops of one",
        "  op:add status:kept",
        "         ^^^^^^^^^^^",
    ]


def test_a_long_query_is_shown_round_the_fault(graph):
    with pytest.raises(UsageError) as error:
        graph.find("a " * 200 + "zzz:1 " + "b " * 200)
    lines = str(error.value).split("\n")
    assert len(lines[1]) < 120
    assert lines[1][lines[2].index("^") :].startswith("zzz:1")


def test_a_graph_of_data_alone_finds_functions_and_no_ops():
    node = FunctionNode("f", "function", "f", "f")
    graph = FunctionGraph((node,), (CallEdge("f", "call_target:gone", "custom_call"),))
    assert names(graph.find("target:gone")) == ["f"]
    assert graph.find("op:add") == ()


def test_functions_that_cannot_hold_hits_are_not_opened(graph):
    asked = []
    spied = FunctionGraph(
        graph.nodes, graph.edges, opener=lambda name: asked.append(name) or graph.ops(name)
    )
    spied.find("op:dot_general calls:layer_ unit:second")
    assert asked == ["other"]
