import signal
import threading

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.testing.globalipapp import start_ipython
from IPython.utils.capture import capture_output

import kernel_magics as km
from kernel_magics.errors import (
    CompileError,
    CompileInterrupted,
    EntryError,
    FormatError,
    ParseError,
    PrecisionError,
    PreflightError,
    SessionError,
    UsageError,
)
from tests.cells import DOUBLE, REFUSED, X, refused, run


def test_cell_binds_public_functions_and_its_name(shell):
    run(shell, "%%hlo double\n" + DOUBLE)
    for name in ("main", "double"):
        np.testing.assert_array_equal(shell.user_ns[name](X)[0], 2 * X)
    np.testing.assert_array_equal(
        run(shell, "double([1., 2., 3.] + 0 * __import__('numpy').zeros(3, 'f4'))[0]")[0], [2, 4, 6]
    )


def test_value_of_the_cell_is_its_display_shown_once(shell):
    view, captured = run(shell, "%%hlo double\n" + DOUBLE)
    (shown,) = captured.outputs
    assert shown.data["image/svg+xml"].startswith("<svg")
    assert "@main" in shown.data["text/plain"]
    bundle, _ = view._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/svg+xml"}
    assert "compiled for cpu in" in bundle["text/plain"]
    assert "compiled for cpu in" in bundle["image/svg+xml"]


def test_value_shows_itself_when_it_is_asked_for_later(shell):
    run(shell, "%%hlo double\n" + DOUBLE, store_history=True)
    _, captured = run(shell, "_")
    assert captured.outputs or "@main" in captured.stdout


def test_body_is_not_expanded(shell):
    text = DOUBLE.replace(
        "-> tensor<3xf32> {",
        '-> tensor<3xf32> attributes {lab.note = "costs $5 {x} {{y}} %d"} {  // $x {1+1}',
        1,
    )
    shell.user_ns["x"] = 1
    run(shell, "%%hlo noted\n" + text)
    assert 'lab.note = "costs $5 {x} {{y}} %d"' in km.session.module_text()
    del shell.user_ns["x"]


@pytest.mark.parametrize("word", ["{x}", "$x", "1st", "a-b", "class"])
def test_line_is_not_expanded_and_names_must_be_names(shell, word):
    shell.user_ns["x"] = X
    message = refused(shell, f"%%hlo {word}\n" + DOUBLE, UsageError)
    assert message.startswith(f"`{word}` cannot be the name of a unit")
    del shell.user_ns["x"]


def test_unknown_flag_is_named(shell):
    assert "--bogus" in refused(shell, "%%hlo --bogus\n" + DOUBLE, UsageError)
    assert "--attrs" in refused(shell, "%%hlo --attrs '{\"k\": 100}' x\n" + DOUBLE, UsageError)


@pytest.mark.parametrize(
    "code", ["%%hlo -h\nmodule {}", "%%hlo --help\n", "%hlo --help", "%hlo load -h"]
)
def test_help_is_printed_and_the_cell_succeeds(shell, code):
    value, captured = run(shell, code)
    assert value is None
    assert captured.stdout.startswith("usage: %")


def test_line_magic_alone_prints_its_help(shell):
    assert "restore" in run(shell, "%hlo")[1].stdout


@pytest.mark.parametrize("code", ["%%hlo", "%%hlo\n", "%%hlo name\n\n", "%%hlo\n// nothing"])
def test_empty_cell_shows_an_example(shell, code):
    assert "stablehlo.add %x, %x" in refused(shell, code, FormatError)


@pytest.mark.parametrize(("before", "line"), [("", 4), ("\n\n", 6)])
def test_lines_count_in_the_cell(shell, before, line):
    body = "module {\n  func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n    %0 = {}\n    return %0 : tensor<3xf32>\n  }\n}\n"
    undeclared = body.replace("{}", "stablehlo.add %a, %b : tensor<3xf32>")
    assert f"cell:{line}:28" in refused(shell, f"{before}%%hlo x\n{undeclared}", ParseError)
    foreign = body.replace("{}", "arith.addf %a, %a : tensor<3xf32>")
    assert f"cell:{line}:10" in refused(shell, f"{before}%%hlo x\n{foreign}", PreflightError)


