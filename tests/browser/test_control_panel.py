"""The control panel and the status bar in a real JupyterLab: by mouse, by keys, by a cell."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_accessibility import AXE

PANEL = """import kernel_magics as km
import jax.numpy as jnp
%load_ext kernel_magics
km.session.reset(); km.custom_calls.reset(); km.plugins.reset()
jnp.ones(2) + 1
km.plugins.load("cpu2", devices=2)
km.session.define('''func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @panel_double(%x) {api_version = 4 : i32, backend_config = {}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}''', name="calls")
km.session.define('''func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}''', name="double")
km.control_panel()"""
_RUN = """async () => {
  const found = await axe.run(document.querySelector(".km-control"));
  return found.violations
    .filter(({impact}) => impact === "serious" || impact === "critical")
    .map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""


@pytest.fixture
def opened(notebook):
    """A notebook with a panel, and cells below it that change what it shows."""
    opened = notebook(PANEL, 'km.plugins.use("cpu")', "print(km.plugins.active)")
    opened.run(0)
    opened.page.locator(".km-control").wait_for()
    yield opened
    opened.fill("km.plugins.reset(); km.custom_calls.reset(); km.session.reset()")
    opened.run(0)


def control(opened):
    return opened.page.locator(".km-control")


def row(opened, name):
    return control(opened).locator("tbody tr", has=opened.page.locator(f"b:text-is('{name}')"))


def go(opened, tab):
    control(opened).get_by_role("tab", name=tab).click()


def test_a_button_switches_the_plugin_and_a_cell_shows_in_the_panel(opened):
    expect(row(opened, "cpu")).to_contain_text("in use")
    control(opened).get_by_role("button", name="Use cpu2").click()
    expect(row(opened, "cpu2")).to_contain_text("in use")
    opened.run(2)
    assert "cpu2" in opened.page.locator(".jp-OutputArea-output pre").last.inner_text()
    opened.run(1)
    expect(row(opened, "cpu")).to_contain_text("in use")
    expect(control(opened).locator(".km-status")).to_contain_text("new work runs on cpu")


def test_the_status_bar_shows_the_plugin_and_switches_it(opened):
    item = opened.page.get_by_label("Plugin that new work runs on")
    expect(item).to_have_value("cpu")
    item.select_option("cpu2")
    expect(row(opened, "cpu2")).to_contain_text("in use")
    opened.run(1)
    expect(item).to_have_value("cpu")


def test_coverage_names_what_is_missing_and_a_wrong_library_is_refused(opened):
    go(opened, "Custom calls")
    note = control(opened).locator(".km-note")
    expect(note).to_contain_text("panel_double has no handler on cpu")
    form = control(opened).get_by_role("form", name="Register a handler")
    form.get_by_label("Target").fill("panel_double")
    form.get_by_label("Library").fill("/nowhere/lib.so")
    form.get_by_role("button", name="Register").click()
    expect(form.get_by_role("alert")).to_contain_text("/nowhere/lib.so")
    assert form.get_by_label("Target").input_value() == "panel_double"


def test_a_function_is_compared_by_a_button(opened):
    go(opened, "Compare")
    control(opened).get_by_label("Function").select_option("double")
    control(opened).get_by_role("button", name="Compare").click()
    expect(control(opened).locator("tbody tr")).to_have_count(2)
    expect(row(opened, "cpu2")).to_contain_text("equal")


def test_keys_reach_everything(opened):
    page = opened.page
    page.locator(".km-control [role=tab][aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    expect(control(opened).get_by_role("tab", name="Custom calls")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    control(opened).get_by_role("button", name="Load from path…").focus()
    page.keyboard.press("Enter")
    name = control(opened).get_by_label("Name")
    expect(name).to_be_focused()
    # `x` cuts a cell of the notebook where it is not typed into a field.
    page.keyboard.type("x")
    assert name.input_value() == "x"
    page.keyboard.press("Escape")
    expect(control(opened).get_by_role("button", name="Load from path…")).to_be_focused()
    page.keyboard.press("Escape")
    expect(control(opened).get_by_role("tab", name="Plugins")).to_be_focused()
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == 3


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1280, 480])
@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
def test_axe_finds_no_serious_fault_in_the_panel(opened, theme, width):
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.add_script_tag(path=AXE)
    with opened.theme(theme):
        found = []
        for tab in ("Compare", "Custom calls", "Plugins"):
            go(opened, tab)
            found += opened.page.evaluate(_RUN)
    assert found == []
