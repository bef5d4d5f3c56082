import subprocess
import sys

import numpy as np
import pytest
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.errors import EntryError, FormatError, ParseError, SessionError
from kernel_magics.ir.context import new_context
from kernel_magics.ir.source import Source

X = np.arange(3, dtype=np.float32)


def program(op: str, name: str = "main", helper: str = "helper") -> str:
    return f"""func.func @{name}(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = call @{helper}(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}}
func.func private @{helper}(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = stablehlo.{op} %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""


def defined(session) -> list[str]:
    module = ir.Module.parse(session.module_text(), new_context())
    return [view.operation.attributes["sym_name"].value for view in module.body.operations]


def value(session, name="main"):
    return np.asarray(session.functions[name](X)[0])


def test_a_new_session_is_empty(session):
    assert dict(session.functions) == {}
    assert session.module_text().strip() == "module {\n}"
    assert session.graph().nodes == ()


def test_same_text_twice_is_one_unit_of_functions(session):
    first = session.define(program("add"))
    second = session.define("// other spelling\n" + program("add").replace("%x", "%y"))
    assert defined(session) == ["main", "helper"]
    assert [symbol.why for symbol in second.symbols] == ["reused", "reused"]
    assert second.reused_from == first.unit


def test_texts_that_differ_in_one_constant_stay_apart(session):
    text = "func.func @main() -> tensor<i32> {{ %0 = stablehlo.constant dense<{}> : tensor<i32>\n return %0 : tensor<i32> }}"
    session.define(text.format(1), name="one")
    report = session.define(text.format(2), name="two")
    assert report["main"].why == "renamed"
    assert session.functions["one"]()[0] == 1
    assert session.functions["two"]()[0] == 2


def test_functions_are_found_by_author_name_and_unit_name(session):
    session.define(program("add"), name="double")
    session.define(program("multiply"), name="square")
    assert set(session.functions) == {"main", "double", "square"}
    np.testing.assert_array_equal(value(session, "double"), 2 * X)
    np.testing.assert_array_equal(value(session, "square"), X * X)
    np.testing.assert_array_equal(value(session, "main"), X * X)


def test_latest_definition_of_a_name_wins_also_when_an_older_unit_is_defined_again(session):
    session.define(program("add"), name="a")
    session.define(program("multiply"), name="b")
    session.define(program("add"), name="a")
    np.testing.assert_array_equal(value(session), 2 * X)


def test_defining_a_unit_again_replaces_it(session):
    session.define(program("add"), name="unit")
    held = session.functions["unit"]
    session.define(program("multiply", helper="other"), name="unit")
    assert defined(session) == ["main", "other"]
    np.testing.assert_array_equal(value(session, "unit"), X * X)
    np.testing.assert_array_equal(held(X)[0], 2 * X)


def test_replaced_unit_keeps_its_place_and_letter(session):
    session.define(program("add"), name="a")
    session.define(program("multiply"), name="b")
    session.define(program("subtract"), name="a")
    assert session.graph().unit_letters == {"a": "A", "b": "B"}


def test_defining_the_same_again_changes_nothing(session):
    first = session.define(program("add"), name="unit")
    before = session.module_text()
    assert session.define(program("add"), name="unit") == first
    assert session.module_text() == before


def test_shared_functions_stay_while_one_unit_uses_them(session):
    session.define(program("add"), name="a")
    session.define(program("add"), name="b")
    session.drop("a")
    assert defined(session) == ["main", "helper"]
    assert session.graph().nodes[0].status == "kept"
    session.drop("b")
    assert defined(session) == []


def test_replacing_takes_back_the_module_attributes_of_the_old_unit(session):
    text = f"module attributes {{test.a = 1}} {{ {program('add')} }}"
    session.define(text, name="unit")
    session.define(text.replace("test.a = 1", "test.a = 2"), name="unit")
    assert "test.a = 2" in session.module_text()
    session.drop("unit")
    assert "test.a" not in session.module_text()


@pytest.mark.parametrize(
    ("text", "error"),
    [("func.func @f() {", ParseError), ("", FormatError), ("x = 1 + f(2)", FormatError)],
)
def test_nothing_changes_after_an_error(session, text, error):
    session.define(program("add"), name="unit")
    before = session.module_text(), dict(session.units)
    with pytest.raises(error):
        session.define(text, name="unit")
    assert (session.module_text(), dict(session.units)) == before


def test_load_gives_the_entry(session, tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(program("add"))
    function = session.load(path, name="model")
    np.testing.assert_array_equal(function(X)[0], 2 * X)
    assert session.functions["model"] is function
    assert session.load(program("add", "f"), func_name="helper").signature.name == "helper"


def test_load_of_an_ambiguous_program_names_those_on_offer(session):
    text = program("add", "one") + program("add", "two", "other")
    with pytest.raises(EntryError) as error:
        session.load(text)
    assert str(error.value).startswith(
        "The text has 2 public functions and no `@main`, so it is not clear what to call\n"
        "  on offer: `@one`, `@two`, "
    )
    assert session.units == {}


def test_drop_of_an_unknown_unit_names_the_units(session):
    session.define(program("add"), name="unit")
    with pytest.raises(SessionError) as error:
        session.drop("other")
    assert str(error.value) == (
        "The session has no unit `other`\n"
        "  units: `unit`\n"
        "  `%hlo functions` lists the units with what they define."
    )


def test_reset_forgets_everything(session):
    session.define(program("add"), name="unit")
    held = session.functions["unit"]
    session.reset()
    assert session.functions == {}
    assert defined(session) == []
    np.testing.assert_array_equal(held(X)[0], 2 * X)


def test_saved_session_comes_back_in_a_fresh_process(session, tmp_path):
    session.define(program("add"), name="double")
    session.define(program("multiply"), name="square")
    session.define(program("add"), name="again")
    path = tmp_path / "session.mlir.bc"
    session.save(path)
    code = f"""
