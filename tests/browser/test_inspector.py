"""The inspector in JupyterLab: seen, clicked and typed into."""

import json
import re

from playwright.sync_api import expect

from tests.browser.programs import DEFINE, FAN, HOSTILE, TWO_UNITS


def test_functions_are_drawn_and_a_click_shows_the_text(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    inspector = opened.live()
    expect(inspector.locator(".n")).to_have_count(6)
    expect(inspector.locator(".km-status")).to_contain_text("5 functions · 2 units")
    inspector.get_by_role("button", name="@attention").click()
    panel = inspector.get_by_role("region", name="Text of the function")
    expect(panel).to_contain_text("stablehlo.dot_general %arg0, %arg1")
    inspector.get_by_role("button", name="Unit", exact=True).click()
    expect(panel).to_contain_text("stablehlo.dot_general %x, %w")
    expect(inspector.locator(".km-facts").last).to_contain_text("(8x64xf32, 64x64xf32) → 8x64xf32")
    inspector.get_by_role("button", name="@layer_norm", exact=True).last.click()
    expect(inspector.locator(".n.sel")).to_contain_text("@layer_norm")


def test_everything_is_done_by_keys_and_the_notebook_does_not_take_them(notebook):
    opened = notebook(TWO_UNITS, "1")
    opened.run()
    inspector, keyboard = opened.live(), opened.page.keyboard
    inspector.get_by_role("tab", name="Functions").focus()
    for _ in range(20):
        keyboard.press("Tab")
        if opened.page.evaluate("document.activeElement.matches('.km .n')"):
            break
    focused = inspector.locator(".n:focus")
    expect(focused).to_contain_text("@main")
    keyboard.press("ArrowRight")
    expect(focused).to_contain_text(re.compile("@attention|@gelu"))
    keyboard.press("Enter")
    expect(inspector.locator(".n.sel")).to_have_attribute("aria-pressed", "true")
    expect(inspector.get_by_role("region", name="Text of the function")).to_be_visible()
    # In a notebook's command mode these cut, copy, insert and delete cells.
    for key in ("x", "b", "a", "d", "d", "z"):
        keyboard.press(key)
    expect(opened.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(3)
    keyboard.press("Escape")
    expect(inspector.get_by_role("region", name="Text of the function")).to_be_hidden()
    keyboard.press("Alt+ArrowLeft")
    expect(inspector.locator(".n.sel")).to_have_count(1)
    keyboard.press("/")
    expect(inspector.get_by_role("combobox", name="Find a function")).to_be_focused()
    inspector.get_by_role("tab", name="Functions").focus()
    keyboard.press("ArrowRight")
    expect(inspector.get_by_role("tab", name="Ops")).to_be_focused()
    expect(inspector.locator(".n.op").first).to_be_visible()
    keyboard.press("ArrowRight")
    expect(inspector.get_by_role("tab", name="Text")).to_be_focused()
    expect(inspector.get_by_role("listbox", name="Text: Merged")).to_be_visible()


def test_a_name_is_found_and_hits_are_walked(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    inspector = opened.live()
    box = inspector.get_by_role("combobox", name="Find a function")
    box.fill("main")
    expect(inspector.get_by_role("option")).to_have_count(2)
    expect(inspector.locator(".n.hit")).to_have_count(2)
    box.press("ArrowDown")
    box.press("ArrowDown")
    expect(inspector.locator(".km-search .count")).to_have_text("2 of 2")
    expect(inspector.locator(".n.sel")).to_contain_text("→ @main_")
    box.fill("nothing like it")
    expect(inspector.locator(".km-hits")).to_contain_text("Nothing is found.")


def test_the_rename_map_sorts_filters_and_leads_to_the_line(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    inspector = opened.live()
    inspector.get_by_role("tab", name="Symbols").click()
    rows = inspector.locator("tbody tr")
    expect(rows).to_have_count(7)
    expect(rows.first).to_contain_text("@main was taken by block")
    inspector.get_by_role("button", name="Uses").click()
    inspector.get_by_role("button", name="Uses").click()
    expect(inspector.locator("th[aria-sort=descending]")).to_contain_text("Uses")
    expect(rows.first).to_contain_text("@gelu")
    inspector.get_by_role("button", name="reused 1").click()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("equal to block's @gelu; 3 ops not added")
    inspector.get_by_role("button", name="to → from").click()
    expect(inspector.locator("th").nth(1)).to_contain_text("To")
    inspector.get_by_role("button", name="Line 5 of its unit").click()
    text = inspector.get_by_role("listbox", name="Text: norm")
    expect(text.locator("[aria-selected=true]")).to_contain_text("func.func private @gelu")


def test_text_and_graph_share_the_selection_both_ways(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    inspector = opened.live()
    inspector.get_by_role("button", name="@layer_norm").first.click()
    inspector.get_by_role("tab", name="Text").click()
    text = inspector.get_by_role("listbox", name="Text: Merged")
    expect(text.locator(".range").first).to_contain_text("func.func private @layer_norm")
    text.get_by_text("stablehlo.tanh").click()
    expect(text.locator(".range").first).to_contain_text("func.func private @gelu")
    inspector.get_by_role("tab", name="Functions").click()
    expect(inspector.locator(".n.sel")).to_contain_text("@gelu")


def test_a_large_module_folds_and_opens(notebook):
    opened = notebook(FAN.replace("COUNT", "900"), "km.inspect(session)")
    opened.run(0)
    opened.run(1)
    inspector = opened.live()
    group = inspector.locator(".n.group")
    before = int(re.search(r"(\d+) more", group.text_content() or "")[1])
    group.focus()
    opened.page.keyboard.press("f")
    expect(group).to_contain_text(f"{before - 40} more functions")
    expect(inspector.locator(".n:focus.group")).to_have_count(1)
    inspector.get_by_role("combobox", name="Find a function").fill("layer_899")
    expect(inspector.get_by_role("option")).to_contain_text("folded")
    opened.page.keyboard.press("Enter")
    expect(inspector.get_by_role("region", name="Text of the function")).to_contain_text(
        "@layer_899"
    )
    inspector.get_by_role("button", name="Fold again").click()
    expect(group).to_contain_text(f"{before} more functions")


def test_the_text_of_a_long_module_has_only_the_lines_in_sight(notebook):
    opened = notebook(FAN.replace("COUNT", "3000"), "km.inspect(session)")
    opened.run(0)
    opened.run(1)
    inspector = opened.live()
    inspector.get_by_role("tab", name="Text").click()
    text = inspector.get_by_role("listbox", name="Text: Merged")
    expect(text.locator(".l").first).to_contain_text("module")
    text.focus()
    opened.page.keyboard.press("End")
    expect(inspector.locator(".km-status")).to_contain_text(re.compile(r"to 15,005 of 15,005"))
    expect(text.locator("[aria-selected=true]")).to_have_text("15005}")
    assert text.locator(".l").count() < 80


def test_a_narrow_widget_is_an_outline(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    opened.page.set_viewport_size({"width": 480, "height": 900})
    tree = opened.live().get_by_role("tree")
    expect(tree.get_by_role("treeitem")).to_have_count(7)
    expect(tree.get_by_role("treeitem", name="@gelu, shown above")).to_have_count(1)
    tree.get_by_role("treeitem").first.focus()
    opened.page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem")).to_have_count(3)
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowDown")
    expect(tree.locator(":focus")).to_contain_text("@attention")
    opened.live().get_by_role("button", name="Graph", exact=True).click()
    expect(opened.live().locator(".km-canvas:visible")).to_have_count(1)


def test_two_views_of_one_widget_have_a_selection_each(notebook):
    opened = notebook(TWO_UNITS.replace("km.inspect", "w = km.inspect"), "w", "w")
    for cell in range(3):
        opened.run(cell)
    first, second = opened.live(0), opened.live(1)
    first.get_by_role("button", name="@attention").click()
    expect(first.locator(".n.sel")).to_have_count(1)
    expect(first.get_by_role("region", name="Text of the function")).to_contain_text("dot_general")
    expect(second.locator(".n.sel")).to_have_count(0)


def test_a_module_that_changed_is_said_to_have_and_drawn_again(notebook):
    opened = notebook(TWO_UNITS, 'km.session.drop("norm")')
    opened.run(0)
    opened.run(1)
    inspector = opened.live()
    inspector.get_by_role("button", name="@attention").click()
    expect(inspector.locator(".km-note")).to_contain_text("The module has changed since")
    inspector.get_by_role("button", name="Draw it again").click()
    expect(inspector.locator(".km-note")).to_have_count(0)
    expect(inspector.locator(".n")).to_have_count(5)


def test_hostile_names_run_nothing(notebook):
    opened = notebook(HOSTILE)
    opened.run()
    inspector = opened.live()
    node = inspector.locator(".n").nth(1)
    expect(node).to_have_attribute("aria-label", re.compile("onerror"))
    node.click()
    for tab in ("Text", "Symbols", "Functions"):
        inspector.get_by_role("tab", name=tab).click()
    node.hover()
    inspector.locator(".km-card:visible").wait_for()
    assert inspector.locator("img, script").count() == 0
    assert opened.page.evaluate("window.hacked") is None


def test_an_empty_session_says_what_to_do(notebook):
    opened = notebook("import kernel_magics as km\nkm.inspect(km.Session())")
    opened.run()
    expect(opened.live()).to_contain_text("%%hlo")


def test_the_dark_theme_is_followed(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    box = opened.live().locator(".n .box").first
    light = box.evaluate("element => getComputedStyle(element).fill")
    with opened.theme("Dark"):
        assert box.evaluate("element => getComputedStyle(element).fill") != light


def test_a_kernel_that_dies_is_said_to_be_gone_and_the_view_stays(own_notebook):
    opened = own_notebook(TWO_UNITS)
    opened.run()
    inspector = opened.live()
    inspector.get_by_role("button", name="@attention").click()
    expect(inspector.get_by_role("region", name="Text of the function")).to_contain_text("dot_")
    opened.shut_down()
    expect(inspector.locator(".km-note")).to_contain_text("The kernel is gone")
    expect(inspector.locator(".n")).to_have_count(6)
    inspector.get_by_role("button", name="@gelu").first.click()
    expect(inspector.locator(".n.sel")).to_contain_text("@gelu")


def test_a_reopened_notebook_shows_its_view_without_a_kernel(own_notebook):
    opened = own_notebook(DEFINE, "km.inspect(km.session)")
    opened.run(0)
    opened.run(1)
    opened.live()
    opened.command("docmanager:save")
    opened.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    saved = json.loads(opened.path.read_text())["cells"][1]["outputs"][0]["data"]
    assert "application/vnd.kernel-magics.view+json" in saved
    opened.shut_down()
    opened.open()
    inspector = opened.inspector()
    expect(inspector.locator(".km-note")).to_contain_text("Saved view of")
    expect(opened.page.locator(".km[data-connection=live]")).to_have_count(0)
    inspector.get_by_role("button", name="@attention").click()
    panel = inspector.get_by_role("region", name="Text of the function")
    expect(panel).to_contain_text("stablehlo.dot_general")
    inspector.get_by_role("tab", name="Symbols").click()
    expect(inspector.locator("tbody tr")).to_have_count(7)
    opened.run(0)
    opened.run(1)
    expect(opened.live().locator(".n")).to_have_count(6)
    expect(opened.page.locator(".km:visible")).to_have_count(1)


def test_a_page_that_is_loaded_again_is_live_again(own_notebook):
    opened = own_notebook(
        TWO_UNITS.replace("km.inspect", "w = km.inspect"), "w", 'w.note = "1 + 1"'
    )
    opened.run(0)
    opened.run(1)
    opened.live()
    opened.command("docmanager:save")
    opened.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    opened.open()
    inspector = opened.live()
    inspector.get_by_role("button", name="@attention").click()
    expect(inspector.get_by_role("region", name="Text of the function")).to_contain_text("dot_")
    opened.run(2)
    expect(inspector.locator(".km-status")).to_contain_text("1 + 1")
    opened.command("kernelmenu:restart", waits=False)
    opened.page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(inspector.locator(".km-note")).to_contain_text("The kernel is gone")
