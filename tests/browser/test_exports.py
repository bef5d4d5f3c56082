"""Files that the menu gives: read, parsed, and opened without a network."""

import json
import re
import struct
import subprocess
from pathlib import Path
from xml.dom import minidom

import pytest
from playwright.sync_api import expect

from kernel_magics.graph.layout_graphviz import find_engine
from tests.browser.programs import HOSTILE, TWO_UNITS

NAMES = ["@main", "@attention", "@layer_norm", "rms_norm", "@gelu"]


def saved(opened, form: str, folder: Path) -> Path:
    """What the menu's item gives."""
    inspector = opened.live()
    inspector.get_by_role("button", name="Menu").click()
    with opened.page.expect_download() as download:
        inspector.get_by_role("menuitem", name=f"Save as {form}").click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


@pytest.fixture
def shown(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    opened.live()
    return opened


def test_the_svg_is_what_the_view_shows(shown, tmp_path):
    file = saved(shown, "SVG", tmp_path)
    assert file.name == "session.svg"
    drawn = minidom.parse(str(file)).getElementsByTagName("text")  # noqa: S318 - we wrote it
    words = {text.firstChild.data for text in drawn if text.firstChild.nodeType == text.TEXT_NODE}
    assert set(NAMES) <= words


def test_the_png_is_a_picture_with_two_pixels_for_each(shown, tmp_path):
    data = saved(shown, "PNG", tmp_path).read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    width, _ = struct.unpack(">II", data[16:24])
    assert width > 1000


def test_the_dot_file_is_read_by_graphviz(shown, tmp_path):
    file = saved(shown, "DOT", tmp_path)
    command = next(filter(None, map(find_engine, ("dot", "graphviz-pure"))))
    done = subprocess.run([command, "-Tplain", file], capture_output=True, text=True, check=True)
    assert done.stdout.count("\nnode ") == 6
    assert "@attention" in file.read_text()


def test_of_an_opened_function_the_ops_are_saved(shown, tmp_path):
    inspector = shown.live()
    inspector.get_by_role("button", name="@attention").dblclick()
    expect(inspector.get_by_role("button", name="dot_general").first).to_be_visible()
    file = saved(shown, "SVG", tmp_path)
    assert file.name == "attention.svg"
    assert "dot_general" in file.read_text()
    assert "dot_general" in saved(shown, "DOT", tmp_path).read_text()
    assert saved(shown, "PNG", tmp_path).read_bytes().startswith(b"\x89PNG")


def test_the_page_works_without_kernel_and_network(shown, tmp_path, browser):
    file = saved(shown, "HTML", tmp_path)
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.goto(file.as_uri())
    inspector = page.locator(".km")
    expect(inspector.locator(".n")).to_have_count(6)
    expect(inspector.locator(".km-note")).to_have_count(0)
    inspector.get_by_role("button", name="@attention").click()
    panel = inspector.get_by_role("region", name="Text of the function")
    expect(panel).to_contain_text("stablehlo.dot_general %arg0, %arg1")
    inspector.get_by_role("button", name="Unit", exact=True).click()
    expect(panel).to_contain_text("stablehlo.dot_general %x, %w")
    inspector.get_by_role("tab", name="Ops").click()
    expect(inspector.get_by_role("button", name="dot_general").first).to_be_visible()
    inspector.get_by_role("tab", name="Symbols").click()
    expect(inspector.locator("tbody tr")).to_have_count(7)
    inspector.get_by_role("tab", name="Diff").click()
    expect(inspector.locator(".km-diff .l").first).to_be_visible()
    inspector.get_by_role("tab", name="Text").click()
    expect(inspector.get_by_role("listbox", name="Text: Merged")).to_contain_text("module")
    assert asked == [file.as_uri()]
    assert errors == []
    context.close()


def test_hostile_names_are_data_on_the_page(notebook, tmp_path, browser):
    opened = notebook(HOSTILE)
    opened.run()
    file = saved(opened, "HTML", tmp_path)
    text = file.read_text()
    assert text.count("</script>") == 2
    assert "<img" not in text
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.locator(".n").nth(1)).to_have_attribute("aria-label", re.compile("onerror"))
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    data = json.loads(page.locator("#kernel-magics-view").text_content() or "")
    assert "</script><img" in data["nodes"][1]["name"]
    context.close()


def test_the_menu_is_opened_walked_and_left_by_keys(shown):
    inspector, keyboard = shown.live(), shown.page.keyboard
    menu = inspector.get_by_role("button", name="Menu")
    menu.focus()
    keyboard.press("Enter")
    items = inspector.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(inspector.get_by_role("menu")).to_be_hidden()
    keyboard.press("Enter")
    keyboard.press("End")
    keyboard.press("Enter")
    expect(inspector.locator(".km-keys")).to_be_visible()


def test_reset_shows_what_was_shown_at_first(shown):
    inspector = shown.live()
    inspector.get_by_role("button", name="@attention").click()
    inspector.get_by_role("button", name="Unit norm").click()
    inspector.get_by_role("button", name="Menu").click()
    inspector.get_by_role("menuitem", name="Reset the view").click()
    expect(inspector.locator(".n.sel")).to_have_count(0)
    expect(inspector.get_by_role("button", name="Unit norm")).to_have_attribute(
        "aria-pressed", "true"
    )