import kernel_magics as km, numpy as np
km.session.restore({str(path)!r})
print(km.session.module_text(), [unit.report for unit in km.session.units.values()])
print([np.asarray(f(np.arange(3, dtype="f4"))[0]).tolist() for f in km.session.functions.values()])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    reports = [unit.report for unit in session.units.values()]
    values = [np.asarray(f(X)[0]).tolist() for f in session.functions.values()]
    assert done.stdout == f"{session.module_text()} {reports}\n{values}\n"


def test_graph_names_and_lines_survive_saving(session, tmp_path):
    for number, name in enumerate("abca"):
        unit = session.read(Source(program("add" if number % 2 else "divide"), "cell", number + 2))
        session.add(unit, name)
    before = session.graph().to_json(), {k: str(f.signature) for k, f in session.functions.items()}
    session.save(tmp_path / "s.mlir.bc")
    session.restore(tmp_path / "s.mlir.bc")
    after = session.graph().to_json(), {k: str(f.signature) for k, f in session.functions.items()}
    assert after == before


def test_saved_session_is_a_portable_artifact_that_others_read(session, tmp_path):
    session.define(program("add"), name="double")
    path = tmp_path / "session.mlir.bc"
    session.save(path)
    np.testing.assert_array_equal(km.hlo_call(path, X, func_name="main")[0], 2 * X)
    assert "kernel_magics" not in session.module_text()


def test_restored_session_goes_on(session, tmp_path):
    session.define(program("add"), name="a")
    session.define(program("multiply"), name="b")
    session.save(tmp_path / "s.mlir.bc")
    session.restore(tmp_path / "s.mlir.bc")
    session.define(program("multiply"), name="c")
    assert session.units["c"].report.reused_from == "b"
    session.drop("a")
    session.define(program("subtract"), name="b")
    ir.Module.parse(session.module_text(), new_context()).operation.verify()
    np.testing.assert_array_equal(value(session, "b"), 0 * X)


def test_restoring_another_program_is_refused_and_changes_nothing(session, tmp_path):
    session.define(program("add"), name="unit")
    (tmp_path / "model.mlir").write_text(program("add"))
    with pytest.raises(SessionError, match="`model.mlir` is a program, but not a saved session"):
        session.restore(tmp_path / "model.mlir")
    with pytest.raises(FormatError, match="No such file"):
        session.restore(tmp_path / "nowhere")
    assert list(session.units) == ["unit"]


def test_public_and_unsaid_visibility_are_the_same(session):
    session.define(program("add"), name="a")
    report = session.define(program("add").replace("func.func @", "func.func public @"), name="b")
    assert report.reused_from == "a"


def test_meshes_survive_saving(session, tmp_path):
    text = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}"""
    session.define(text)
    session.define(text.replace("=2", "=4"))
    before = session.module_text()
    session.save(tmp_path / "s.mlir.bc")
    session.restore(tmp_path / "s.mlir.bc")
    assert session.module_text() == before


def test_graph_of_the_session_shows_renames_and_reuse(session):
    session.define(program("add"), name="a")
    session.define(program("multiply"), name="b")
    session.define(program("add"), name="c")
    graph = session.graph()
    status = {(node.author_name, node.units): node.status for node in graph.nodes}
    assert status == {
        ("main", ("a", "c")): "reused",
        ("helper", ("a", "c")): "reused",
        ("main", ("b",)): "renamed",
        ("helper", ("b",)): "renamed",
    }
    assert graph.unit_letters == {"a": "A", "b": "B", "c": "C"}
    assert [(edge.kind, edge.count) for edge in graph.edges] == [("call", 1), ("call", 1)]
    assert "reused ×2" in graph.to_text()
    assert "→" in graph.to_svg()


def test_ops_that_are_no_symbols_go_with_their_unit(session, tmp_path):
    text = "%c = stablehlo.constant dense<{0}.0> : tensor<f32>\n%d = stablehlo.add %c, %c : tensor<f32>\n"
    session.define(text.format(1) + program("add"), name="a")
    session.define(text.format(2), name="b")
    assert session.module_text().count("stablehlo.constant") == 2
    session.define(text.format(3), name="b")
    assert "dense<2.0" not in session.module_text()
    session.save(tmp_path / "session")
    restored = km.Session()
    restored.restore(tmp_path / "session")
    for held in (session, restored):
        held.drop("a")
        assert "dense<1.0" not in held.module_text()
        assert "dense<3.0" in held.module_text()
        held.drop("b")
        assert defined(held) == []
        assert "stablehlo" not in held.module_text()