def test_what_xla_refuses_leaves_the_session_as_it_was(shell):
    run(shell, "%%hlo unit\n" + DOUBLE)
    message = refused(shell, "%%hlo unit\n" + REFUSED, CompileError)
    assert message.startswith("XLA refused `@main`\n")
    np.testing.assert_array_equal(shell.user_ns["unit"](X)[0], 2 * X)
    refused(shell, "%%hlo other\n" + REFUSED.replace("@main", "@other"), CompileError)
    assert "other" not in shell.user_ns


def test_error_is_shown_without_a_traceback(shell):
    with capture_output() as captured:
        shell.run_cell("%%hlo\nfunc.func @f() {\n  foo\n}")
    assert "ParseError: MLIR refused the cell" in captured.stderr + captured.stdout
    assert "Traceback" not in captured.stderr + captured.stdout


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("func.func private @e()\nfunc.func @main() { call @e() : () -> ()\n return }", PreflightError, "without a body"),
        ("func.func @main() { call @main() : () -> ()\n return }", PreflightError, "calls itself"),
        (DOUBLE.replace("f32", "f64"), PrecisionError, "jax_enable_x64"),
        ("import jax", FormatError, "looks like Python"),
    ],
)  # fmt: skip
def test_what_cannot_be_compiled_leaves_no_trace(shell, body, error, words):
    assert words in refused(shell, "%%hlo unit\n" + body, error)


def test_what_cannot_be_compiled_can_be_linked_and_seen(shell):
    run(shell, "%%hlo wide --no-compile\n" + DOUBLE.replace("f32", "f64"))
    assert "wide" in km.session.units


def test_entry_is_chosen_by_func(shell):
    two = DOUBLE.replace("main", "one") + DOUBLE.replace("main", "two").replace("add", "multiply")
    message = refused(shell, "%%hlo unit\n" + two, EntryError)
    assert "on offer: `@one`, `@two`" in message
    run(shell, "%%hlo unit --func two\n" + two)
    np.testing.assert_array_equal(shell.user_ns["unit"](X)[0], X * X)
    run(shell, "%%hlo\n" + two)
    assert "`@three`" in refused(shell, "%%hlo unit --func three\n" + two, EntryError)


def test_dynamic_entry_is_compiled_when_called(shell):
    view, _ = run(shell, "%%hlo any_size\n" + DOUBLE.replace("3x", "?x"))
    assert "dynamic dimensions" in repr(view)
    np.testing.assert_array_equal(shell.user_ns["any_size"](X)[0], 2 * X)


@pytest.mark.parametrize(
    ("show", "words"), [("text", "func.func private @main"), ("symbols", "@main  @main  kept")]
)
def test_other_views_of_the_cell(shell, show, words):
    view, captured = run(shell, f"%%hlo double --show {show}\n" + DOUBLE)
    assert words in repr(view)
    assert words in captured.outputs[0].data["text/plain"]


def test_show_nothing_shows_nothing(shell):
    _, captured = run(shell, "%%hlo double --show nothing\n" + DOUBLE)
    assert captured.outputs == []
    assert "@main" not in captured.stdout


def test_huge_constants_are_shortened_in_what_is_shown(shell):
    numbers = ", ".join(map(str, range(5000)))
    body = f"func.func @main() -> tensor<5000xi32> {{ %0 = stablehlo.constant dense<[{numbers}]> : tensor<5000xi32>\n return %0 : tensor<5000xi32> }}"
    view, _ = run(shell, "%%hlo big --show text\n" + body)
    assert len(repr(view)) < 1000
    assert shell.user_ns["big"]()[0][4999] == 4999


