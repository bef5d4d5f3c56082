"""What cells show: a live inspector in a notebook, words and a picture elsewhere."""

import base64
import gc
import json
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets.widgets import widget

import kernel_magics as km
from kernel_magics.graph import layout
from kernel_magics.widgets.inspector import Inspector
from kernel_magics.widgets.saved import SAVED_VIEW_TYPE
from tests.cells import DOUBLE, REFUSED, run

LIVE = "application/vnd.jupyter.widget-view+json"
TRIPLE = DOUBLE.replace("@main", "@triple")


@pytest.fixture
def notebook(shell, monkeypatch) -> Iterator[InteractiveShell]:
    """A shell with what tells a notebook's from a terminal's."""
    monkeypatch.setattr(shell, "kernel", None, raising=False)
    yield shell
    if "hlo" in shell.magics_manager.magics["cell"]:
        shell.magics_manager.magics["cell"]["hlo"].displays.end()


def of_widget(data: dict) -> Inspector:
    return widget._instances[data[LIVE]["model_id"]]


def test_a_cell_shows_the_inspector_at_once_and_completes_it(notebook):
    _, captured = run(notebook, "%%hlo double\n" + DOUBLE)
    first, completed = captured.outputs
    assert set(first.data) == {LIVE, SAVED_VIEW_TYPE, "image/svg+xml", "text/plain"}
    assert "compiled for cpu" not in json.dumps(first.data)
    assert completed.update
    assert completed.transient == first.transient
    assert set(completed.data) == {*first.data, "image/png"}
    assert completed.data[LIVE] == first.data[LIVE]
    for form in ("text/plain", "image/svg+xml"):
        assert "compiled for cpu" in completed.data[form]
    assert "compiled for cpu" in completed.data[SAVED_VIEW_TYPE]["saved"]["note"]
    assert "compiled for cpu" in of_widget(first.data).note
    assert base64.b64decode(completed.data["image/png"]).startswith(b"\x89PNG")


def test_a_terminal_sees_text_and_no_widget(shell):
    before = set(widget._instances)
    value, captured = run(shell, "%%hlo double\n" + DOUBLE)
    (first,) = captured.outputs
    assert set(first.data) == {"text/plain", "image/svg+xml"}
    assert "compiled for cpu in" in captured.stdout
    assert repr(value).startswith("session: ")
    assert set(widget._instances) == before


def test_ipython_without_a_kernel_prints_an_outline(tmp_path):
    script = tmp_path / "cells.ipy"
    script.write_text(
        f"%load_ext kernel_magics\nget_ipython().run_cell_magic('hlo', 'double', '''{DOUBLE}''')\n%hlo graph\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env=None,
    )
    assert "session: 1 function" in done.stdout
    assert "@main" in done.stdout
    assert "<svg" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("show", "first_line"), [("text", "module"), ("symbols", "double: 1 symbol")]
)
def test_a_cell_may_open_another_view(notebook, show, first_line):
    _, captured = run(notebook, f"%%hlo double --show {show}\n" + DOUBLE)
    data = captured.outputs[-1].data
    assert of_widget(data).first_tab == show
    assert data[SAVED_VIEW_TYPE]["saved"]["first_tab"] == show
    assert data["text/plain"].startswith(first_line)


def test_a_cell_that_shows_nothing_makes_no_widget(notebook):
    before = set(widget._instances)
    _, captured = run(notebook, "%%hlo double --show nothing\n" + DOUBLE)
    assert captured.outputs == []
    assert set(widget._instances) == before


def test_a_line_shows_the_inspector_too(notebook):
    run(notebook, "%%hlo double\n" + DOUBLE)
    value, _ = run(notebook, "%hlo graph")
    bundle, _ = value._repr_mimebundle_()
    assert set(bundle) == {LIVE, SAVED_VIEW_TYPE, "image/png", "image/svg+xml", "text/plain"}


