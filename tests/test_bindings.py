import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.extend.mlir import ir

from kernel_magics.errors import LinkError, PreflightError, SessionError
from kernel_magics.ir.context import new_context

X = np.arange(3, dtype=np.float32)
KIND = "(tensor<3xf32>) -> tensor<3xf32>"


def leaf(op: str, name: str = "leaf", kind: str = "tensor<3xf32>") -> str:
    return f"""func.func @{name}(%x: {kind}) -> {kind} {{
  %0 = call @{name}_helper(%x) : ({kind}) -> {kind}
  return %0 : {kind}
}}
func.func private @{name}_helper(%x: {kind}) -> {kind} {{
  %0 = stablehlo.{op} %x, %x : {kind}
  return %0 : {kind}
}}"""


def user(of: str = "leaf", name: str = "main") -> str:
    return f"""func.func private @{of}{KIND}
func.func @{name}(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = call @{of}(%x) : {KIND}
  %1 = call @{of}(%0) : {KIND}
  return %1 : tensor<3xf32>
}}"""


def value(session, name):
    return np.asarray(session.functions[name](X)[0])


def verified(session) -> list[str]:
    module = ir.Module.parse(session.module_text(), new_context())
    module.operation.verify()
    return [view.operation.attributes["sym_name"].value for view in module.body.operations]


def test_declaration_binds_to_a_public_function_of_the_session(session):
    session.define(leaf("add"), name="lib")
    report = session.define(user(), name="app")
    assert report["leaf"].why == "bound"
    assert report["leaf"].new_name == "leaf"
    np.testing.assert_array_equal(value(session, "app"), 4 * X)
    assert verified(session) == ["leaf", "leaf_helper", "main"]


def test_body_in_the_unit_goes_first(session):
    session.define(leaf("add"), name="lib")
    report = session.define(user().replace(f"func.func private @leaf{KIND}", leaf("multiply")))
    assert report["leaf"].why == "renamed"


def test_bound_functions_work_in_jit_and_are_there_once(session):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="app")
    app, lib = session.functions["app"], session.functions["lib"]
    both = jax.jit(lambda x: app(x)[0] + lib(x)[0])
    np.testing.assert_array_equal(both(X), 6 * X)
    assert both.lower(X).as_text().count("func.func private") == 3


def test_private_functions_are_not_on_offer(session):
    session.define(leaf("add"), name="lib")
    session.define(user("leaf_helper"), name="app")
    with pytest.raises(PreflightError, match="`@leaf_helper` is declared without a body"):
        session.functions["app"](X)


def test_chains_of_units_are_bound(session):
    session.define(leaf("add"), name="a")
    for number in range(5):
        of = "leaf" if number == 0 else f"step{number - 1}"
        session.define(user(of, f"step{number}"), name=f"unit{number}")
    np.testing.assert_array_equal(value(session, "unit4"), 2.0**32 * X)
    verified(session)


def test_other_types_are_refused_with_both(session):
    session.define(leaf("add", kind="tensor<4xf32>"), name="lib")
    before = session.module_text()
    with pytest.raises(LinkError) as error:
        session.define(user(), name="app")
    assert str(error.value) == (
        "`@leaf` is declared with another type than unit `lib` gives it\n"
        "  text:1:1\n"
        f"    func.func private @leaf{KIND}\n"
        "    ^^^^^^^^^\n"
        "  declared: (tensor<3xf32>) -> (tensor<3xf32>)\n"
        "  defined: (tensor<4xf32>) -> (tensor<4xf32>)\n"
        "  Declare it as it is defined, or give the declaration another name."
    )
    assert session.module_text() == before
    assert list(session.units) == ["lib"]


def test_latest_public_definition_is_meant(session):
    session.define(leaf("add"), name="old")
    session.define(leaf("multiply"), name="new")
    session.define(user(), name="app")
    np.testing.assert_array_equal(value(session, "app"), X**4)


def test_offered_jax_function_can_be_declared_and_called(session):
    session.offer(lambda x: jnp.where(x > 1, jnp.tanh(x), x), X, name="soft")
    session.define(user("soft"), name="app")
    once = np.where(X > 1, np.tanh(X), X)
    np.testing.assert_allclose(value(session, "app"), np.where(once > 1, np.tanh(once), once), 1e-6)
    assert session.units["app"].report["soft"].why == "bound"
    verified(session)


def test_function_of_a_unit_goes_before_an_offer(session):
    session.define(leaf("add"), name="lib")
    session.offer(lambda x: x, X, name="leaf")
    session.define(user(), name="app")
    np.testing.assert_array_equal(value(session, "app"), 4 * X)


def test_offered_name_must_be_writable_in_mlir(session):
    with pytest.raises(LinkError, match="`a-b` cannot be the name"):
        session.offer(lambda x: x, X, name="a-b")


def test_units_follow_when_what_they_are_bound_to_is_replaced(session):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="app")
    session.define(user("main", "outer"), name="top")
    held = session.functions["app"]
    report = session.define(leaf("multiply"), name="lib")
    assert report.unit == "lib"
    assert session.units["lib"].report.relinked == ("app",)
    np.testing.assert_array_equal(value(session, "app"), X**4)
    np.testing.assert_array_equal(value(session, "top"), X**16)
    np.testing.assert_array_equal(held(X)[0], 4 * X)
    assert "an older version" in repr(held)
    assert "an older version" not in repr(session.functions["app"])
    assert len(verified(session)) == 4


