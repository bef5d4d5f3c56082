import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import CompileError, PreflightError, SessionError
from tests.cells import DOUBLE, REFUSED, X, refused, run

CALLER = """func.func private @leaf(tensor<3xf32>) -> tensor<3xf32>
func.func @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @leaf(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = call @leaf(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}"""
LEAF = DOUBLE.replace("@main", "@leaf")


def test_one_cell_calls_what_another_defined_and_follows_when_it_changes(shell):
    run(shell, "%%hlo leaf\n" + LEAF)
    run(shell, "%%hlo quadruple\n" + CALLER)
    np.testing.assert_array_equal(shell.user_ns["quadruple"](X)[0], 4 * X)
    view, _ = run(shell, "%%hlo leaf\n" + LEAF.replace("add", "multiply"))
    assert "linked again: `quadruple`" in repr(view)
    np.testing.assert_array_equal(shell.user_ns["quadruple"](X)[0], X**4)
    view, _ = run(shell, "%%hlo leaf\n" + LEAF.replace("3xf32", "4xf32"))
    assert "still on the old version, for types differ: `quadruple`" in repr(view)


def test_units_that_followed_a_refused_cell_come_back(shell):
    run(shell, "%%hlo leaf\n" + LEAF)
    run(shell, "%%hlo quadruple\n" + CALLER)
    # XLA refuses the entry; the function that the other unit follows is fine by itself.
    ragged = REFUSED.replace("@main", "@ragged") + "\n" + LEAF.replace("add", "multiply")
    before = km.session.graph().to_json()
    with pytest.raises(CompileError):
        run(shell, "%%hlo leaf --func ragged\n" + ragged)
    assert sorted(km.session.functions) == ["leaf", "quadruple", "twice"]
    for name, wanted in (("leaf", 2 * X), ("quadruple", 4 * X)):
        np.testing.assert_array_equal(shell.user_ns[name](X)[0], wanted)
        np.testing.assert_array_equal(km.session.functions[name](X)[0], wanted)
        assert "an older version" not in repr(shell.user_ns[name])
    assert "ragged" not in shell.user_ns
    assert len(km.session.graph().nodes) == before.count('"merged_name"')


def test_unchanged_cell_is_not_parsed_again(shell, monkeypatch):
    run(shell, "%%hlo double\n" + DOUBLE)

    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(km.Session, "read", fail)
    view, _ = run(shell, "%%hlo double\n" + DOUBLE)
    assert "compiled for cpu" in repr(view)


def test_unchanged_cell_is_the_latest_definition_again(shell):
    run(shell, "%%hlo double\n" + DOUBLE)
    run(shell, "%%hlo square\n" + DOUBLE.replace("add", "multiply"))
    run(shell, "%%hlo double\n" + DOUBLE)
    np.testing.assert_array_equal(km.session.functions["main"](X)[0], 2 * X)


def test_unchanged_cell_binds_what_it_could_not_before(shell):
    run(shell, "%%hlo quadruple --no-compile\n" + CALLER)
    run(shell, "%%hlo leaf\n" + LEAF)
    run(shell, "%%hlo quadruple\n" + CALLER)
    np.testing.assert_array_equal(shell.user_ns["quadruple"](X)[0], 4 * X)


def test_near_misses_of_a_declaration_are_named(shell):
    run(shell, "%%hlo leaf\n" + LEAF)
    message = refused(shell, "%%hlo caller\n" + CALLER.replace("@leaf", "@leav"), PreflightError)
    assert "Did you mean `@leaf`?" in message


def test_drop_of_what_is_in_use_needs_force(shell):
    run(shell, "%%hlo leaf\n" + LEAF)
    run(shell, "%%hlo quadruple\n" + CALLER)
    assert "bound to it: `quadruple`" in refused(shell, "%hlo drop leaf", SessionError)
    run(shell, "%hlo drop leaf --force")
    np.testing.assert_array_equal(shell.user_ns["quadruple"](X)[0], 4 * X)


def test_cell_with_an_id_replaces_what_it_defined(shell):
    run(shell, "%%hlo\n" + DOUBLE, cell_id="abc")
    run(shell, "%%hlo\n" + DOUBLE.replace("add", "multiply"), cell_id="abc")
    assert len(km.session.units) == 1
    np.testing.assert_array_equal(shell.user_ns["main"](X)[0], X * X)
    run(shell, "%%hlo\n" + DOUBLE, cell_id="def")
    assert len(km.session.units) == 2
