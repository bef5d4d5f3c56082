"""The same inspector in Notebook 7: seen, walked, exported, saved and opened again."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from kernel_magics.widgets.saved import SAVED_VIEW_TYPE
from tests.browser.cell_programs import LOAD, SCALE, SHIFT
from tests.browser.conftest import Notebook, _content, _end_kernels, serving


@pytest.fixture(scope="module")
def notebook7(tmp_path_factory) -> Iterator[tuple[str, Path]]:
    with serving(tmp_path_factory.mktemp("notebook7"), "notebook") as served:
        yield served


@pytest.fixture
def opened(browser: Browser, notebook7: tuple[str, Path], request) -> Iterator[Notebook]:
    url, folder = notebook7
    path = folder / f"{request.node.name}.ipynb"
    path.write_text(json.dumps(_content([LOAD, SCALE, SHIFT])))
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(60_000)
    yield Notebook(context.new_page(), url, path, "notebooks")
    _end_kernels(context, url, {path.name})
    context.close()


def test_a_cell_shows_the_inspector_and_all_its_views(opened):
    opened.run(0)
    opened.run(1)
    opened.run(2)
    inspector = opened.live(1)
    expect(inspector.locator(".n")).to_have_count(3)
    expect(inspector.locator(".km-status")).to_contain_text(re.compile("compiled for cpu in"))
    inspector.get_by_role("button", name="@twice").click()
    panel = inspector.get_by_role("region", name="Text of the function")
    expect(panel).to_contain_text("stablehlo.add %arg0, %arg0")
    inspector.get_by_role("tab", name="Text").click()
    expect(inspector.get_by_role("listbox", name="Text: Merged")).to_contain_text("module")
    inspector.get_by_role("tab", name="Symbols").click()
    expect(inspector.locator("tbody tr")).to_have_count(3)
    inspector.get_by_role("tab", name="Diff").click()
    inspector.get_by_label("Unit", exact=True).select_option(label="B shift")
    expect(inspector.locator(".km-diff .added").first).to_contain_text("@main_")
    inspector.get_by_role("tab", name="Functions").click()
    inspector.get_by_role("button", name="Menu").click()
    with opened.page.expect_download() as download:
        inspector.get_by_role("menuitem", name="Save as SVG").click()
    assert download.value.path().read_text().startswith("<svg")
    first = opened.live(0)
    expect(first.locator(".km-note")).to_contain_text("The module has changed since")


def test_everything_is_done_by_keys_and_the_notebook_does_not_take_them(opened):
    opened.run(0)
    opened.run(1)
    inspector, keyboard = opened.live(), opened.page.keyboard
    inspector.locator(".n").first.focus()
    keyboard.press("ArrowRight")
    expect(inspector.locator(".n:focus")).to_contain_text("@twice")
    keyboard.press("Enter")
    expect(inspector.get_by_role("region", name="Text of the function")).to_be_visible()
    for key in ("x", "b", "a", "d", "d", "z"):
        keyboard.press(key)
    expect(opened.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(3)


def test_a_reopened_notebook_shows_its_view_and_lives_again(opened):
    opened.run(0)
    opened.run(1)
    opened.live()
    opened.command("docmanager:save")
    opened.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    saved = json.loads(opened.path.read_text())["cells"][1]["outputs"][0]["data"]
    assert SAVED_VIEW_TYPE in saved
    opened.shut_down()
    opened.open()
    inspector = opened.inspector()
    expect(inspector.locator(".km-note")).to_contain_text("Saved view of")
    inspector.get_by_role("button", name="@twice").click()
    expect(inspector.get_by_role("region", name="Text of the function")).to_contain_text("add")
    opened.run(0)
    opened.run(1)
    expect(opened.live().locator(".n")).to_have_count(2)


def test_the_dark_theme_is_followed(opened):
    opened.run(0)
    opened.run(1)
    box = opened.live().locator(".n .box").first
    light = box.evaluate("element => getComputedStyle(element).fill")
    with opened.theme("Dark"):
        assert box.evaluate("element => getComputedStyle(element).fill") != light
