"""The ops of a function: nodes, regions, values, ids, and where each stands."""

import json
import subprocess
import sys

import pytest

import kernel_magics as km
from kernel_magics.errors import UsageError
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.op_kinds import op_kind
from kernel_magics.graph.op_text import attribute_texts, value_text
from kernel_magics.graph.ops_source import UnitOps
from kernel_magics.ir.source import Source

REGIONS = """module @m {
  func.func public @main(%x: tensor<8xf32>, %p: tensor<i1>, %i: tensor<i32>, %u: tensor<8x8xf32>) -> tensor<8xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w:2 = stablehlo.while(%k = %i, %c = %x) : tensor<i32>, tensor<8xf32>
     cond {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %less = stablehlo.compare LT, %k, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %s = stablehlo.add %c, %x : tensor<8xf32>
      stablehlo.return %k, %s : tensor<i32>, tensor<8xf32>
    }
    %if = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<8xf32>
    }, {
      %n = stablehlo.negate %w#1 : tensor<8xf32>
      stablehlo.return %n : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %case = "stablehlo.case"(%i) ({
      stablehlo.return %x : tensor<8xf32>
    }, {
      stablehlo.return %if : tensor<8xf32>
    }, {
      stablehlo.return %x : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    %sum = stablehlo.reduce(%case init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %odd = "stablehlo.reduce"(%case, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.multiply %a, %b : tensor<f32>
      %mm = stablehlo.add %m, %a : tensor<f32>
      stablehlo.return %mm : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %win = "stablehlo.reduce_window"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {window_dimensions = array<i64: 1>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %sort = "stablehlo.sort"(%win) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %scatter = "stablehlo.scatter"(%sort, %at, %sum) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>} : (tensor<8xf32>, tensor<1xi32>, tensor<f32>) -> tensor<8xf32>
    %sel = "stablehlo.select_and_scatter"(%scatter, %x, %odd) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {window_dimensions = array<i64: 1>} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %map = "stablehlo.map"(%sel) ({
    ^bb0(%a: tensor<f32>):
      %m = stablehlo.tanh %a : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
    %all = "stablehlo.all_reduce"(%map) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<8xf32>) -> tensor<8xf32>
    %comp = stablehlo.composite "my.op" %all {decomposition = @inner} : (tensor<8xf32>) -> tensor<8xf32>
    %cc = stablehlo.custom_call @target(%comp) : (tensor<8xf32>) -> tensor<8xf32>
    %r = call @inner(%cc) : (tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
  func.func private @inner(%y: tensor<8xf32>) -> tensor<8xf32> {
    return %y : tensor<8xf32>
  }
}
"""


def opened(text, name="main"):
    return UnitOps(Source(text), "unit", {}).open(name)


@pytest.fixture(scope="module")
def regions():
    return opened(REGIONS)


def nodes_of(graph, name):
    return [node for node in graph.nodes if node.name == name]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("while", 2),
        ("if", 2),
        ("case", 3),
        ("reduce", 1),
        ("reduce_window", 1),
        ("sort", 1),
        ("scatter", 1),
        ("select_and_scatter", 2),
        ("map", 1),
        ("all_reduce", 1),
    ],
)
def test_every_op_with_regions_holds_them(regions, name, count):
    number = next(i for i, n in enumerate(regions.nodes) if n.name == f"stablehlo.{name}")
    keys = [key for key in regions.blocks() if key[0] == number]
    assert [key[1:] for key in keys] == [(region, 0) for region in range(count)]
    for key in keys:
        inside = [regions.nodes[n] for n in regions.blocks()[key]]
        assert inside[-1].kind == "return"
        assert all(regions.nodes[number].id + "/" in node.id for node in inside)
    assert regions.nodes[number].op_count == sum(
        node.kind != "argument"
        for key in keys
        for n in regions.blocks()[key]
        for node in [regions.nodes[n]]
    )


def test_ids_are_paths_of_region_block_and_op_numbers(regions):
    loop = nodes_of(regions, "stablehlo.while")[0]
    assert loop.id == "1"
    assert regions["#1"].types == ("i1",)
    assert regions["1/0"].name == "stablehlo.constant"
    assert regions["1/1.0.0"].name == "stablehlo.add"
    assert regions["1/1.0.#1"].kind == "argument"
    assert len({node.id for node in regions.nodes}) == len(regions.nodes)