def test_graphviz_runs_once_for_all_forms_of_a_cell(notebook, monkeypatch):
    calls = []
    lay_out = layout.lay_out_with_graphviz
    monkeypatch.setattr(
        layout, "lay_out_with_graphviz", lambda *given: calls.append(1) or lay_out(*given)
    )
    program = DOUBLE + "func.func private @once() {\n  return\n}\n"
    program = program.replace("  %0", "  func.call @once() : () -> ()\n  %0")
    run(notebook, "%%hlo unlike_any_other\n" + program)
    assert len(calls) == 1


def test_running_a_cell_a_hundred_times_leaves_one_widget(notebook):
    # Each has a second model, for its size.
    before = len(widget._instances)
    for number in range(100):
        body = DOUBLE.replace("3x", f"{number + 2}x")
        run(notebook, f"%%hlo double --no-compile\n{body}", cell_id="a")
    run(notebook, "1", cell_id="another")
    assert len(widget._instances) == before + 2
    gc.collect()
    alive = [thing for thing in gc.get_objects() if type(thing) is Inspector]
    # IPython holds on to the values of the latest cells.
    assert len(alive) < 10


def test_a_cell_without_an_id_is_told_by_its_unit(notebook):
    before = len(widget._instances)
    for _ in range(3):
        run(notebook, "%%hlo double --no-compile\n" + DOUBLE)
        run(notebook, "%%hlo other --no-compile\n" + TRIPLE)
    assert len(widget._instances) == before + 4


def test_unloading_ends_what_is_shown(notebook):
    before = len(widget._instances)
    run(notebook, "%%hlo double --no-compile\n" + DOUBLE)
    notebook.run_line_magic("unload_ext", "kernel_magics")
    assert len(widget._instances) == before
    notebook.run_line_magic("load_ext", "kernel_magics")


def test_a_value_whose_widget_ended_makes_another(notebook):
    value, _ = run(notebook, "%%hlo double --no-compile\n" + DOUBLE, cell_id="a")
    run(notebook, "1", cell_id="a")
    bundle, _ = value._repr_mimebundle_()
    assert of_widget(bundle).comm is not None


def test_views_that_are_open_are_told_of_every_change(session):
    session.define(DOUBLE, name="double")
    opened = km.inspect(session)
    assert not opened.is_outdated
    session.define(TRIPLE, name="triple")
    assert opened.is_outdated
    assert [node["name"] for node in opened.view["nodes"]] == ["@main"]
    opened.refresh()
    assert not opened.is_outdated
    session.drop("triple")
    assert opened.is_outdated
    opened.close()


def test_a_view_is_as_it_was_when_the_change_is_taken_back(notebook):
    run(notebook, "%%hlo kept\n" + TRIPLE)
    opened = km.inspect(km.session)
    with pytest.raises(km.KernelMagicsError):
        run(notebook, "%%hlo refused\n" + REFUSED)
    assert not opened.is_outdated
    opened.close()


def test_the_same_cell_again_outdates_nothing(notebook):
    run(notebook, "%%hlo double --no-compile\n" + DOUBLE)
    opened = km.inspect(km.session)
    run(notebook, "%%hlo double --no-compile\n" + DOUBLE)
    assert not opened.is_outdated
    opened.close()


def test_a_picture_that_cannot_be_drawn_leaves_the_other_forms(notebook, monkeypatch):
    def refuse(svg, **_):
        raise ValueError(svg)

    monkeypatch.setattr("kernel_magics.widgets.inspector.to_png", refuse)
    _, captured = run(notebook, "%%hlo double\n" + DOUBLE)
    completed = captured.outputs[-1].data
    assert set(completed) == {LIVE, SAVED_VIEW_TYPE, "image/svg+xml", "text/plain"}


def test_large_pictures_stay_small_files(session):
    calls = "".join(f"  func.call @f{n}() : () -> ()\n" for n in range(150))
    bodies = "".join(f"func.func private @f{n}() {{\n  return\n}}\n" for n in range(150))
    session.define(f"func.func @main() {{\n{calls}  return\n}}\n{bodies}")
    inspector = km.inspect(session)
    png = inspector._forms().png()
    width, height = struct.unpack(">II", png[16:24])
    assert width * height <= 2_010_000
    assert len(png) < 400_000
