"""Equal functions are one: what counts as equal, what does not, and what is reported."""

import json

import numpy as np
import pytest
from jax.extend.mlir import ir

X = np.array([1, 2, 3], "f4")


def body(op="add", name="f", visibility="private"):
    return f"""func.func {visibility} @{name}(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = stablehlo.{op} %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""


def caller(callee, name="main", visibility="public"):
    return f"""func.func {visibility} @{name}(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = call @{callee}(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""


def whys(report):
    return {symbol.old_name: symbol.why for symbol in report.symbols}


@pytest.fixture
def names(session):
    """Names of what the session module holds, which verifies."""
    from kernel_magics.ir.context import new_context

    def read():
        module = ir.Module.parse(session.module_text(), new_context())
        assert module.operation.verify()
        return [view.operation.attributes["sym_name"].value for view in module.body.operations]

    return read


@pytest.mark.parametrize(
    "spelling",
    [
        body(name="g"),
        body(visibility="public", name="other name".replace(" ", "_")),
        "// a comment\n" + body().replace("%x", "%value").replace("%0", "%sum"),
        body().replace("\n", "\n\n    "),
        body().replace("tensor<3xf32>\n  return", 'tensor<3xf32> loc("model.py":7:3)\n  return'),
        f"module @named {{ {body(name='g')} }}",
        body().replace("stablehlo.add %x, %x : tensor<3xf32>", '"stablehlo.add"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>'),
    ],
)  # fmt: skip
def test_spelling_and_names_do_not_count(session, names, spelling):
    session.define(body(), name="a")
    report = session.define(spelling, name="b")
    assert names() == ["f"]
    assert [(s.why, s.new_name, s.reused_from) for s in report.symbols] == [("reused", "f", "a")]
    assert report.reused_from == "a"
    assert report.ops_saved == 2


CONSTANT = "func.func private @f() -> tensor<2xf32> {\n %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n return %0 : tensor<2xf32>\n}"
CUSTOM = "func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n %0 = stablehlo.custom_call @t(%x) {has_side_effect = false} : (tensor<3xf32>) -> tensor<3xf32>\n return %0 : tensor<3xf32>\n}"
PAIR = "func.func private @f(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {\n return %x, %y : tensor<3xf32>, tensor<3xf32>\n}"
MESH = 'sdy.mesh @mesh = <["x"=2]>\nfunc.func private @f(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {\n return %x : tensor<4xf32>\n}'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (body("add"), body("multiply")),
        (body(), body().replace("3xf32", "4xf32")),
        (body(), body().replace("f32", "f64")),
        (CONSTANT, CONSTANT.replace("2.0", "2.5")),
        (CUSTOM, CUSTOM.replace("false", "true")),
        (CUSTOM, CUSTOM.replace("@t(", "@u(")),
        (PAIR, PAIR.replace("return %x, %y", "return %y, %x")),
        (body(), body().replace("%x: tensor<3xf32>)", "%x: tensor<3xf32> {tf.aliasing_output = 0 : i32})")),
        (body(), body().replace("-> tensor<3xf32> {", '-> (tensor<3xf32> {jax.result_info = "y"}) {')),
        (body(), body().replace("tensor<3xf32> {\n", 'tensor<3xf32> attributes {mhlo.frontend_attributes = {a = "b"}} {\n')),
        (MESH, MESH.replace('"x"=2', '"x"=4')),
        (MESH, MESH.replace('[{"x"}]', "[{}]")),
        (body().replace("add", "dot_general").replace("%x, %x : tensor<3xf32>", "%x, %x, contracting_dims = [] x [] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>").replace("-> tensor<3xf32> {", "-> tensor<3x3xf32> {").replace("return %0 : tensor<3xf32>", "return %0 : tensor<3x3xf32>"),
         body().replace("add", "dot_general").replace("%x, %x : tensor<3xf32>", "%x, %x, contracting_dims = [] x [], precision = [HIGHEST, HIGHEST] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>").replace("-> tensor<3xf32> {", "-> tensor<3x3xf32> {").replace("return %0 : tensor<3xf32>", "return %0 : tensor<3x3xf32>")),
    ],
)  # fmt: skip
def test_what_differs_is_kept_apart(session, names, one, other):
    first = session.define(one, name="a")
    second = session.define(other, name="b")
    assert second["f"].why == "renamed"
    assert second["f"].fingerprint != first["f"].fingerprint
    assert names().count("f") == 1
    assert len(names()) == len({*names()}) > 1