def test_values_lead_to_what_gives_them_also_into_regions(regions):
    add = regions["1/1.0.0"]
    assert [regions.nodes[number].id for number, _ in add.operands] == ["1/1.0.#1", "#0"]
    negate = nodes_of(regions, "stablehlo.negate")[0]
    assert negate.operands == ((regions.number("1"), 1),)
    users = regions.uses()[regions.number("#0"), 0]
    assert regions.number("1/1.0.0") in [number for number, _ in users]


def test_types_are_shape_and_dtype(regions):
    assert regions["#3"].types == ("8x8xf32",)
    assert regions["1"].types == ("i32", "8xf32")
    graph = opened("""func.func @main(%t: !stablehlo.token, %d: tensor<?x4xbf16>) -> tuple<tensor<i1>> {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %u = stablehlo.tuple %p : tuple<tensor<i1>>
      return %u : tuple<tensor<i1>>
    }""")
    assert [node.types[0] for node in graph.nodes if node.types] == [
        "!stablehlo.token",
        "?x4xbf16",
        "i1",
        "tuple<tensor<i1>>",
    ]


def test_calls_name_what_they_call(regions):
    call, custom, composite = (
        nodes_of(regions, name)[0]
        for name in ("func.call", "stablehlo.custom_call", "stablehlo.composite")
    )
    assert (call.symbol, call.callee, call.does) == ("inner", "inner", "call")
    assert (custom.symbol, custom.callee) == ("target", "call_target:target")
    assert custom.does == "custom call"
    assert (composite.symbol, composite.does) == ("inner", "call")


def test_details_tell_constants_comparisons_and_reducers(regions):
    assert regions["0"].detail == "0"
    assert regions["1/0"].detail == "4"
    assert regions["1/1"].detail == "LT"
    assert [node.detail for node in nodes_of(regions, "stablehlo.reduce")] == ["add", ""]
    assert nodes_of(regions, "stablehlo.reduce_window")[0].detail == "maximum"


def test_every_op_has_its_line_and_its_value_name(regions):
    lines = REGIONS.split("\n")
    for number, node in enumerate(regions.nodes):
        line, column = node.place
        text = lines[line - 1]
        if node.kind == "argument":
            assert text[column - 1 :].startswith(regions.value_names[number])
        elif regions.value_names[number]:
            assert text.strip().startswith(regions.value_names[number])
    names = dict(zip((node.id for node in regions.nodes), regions.value_names, strict=True))
    assert names["1"] == "%w"
    assert names["#3"] == "%u"
    assert names["4"] == "%sum"
    assert names["1/1.0.#1"] == "%c"


def test_lines_count_in_the_cell(regions):
    graph = UnitOps(Source(REGIONS, "cell", 3), "unit", {}).open("main")
    assert graph.line(graph["0"]) == regions.line(regions["0"]) + 2 == 5


def test_columns_count_characters():
    graph = opened(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        '  %0 = stablehlo.custom_call @é(%x) {a = "日本"} : (tensor<f32>) -> tensor<f32> return %0 : tensor<f32>\n}'.replace(
            "@é", '@"é"'
        )
    )
    line = graph.text.split("\n")[1]
    assert graph["1"].place == (2, line.index("return") + 1)


NAMED = """#file = loc("model.py":3:4)
module {
  func.func @main(%x: tensor<8xf32> loc("x"), %y: tensor<8xf32> loc("y(")) -> tensor<8xf32> {
    %0 = stablehlo.add %x, %y {a = loc("kept)")} : tensor<8xf32> loc("jit(f)/block/dense/add"(#file))
    %1 = stablehlo.tanh %0 : tensor<8xf32> loc(fused["jit(f)/block/act/tanh", "z"]) // loc(
    %2 = stablehlo.negate %1 : tensor<8xf32> loc(callsite("jit(f)/neg" at #file))
    return %2 : tensor<8xf32> loc(#file)
  } loc(#file)
}
"""