def test_units_whose_declaration_no_longer_fits_keep_the_old_version(session):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="app")
    session.define(leaf("add", kind="tensor<4xf32>"), name="lib")
    assert session.units["lib"].report.outdated == ("app",)
    np.testing.assert_array_equal(value(session, "app"), 4 * X)
    assert len(verified(session)) == 5
    session.drop("app")
    assert len(verified(session)) == 2


def test_module_attributes_of_an_old_version_hold_no_more(session):
    session.define(f"module attributes {{test.a = 1}} {{ {leaf('add')} }}", name="lib")
    session.define(user(), name="app")
    session.define(f"module attributes {{test.a = 2}} {{ {leaf('multiply')} }}", name="lib")
    assert "test.a = 2" in session.module_text()
    np.testing.assert_array_equal(value(session, "app"), X**4)


def test_module_attributes_stay_when_the_same_is_defined_again(session):
    session.define(leaf("add", "f"), name="other")
    text = f"module attributes {{test.at = @f}} {{ {leaf('multiply', 'f')} }}"
    report = session.define(text, name="unit")
    before = session.module_text()
    assert f"test.at = @{report['f'].new_name}" in before
    session.define(text, name="unit")
    session.define(text, name="again")
    session.define(leaf("add", "g"), name="more")
    session.drop("more")
    assert session.module_text() == before


def test_unit_that_becomes_equal_to_another_gives_its_functions_up(session):
    session.define(leaf("add", "f"), name="one")
    session.define(leaf("multiply", "g"), name="two")
    session.define(user("g"), name="app")
    session.define(leaf("add", "f"), name="two")
    assert session.units["two"].report.reused_from == "one"
    np.testing.assert_array_equal(value(session, "app"), X**4)
    session.drop("app")
    assert verified(session) == ["f", "f_helper"]


def test_order_of_definitions_is_kept_when_a_unit_follows(session):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="app")
    session.define(leaf("subtract", "main"), name="later")
    session.define(leaf("multiply"), name="lib")
    np.testing.assert_array_equal(value(session, "main"), 0 * X)


def test_drop_refuses_what_is_in_use_unless_forced(session):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="app")
    with pytest.raises(SessionError) as error:
        session.drop("lib")
    assert str(error.value) == (
        "Unit `lib` is in use\n"
        "  bound to it: `app`\n"
        "  Drop those first, or `drop(name, force=True)`: they keep what they use."
    )
    session.drop("lib", force=True)
    np.testing.assert_array_equal(value(session, "app"), 4 * X)
    assert verified(session) == ["leaf", "leaf_helper", "main"]
    session.drop("app")
    assert verified(session) == []


def test_units_that_would_call_each_other_are_refused(session):
    session.define(leaf("add"), name="a")
    session.define(user("leaf", "mid"), name="b")
    before = session.module_text()
    with pytest.raises(LinkError, match="Units `a` and `b` would call each other"):
        session.define(user("mid", "leaf"), name="a")
    assert session.module_text() == before


def test_same_text_bound_to_other_functions_is_not_the_same(session):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="one")
    session.define(leaf("multiply"), name="other")
    session.define(user(), name="two")
    np.testing.assert_array_equal(value(session, "one"), 4 * X)
    np.testing.assert_array_equal(value(session, "two"), X**4)


def test_near_misses_are_named():
    from kernel_magics.ir.preflight import preflight
    from kernel_magics.ir.source import Source
    from kernel_magics.ir.unit import read_unit

    unit = read_unit(Source(user("leav")), new_context())
    with pytest.raises(PreflightError, match="Did you mean `@leaf`?"):
        preflight(unit.index, "main", unit.source, on_offer=["leaf", "other"])


def test_bindings_survive_saving_in_a_fresh_process(session, tmp_path):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="app")
    session.define(leaf("add", kind="tensor<4xf32>"), name="lib")
    session.offer(jnp.sin, X, name="sine")
    session.define(user("sine", "waves"), name="waves")
    path = tmp_path / "s.mlir.bc"
    session.save(path)
    code = f"""
import kernel_magics as km, numpy as np
km.session.restore({str(path)!r})
x = np.arange(3, dtype="f4")
print([np.asarray(km.session.functions[name](x)[0]).tolist() for name in ("app", "waves")])
text = km.session.module_text()
km.session.drop("app")
print(len(text) > len(km.session.module_text()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    values = [value(session, name).tolist() for name in ("app", "waves")]
    assert done.stdout == f"{values}\nTrue\n"


def test_interrupted_write_leaves_the_old_file(session, tmp_path, monkeypatch):
    session.define(leaf("add"), name="lib")
    path = tmp_path / "s.mlir.bc"
    session.save(path)
    before = path.read_bytes()
    session.define(leaf("multiply"), name="other")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(SessionError, match="No space left"):
        session.save(path)
    assert path.read_bytes() == before


def test_graph_draws_bindings_dashed(session):
    session.define(leaf("add"), name="lib")
    session.define(user(), name="app")
    graph = session.graph()
    (edge,) = [edge for edge in graph.edges if edge.kind == "bound"]
    assert (edge.caller, edge.callee, edge.count) == ("main", "leaf", 2)
    assert 'stroke-dasharray="5 3"' in graph.to_svg()
    assert "(bound)" in graph.to_text()


def test_dynamic_programs_may_be_bound_too(session):
    session.define(leaf("add", kind="tensor<?xf32>"), name="lib")
    session.define(user().replace("tensor<3xf32>", "tensor<?xf32>"), name="app")
    np.testing.assert_array_equal(value(session, "app"), 4 * X)