def test_identity_of_callees_counts(session, names):
    session.define(caller("f") + body("add"), name="a")
    report = session.define(caller("g") + body("add", "g"), name="b")
    assert whys(report) == {"main": "reused", "g": "reused"}
    report = session.define(caller("f") + body("multiply"), name="c")
    assert whys(report) == {"main": "renamed", "f": "renamed"}
    assert [float(session.functions[unit](X)[0][2]) for unit in "abc"] == [6, 6, 9]
    assert len(names()) == 4


def test_a_part_of_a_unit_is_used_again(session, names):
    session.define(caller("f") + body(), name="a")
    report = session.define(caller("g", "top") + body("add", "g") + body("multiply", "h"), name="b")
    assert whys(report) == {"top": "reused", "g": "reused", "h": "kept"}
    assert report["top"].new_name == "main"
    assert report.reused == {"top": "main", "g": "f"}
    assert report.reused_from == ""
    assert names() == ["main", "f", "h"]
    np.testing.assert_array_equal(session.functions["top"](X)[0], 2 * X)


def test_equal_functions_of_one_unit_are_one(session, names):
    text = "\n".join([body(name="f"), body(name="g"), body(name="h", visibility="public")])
    report = session.define(f"{caller('g')}\n{caller('h', 'other')}\n{text}", name="a")
    assert whys(report) == {
        "main": "kept",
        "other": "reused",
        "f": "kept",
        "g": "reused",
        "h": "reused",
    }
    assert names() == ["main", "f"]
    assert report.ops_saved == 2 + 2 + 2
    assert {s.reused_from for s in report.symbols} == {"", "a"}
    for name in ("main", "other", "h"):
        np.testing.assert_array_equal(session.functions[name](X)[0], 2 * X)
    shown = session.graph()
    nodes = {node.merged_name: node for node in shown.nodes}
    assert nodes["f"].reuse_count == 3
    assert [(e.caller, e.callee, e.count) for e in shown.edges] == [("main", "f", 1)]
    assert json.loads(shown.to_json())["counts"]["ops_saved"] == 6
    assert "6 ops saved" in shown.to_text()
    assert "6 ops saved" in str(report)


def test_strings_and_nested_references_are_not_names(session):
    text = 'func.func private @f() attributes {note = "@g \\"@g\\" @h", at = @m::@g} { return }\nmodule @m { func.func @g() { return } }\nfunc.func private @g() { return }\nfunc.func private @h() { call @g() : () -> ()\n return }'
    first = session.define(text, name="a")
    again = session.define(
        text.replace("private @g", "private @other").replace("call @g", "call @other"), name="b"
    )
    assert first["f"].fingerprint == again["f"].fingerprint
    assert first["h"].fingerprint == again["h"].fingerprint
    changed = session.define(text.replace('"@g ', '"@i '), name="c")
    assert changed["f"].fingerprint != first["f"].fingerprint


@pytest.mark.parametrize(
    "text",
    [
        "memref.global @state : memref<4xf32> = dense<0.0>",
        "func.func private @f() { call @g() : () -> ()\n return }\nfunc.func private @g() { call @f() : () -> ()\n return }",
        "func.func private @f() { call @f() : () -> ()\n return }",
    ],
)
def test_what_can_change_or_calls_itself_is_never_shared(session, names, text):
    session.define(text, name="a")
    report = session.define("// again\n" + text, name="b")
    assert {symbol.why for symbol in report.symbols} == {"renamed"}
    assert {symbol.fingerprint for symbol in report.symbols} == {""}
    assert len(names()) == 2 * len(report.symbols)


def test_constant_globals_and_meshes_are_shared(session, names):
    text = 'memref.global constant @g : memref<2xf32> = dense<1.0>\nsdy.mesh @mesh = <["x"=2]>'
    session.define(text, name="a")
    report = session.define(text.replace("@g", "@k").replace("@mesh", "@n"), name="b")
    assert report.reused == {"k": "g", "n": "mesh"}
    assert names() == ["g", "mesh"]