def test_names_that_are_no_python_names_are_said(shell):
    view, _ = run(shell, "%%hlo\n" + DOUBLE.replace("@main", '@"add-one"'))
    assert "`add-one`" in repr(view)
    np.testing.assert_array_equal(km.session.functions["add-one"](X)[0], 2 * X)


def test_names_that_hide_others_are_said(shell):
    view, _ = run(shell, "%%hlo\n" + DOUBLE.replace("@main", "@sum"))
    assert "`sum`" in repr(view).split("\n")[-2]


def test_line_magic_looks_and_changes(shell, tmp_path):
    path = tmp_path / "double.mlir"
    path.write_text(DOUBLE)
    saved = tmp_path / "session.mlir.bc"
    run(shell, f"%hlo load {path} double")
    np.testing.assert_array_equal(shell.user_ns["double"](X)[0], 2 * X)
    assert "func.func private @main" in repr(run(shell, "%hlo module")[0])
    assert "(x: f32[3]) -> (f32[3])" in repr(run(shell, "%hlo functions")[0])
    assert "@main" in repr(run(shell, "%hlo graph")[0])
    run(shell, f"%hlo save {saved}")
    assert "1 unit forgotten" in repr(run(shell, "%hlo reset")[0])
    assert km.session.units == {}
    run(shell, f"%hlo restore {saved}")
    assert list(km.session.units) == ["double"]
    assert "no unit `other`" in refused(shell, "%hlo drop other", SessionError)
    run(shell, "%hlo drop double")
    assert km.session.units == {}
    assert "holds no function yet" in repr(run(shell, "%hlo functions")[0])
    assert "'bogus'" in refused(shell, "%hlo bogus", UsageError)


def test_loading_again_and_unloading_leave_nothing_behind(shell):
    def hooks():
        callbacks = {event: len(found) for event, found in shell.events.callbacks.items()}
        return callbacks, len(shell.input_transformers_cleanup)

    loaded = hooks()
    for _ in range(3):
        shell.run_line_magic("reload_ext", "kernel_magics")
    assert hooks() == loaded
    shell.run_line_magic("unload_ext", "kernel_magics")
    magics = shell.magics_manager.magics
    assert "hlo" not in magics["cell"]
    assert "hlo" not in magics["line"]
    assert "custom_call" not in magics["cell"]
    left = [hook for found in shell.events.callbacks.values() for hook in found]
    left += shell.input_transformers_cleanup
    assert [h for h in left if str(getattr(h, "__module__", "")).startswith("kernel_magics")] == []
    shell.run_line_magic("load_ext", "kernel_magics")
    assert hooks() == loaded


def test_ctrl_c_gives_the_prompt_back_while_a_compile_goes_on(shell, monkeypatch):
    started, release = threading.Event(), threading.Event()

    class Lowered:
        def compile(self):
            started.set()
            release.wait(30)

    monkeypatch.setattr(km.HloFunction, "lower", lambda self, *shapes: Lowered())

    def interrupt():
        started.wait(30)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(CompileInterrupted) as error:
        run(shell, "%%hlo double\n" + DOUBLE)
    release.set()
    assert str(error.value).startswith(
        "Interrupted: the compile of `@main` goes on in the background\n"
    )
    assert "double" in km.session.units
    monkeypatch.undo()
    view, _ = run(shell, "%%hlo double\n" + DOUBLE)
    assert "compiled for cpu" in repr(view)


def test_a_second_shell_gets_the_magics_too():
    first = InteractiveShell.instance() if InteractiveShell.initialized() else start_ipython()
    assert first is not None
    second = InteractiveShell()
    try:
        second.run_line_magic("load_ext", "kernel_magics")
        assert "hlo" in second.magics_manager.magics["cell"]
        second.run_line_magic("unload_ext", "kernel_magics")
    finally:
        second.history_manager.end_session()
        second.cleanup()