def test_locations_give_scopes_and_hide_no_lines():
    graph = opened(NAMED)
    assert [node.scope for node in graph.nodes] == [
        *("", "", "jit(f)/block/dense", "jit(f)/block/act", "jit(f)", ""),
    ]
    assert [node.place for node in graph.nodes] == [
        (3, 19),
        (3, 47),
        (4, 10),
        (5, 10),
        (6, 10),
        (7, 5),
    ]
    assert graph.value_names == ("%x", "%y", "%0", "%1", "%2", "")


def test_bytes_are_opened_as_mlir_prints_them(read):
    from kernel_magics.ir.parse import bytecode

    graph = opened(bytecode(read(NAMED).module))
    assert graph.is_printed
    assert [node.name for node in graph.nodes if node.kind == "op"] == [
        *("stablehlo.add", "stablehlo.tanh", "stablehlo.negate"),
    ]
    assert graph["0"].scope == "jit(f)/block/dense"
    line, column = graph["0"].place
    assert graph.text.split("\n")[line - 1][column - 1 :].startswith("stablehlo.add")


def test_ids_and_json_are_the_same_in_another_process(tmp_path):
    program = tmp_path / "program.mlir"
    program.write_text(REGIONS)
    script = (
        "import pathlib, sys, kernel_magics as km\n"
        "session = km.Session(); session.define(pathlib.Path(sys.argv[1]), name='u')\n"
        "sys.stdout.write(session.graph().ops('main').to_json())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script, str(program)],
            capture_output=True,
            check=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "JAX_PLATFORMS": "cpu"},
        ).stdout
        for seed in ("1", "2")
    ]
    session = km.Session()
    session.define(program, name="u")
    assert outputs[0] == outputs[1] == session.graph().ops("main").to_json()


def test_attributes_and_text_of_an_op_are_of_bounded_size():
    digits = ", ".join(str(n) for n in range(5000))
    graph = opened(f"""func.func @main() -> tensor<5000xi32> {{
      %0 = stablehlo.constant {{note = "{"x" * 9000}", b = [1, "a, b = <{{", @s]}} dense<[{digits}]> : tensor<5000xi32>
      return %0 : tensor<5000xi32>
    }}""")
    attributes = graph.attributes("0")
    assert set(attributes) == {"value", "note", "b"}
    assert attributes["value"] == "dense_resource<__elided__> : tensor<5000xi32>"
    assert attributes["b"] == '[1, "a, b = <{", @s]'
    assert attributes["note"].endswith("… (8,602 more characters)")
    assert len(graph.op_text("0")) < 3000
    assert graph["0"].detail == ""
    assert len(graph.to_json()) < 2000


def test_constants_that_the_binding_has_no_class_for_are_told():
    graph = opened("""func.func @main() {
      %0 = stablehlo.constant dense<(1.0,-2.5)> : tensor<3xcomplex<f32>>
      %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %2 = stablehlo.constant dense<1.5> : tensor<2xf8E4M3FN>
      %3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
      %4 = stablehlo.constant dense<0x7FC0> : tensor<bf16>
      %5 = stablehlo.constant dense<1.0e-7> : tensor<f64>
      return
    }""")
    assert [node.detail for node in graph.nodes if node.kind == "op"] == [
        *("(1,-2.5)", "-inf", "1.5", "[true, false]", "nan", "1e-7"),
    ]
    assert (
        graph.attributes("0")["value"]
        == "dense<(1.000000e+00,-2.500000e+00)> : tensor<3xcomplex<f32>>"
    )


def test_values_are_spelled_as_people_write_them():
    assert value_text("%0 = stablehlo.constant dense<-0.000000e+00> : tensor<f32>") == "-0"
    assert value_text("%0 = arith.constant 1.121687834275721E-11 : f64") == "1.12169e-11"
    assert value_text("%0 = stablehlo.constant dense_resource<__elided__> : tensor<9xf32>") == ""


def test_attributes_are_read_from_the_generic_form():
    printed = '"a.b"(%0) <{c = #a<b->c>, d = {e = 1 : i32}}> ({...}) {f, "g h" = "}"} : (i1) -> ()'
    assert attribute_texts(printed) == {
        "c": "#a<b->c>",
        "d": "{e = 1 : i32}",
        "f": "unit",
        '"g h"'.strip('"'): '"}"',
    }