def test_what_is_shared_stays_until_the_last_one_goes(session, names):
    session.define(caller("f") + body(), name="a")
    session.define(caller("g", "top") + body("add", "g"), name="b")
    session.drop("a")
    assert names() == ["main", "f"]
    np.testing.assert_array_equal(session.functions["b"](X)[0], 2 * X)
    report = session.define(body(name="again"), name="c")
    assert report["again"].reused_from == "b"
    session.drop("b")
    assert names() == ["f"]
    session.drop("c")
    assert names() == []
    assert session.define(body(), name="d")["f"].why == "kept"


def test_a_unit_replaced_keeps_what_it_still_says(session, names):
    session.define(caller("f") + body(), name="a")
    held = session.functions["a"]
    report = session.define("// other spelling\n" + caller("f") + body(), name="a")
    assert whys(report) == {"main": "kept", "f": "kept"}
    assert not held.is_outdated
    report = session.define(
        caller("f").replace("return %0", "%1 = stablehlo.negate %0 : tensor<3xf32>\n return %1")
        + body(),
        name="a",
    )
    assert whys(report) == {"main": "kept", "f": "kept"}
    assert held.is_outdated
    assert sorted(names()) == ["f", "main"]
    report = session.define(body(name="renamed_by_its_author"), name="a")
    assert whys(report) == {"renamed_by_its_author": "renamed"}
    assert names() == ["f"]


def test_units_bound_to_what_stays_are_not_linked_again(session):
    session.define(
        body(name="f", visibility="public") + body("multiply", "g", "public"), name="lib"
    )
    declared = "func.func private @f(tensor<3xf32>) -> tensor<3xf32>\n"
    session.define(declared + caller("f"), name="app")
    text = body(name="f", visibility="public") + body("subtract", "g", "public")
    assert session.define(text, name="lib").relinked == ()
    np.testing.assert_array_equal(session.functions["app"](X)[0], 2 * X)
    text = body("multiply", "f", "public")
    assert session.define(text, name="lib").relinked == ("app",)
    np.testing.assert_array_equal(session.functions["app"](X)[0], X * X)


def test_a_bound_declaration_is_what_it_means(session):
    session.define(body(name="f", visibility="public"), name="lib")
    declared = "func.func private @f(tensor<3xf32>) -> tensor<3xf32>\n"
    session.define(declared + caller("f", "one"), name="a")
    report = session.define(body(name="own") + caller("own", "two"), name="b")
    assert whys(report) == {"own": "reused", "two": "reused"}
    session.define(body("multiply", "f", "public"), name="lib")
    np.testing.assert_array_equal(session.functions["a"](X)[0], X * X)
    np.testing.assert_array_equal(session.functions["b"](X)[0], 2 * X)


def test_identity_survives_saving(session, tmp_path):
    import kernel_magics as km

    session.define(caller("f") + body() + body(name="copy"), name="a")
    session.save(tmp_path / "session")
    fresh = km.Session()
    fresh.restore(tmp_path / "session")
    assert fresh.units["a"].report == session.units["a"].report
    assert fresh.module_text() == session.module_text()
    report = fresh.define(body(name="g"), name="b")
    assert report["g"].reused_from == "a"


def test_bytes_of_a_unit_with_copies_survive_saving(session, tmp_path):
    import kernel_magics as km
    from kernel_magics.ir.context import new_context
    from kernel_magics.ir.parse import bytecode

    text = caller("g") + body(name="f") + body(name="g") + body(name="h", visibility="public")
    session.define(bytecode(ir.Module.parse(text, new_context())), name="a")
    session.save(tmp_path / "session")
    fresh = km.Session()
    fresh.restore(tmp_path / "session")
    np.testing.assert_array_equal(fresh.functions["h"](X)[0], 2 * X)
    np.testing.assert_array_equal(fresh.functions["main"](X)[0], 2 * X)


def test_five_thousand_functions_call_each_other_in_a_row(session, names):
    count = 5000
    links = [caller(f"f{i + 1}", f"f{i}", "private") for i in range(count)]
    session.define("\n".join([*links, body(name=f"f{count}")]), name="a")
    links = [caller(f"g{i + 1}", f"g{i}", "private") for i in range(count)]
    report = session.define("\n".join([*links, body(name=f"g{count}")]), name="b")
    assert {symbol.why for symbol in report.symbols} == {"reused"}
    assert report["g7"].new_name == "f7"
    assert len(names()) == count + 1
