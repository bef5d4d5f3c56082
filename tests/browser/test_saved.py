"""What cells show in JupyterLab, and what is left of it when the kernel is gone."""

import base64
import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from kernel_magics.widgets.saved import SAVED_VIEW_TYPE
from tests.browser.cell_programs import LOAD, SCALE, SHIFT
from tests.browser.programs import TWO_UNITS

LIVE = "application/vnd.jupyter.widget-view+json"


def save(opened) -> dict:
    """Saves the notebook; returns what stands in its file."""
    opened.command("docmanager:save")
    opened.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    return json.loads(opened.path.read_text())


def test_a_cell_shows_a_live_inspector_that_stays_when_the_compile_is_done(notebook):
    opened = notebook(LOAD, SCALE)
    opened.run(0)
    opened.run(1)
    inspector = opened.live()
    expect(inspector.locator(".km-status")).to_contain_text(re.compile("compiled for cpu in"))
    expect(inspector.get_by_role("button", name="@twice")).to_be_visible()
    inspector.get_by_role("button", name="@twice").click()
    expect(inspector.get_by_role("region", name="Text of the function")).to_contain_text("add")
    expect(opened.page.locator(".km:visible")).to_have_count(1)


def test_a_completed_display_leaves_a_live_view_as_the_reader_has_it(notebook):
    program = SCALE.removeprefix("%%hlo scale\n")
    slow = f"""
from kernel_magics.magics.display import CellView
cell = get_ipython().magics_manager.magics["cell"]["hlo"]
view = cell("later --no-compile", '''{program}''')"""
    opened = notebook(LOAD, slow, "view.complete('added later')")
    opened.run(0)
    opened.run(1)
    inspector = opened.live()
    inspector.get_by_role("button", name="@twice").click()
    expect(inspector.locator(".n.sel")).to_have_count(1)
    opened.run(2)
    expect(inspector.locator(".km-status")).to_contain_text("added later")
    expect(inspector.locator(".n.sel")).to_have_count(1)


@pytest.mark.parametrize(("show", "role"), [("text", "listbox"), ("symbols", "table")])
def test_a_cell_opens_the_view_that_was_asked_for(notebook, show, role):
    opened = notebook(LOAD, SCALE.replace("%%hlo scale", f"%%hlo scale --show {show}"))
    opened.run(0)
    opened.run(1)
    expect(opened.live().get_by_role(role).first).to_be_visible()


def test_a_view_in_another_cell_says_at_once_that_the_module_changed(notebook):
    opened = notebook(f"{LOAD}\nimport kernel_magics as km\nkm.session.reset()", SCALE, SHIFT)
    for cell in range(3):
        opened.run(cell)
    before, after = opened.live(0), opened.live(1)
    expect(before.locator(".km-note")).to_contain_text("The module has changed since")
    expect(before.locator(".n")).to_have_count(2)
    expect(after.locator(".km-note")).to_have_count(0)
    before.get_by_role("button", name="Draw it again").click()
    expect(before.locator(".km-note")).to_have_count(0)
    expect(before.locator(".n")).to_have_count(3)


def test_a_saved_view_lives_again_when_the_kernel_holds_its_module(own_notebook):
    opened = own_notebook(LOAD, SCALE, "%hlo graph")
    for cell in range(3):
        opened.run(cell)
    opened.live(1)
    save(opened)
    opened.shut_down()
    opened.open()
    expect(opened.page.locator(".km[data-connection=saved]:visible")).to_have_count(2)
    # The cell of the second view does not run, yet it has a kernel again.
    opened.run(0)
    opened.run(1)
    expect(opened.page.locator(".km[data-connection=live]:visible")).to_have_count(2)
    revived = opened.live(1)
    revived.get_by_role("button", name="@twice").click()
    expect(revived.get_by_role("region", name="Text of the function")).to_contain_text("add")


def test_a_view_whose_kernel_was_restarted_lives_again_when_the_module_is_back(own_notebook):
    opened = own_notebook(LOAD, SCALE, "%hlo graph")
    for cell in range(3):
        opened.run(cell)
    second = opened.live(1)
    opened.command("kernelmenu:restart", waits=False)
    opened.page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(second.locator(".km-note")).to_contain_text("The kernel is gone")
    second.get_by_role("button", name="@twice").click()
    expect(second.locator(".n.sel")).to_have_count(1)
    opened.run(0)
    opened.run(1)
    expect(opened.page.locator(".km[data-connection=live]:visible")).to_have_count(2)


def test_a_saved_module_that_the_kernel_does_not_hold_stays_as_it_was_saved(own_notebook):
    opened = own_notebook(LOAD, SCALE, SHIFT)
    for cell in range(3):
        opened.run(cell)
    save(opened)
    opened.shut_down()
    opened.open()
    opened.run(0)
    opened.run(2)
    expect(opened.page.locator(".km[data-connection=live]:visible")).to_have_count(1)
    saved = opened.page.locator(".km[data-connection=saved]:visible")
    expect(saved.locator(".km-note")).to_contain_text("Saved view of")
    saved.get_by_role("button", name="Menu").click()
    item = saved.get_by_role("menuitem", name="Save as SVG")
    expect(item).to_have_attribute("aria-disabled", "true")


def test_a_saved_notebook_holds_every_form_and_becomes_a_page_with_pictures(own_notebook, tmp_path):
    opened = own_notebook(LOAD, SCALE)
    opened.run(0)
    opened.run(1)
    opened.live()
    written = save(opened)
    (output,) = written["cells"][1]["outputs"]
    assert set(output["data"]) == {
        LIVE,
        SAVED_VIEW_TYPE,
        "image/png",
        "image/svg+xml",
        "text/plain",
    }
    assert len(json.dumps(output["data"][SAVED_VIEW_TYPE])) < 200_000
    subprocess.run(
        [
            sys.executable,
            "-m",
            "nbconvert",
            "--to",
            "html",
            f"--output-dir={tmp_path}",
            opened.path,
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    page = (tmp_path / opened.path.with_suffix(".html").name).read_text()
    pictures = re.findall(r'<img[^>]* src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert "Function graph of session" in base64.b64decode(pictures[-1]).decode()
    assert "model not found" not in page.lower()


def test_without_the_extension_the_widget_works_alone(own_notebook):
    opened = own_notebook(TWO_UNITS)
    opened.page.evaluate(
        "type => window.jupyterapp.shell.currentWidget.content.rendermime.removeMimeType(type)",
        SAVED_VIEW_TYPE,
    )
    opened.run(0)
    inspector = opened.live()
    expect(inspector.locator(".n")).to_have_count(6)
    expect(opened.page.locator(".km-output")).to_have_count(0)
    inspector.get_by_role("button", name="@attention").click()
    expect(inspector.get_by_role("region", name="Text of the function")).to_contain_text("dot_")