HOSTILE = ["</script><b>", "]]>", 'a"b', "a\\b", "x" * 190, "\u202eevil", "日本", "a\nb"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_data_everywhere(name):
    quoted = "".join(f"\\{byte:02X}" for byte in name.encode())
    session = km.Session()
    session.define(f"""
      func.func @main(%x: tensor<f32>) -> tensor<f32> {{
        %0 = call @"{quoted}"(%x) : (tensor<f32>) -> tensor<f32>
        %1 = stablehlo.custom_call @"{quoted}"(%0) {{a = "{quoted}"}} : (tensor<f32>) -> tensor<f32>
        return %1 : tensor<f32>
      }}
      func.func private @"{quoted}"(%x: tensor<f32>) -> tensor<f32> {{
        return %x : tensor<f32>
      }}""")
    graph = session.graph().ops("main")
    assert graph["0"].symbol == name
    assert graph["0"].callee in {node.id for node in session.graph().nodes}
    assert "<" not in graph.to_json()
    assert json.loads(graph.to_json())["nodes"][1][10] == name
    svg = graph.to_svg()
    assert "<b>" not in svg
    assert "\u202e" not in svg + graph.to_text()
    assert session.graph().ops(name).function == name
    assert graph.find(f'"{name}"') if '"' not in name else True


def test_recursion_through_composites_opens():
    graph = opened("""module {
      func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %0 = stablehlo.composite "a.b" %x {decomposition = @main} : (tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
      }
    }""")
    assert graph["0"].callee == "main"


def test_a_renamed_function_opens_by_either_name_and_calls_merged_nodes(session):
    session.define(
        "func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }", name="one"
    )
    session.define(
        """func.func @main(%x: tensor<f32>) -> tensor<f32> {
          %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
          return %0 : tensor<f32>
        }
        func.func private @f(%x: tensor<f32>) -> tensor<f32> {
          %0 = stablehlo.sine %x : tensor<f32>
          return %0 : tensor<f32>
        }""",
        name="two",
    )
    graph = session.graph()
    merged = graph.ops("main")["0"].callee
    assert merged != "f"
    assert graph.ops("main")["0"].symbol == "f"
    assert graph.ops(f"@{merged}").author_name == "f"
    assert graph.ops(merged).unit == "two"
    assert session.units["two"].graph.ops("f").function == merged


def test_graphs_stay_what_they_were_when_their_unit_is_replaced(session):
    text = "func.func @f(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.sine %x : tensor<f32> return %0 : tensor<f32> }"
    session.define(text, name="u")
    graph, opened_before = session.graph(), session.graph().ops("f")
    session.define(text.replace("sine", "cosine"), name="u")
    session.reset()
    assert opened_before.op_text("0").endswith("stablehlo.sine %arg0 : tensor<f32>")
    assert graph.ops("f")["0"].name == "stablehlo.sine"


def test_the_graph_of_a_function_opens_what_it_uses():
    graph = km.load(REGIONS).graph()
    ops = graph.ops("main")
    assert ops.numbers() == {node.id: number for number, node in enumerate(ops.nodes)}
    (call,) = graph.find("op:call calls:inner")
    assert graph.ops(ops[call.op].callee).author_name == "inner"
    assert {hit.function for hit in graph.find("op:return")} == {"main", "inner"}


def test_what_cannot_be_opened_is_said(session):
    session.define(
        "func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }", name="u"
    )
    with pytest.raises(UsageError) as error:
        session.graph().ops("g")
    assert str(error.value) == (
        "There is no function `@g` with a body\n  functions: `@f`\n  Open one of these."
    )
    with pytest.raises(UsageError) as error:
        session.graph().ops("f")["7"]
    assert str(error.value).split("\n")[0] == "`@f` has no op '7'"
    with pytest.raises(UsageError, match="made without a program"):
        FunctionGraph(session.graph().nodes, ()).ops("f")


def test_kinds_do_not_depend_on_the_dialect():
    assert op_kind("stablehlo.add") == op_kind("mhlo.add") == op_kind("chlo.erf") == "elementwise"
    assert op_kind("sdy.manual_computation") == "control"
    assert op_kind("foo.bar") == "other"
