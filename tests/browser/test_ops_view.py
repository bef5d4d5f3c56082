"""The ops of a function in JupyterLab: opened, folded, entered, walked, found, copied."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.programs import DEFINE, LONG, WITH_LOOP


@pytest.fixture
def opened(notebook):
    """The inspector of a module with a loop, at its ops."""
    shown = notebook(WITH_LOOP)
    shown.run()
    shown.live().get_by_role("tab", name="Ops").click()
    expect(op(shown, "while")).to_be_visible()
    return shown


def op(shown, name):
    """An op that is seen, by the beginning of what it is called."""
    name = re.compile(rf"^{re.escape(name)}(,|$)")
    return shown.live().locator(".km-main > .km-ops").get_by_role("button", name=name).first


def status(shown):
    return shown.live().locator(".km-status")


def panel(shown):
    return shown.live().get_by_role("region", name="Selected op")


def marked(shown):
    """The line that is marked in the panel's text."""
    return panel(shown).locator(".km-text .sel")


def test_a_double_click_opens_the_ops_and_a_click_says_all_of_one(notebook):
    shown = notebook(WITH_LOOP)
    shown.run()
    inspector = shown.live()
    inspector.get_by_role("button", name="@main, entry").dblclick()
    expect(op(shown, "compare, LT const 4")).to_be_visible()
    expect(inspector.get_by_role("tab", name="Ops")).to_have_attribute("aria-selected", "true")
    expect(status(shown)).to_contain_text("11 of 14 ops drawn · 3 constants folded")
    expect(inspector.locator(".types")).to_contain_text("4x64x192xf32")
    op(shown, "dynamic_slice, const 0").click()
    expect(marked(shown)).to_contain_text("stablehlo.dynamic_slice %arg1")
    expect(panel(shown)).to_contain_text("slice_sizes = array<i64: 1, 64, 192>")
    panel(shown).get_by_role("button", name="Unit", exact=True).click()
    expect(marked(shown)).to_contain_text("%w = stablehlo.dynamic_slice %ws, %i")
    expect(panel(shown)).to_contain_text("unit block, line 11, column 12")
    panel(shown).get_by_role("button", name="%r reshape").click()
    expect(marked(shown)).to_contain_text("%r = stablehlo.reshape")
    expect(inspector.locator(".n.op.sel")).to_contain_text("reshape")


def test_everything_in_the_ops_is_done_by_keys(notebook):
    shown = notebook(WITH_LOOP)
    shown.run()
    inspector, keyboard = shown.live(), shown.page.keyboard
    inspector.get_by_role("button", name="@main, entry").focus()
    keyboard.press("Space")
    loop = op(shown, "while, const 0")
    loop.focus()
    keyboard.press("f")
    expect(op(shown, "while, const 0")).to_have_attribute("aria-expanded", "false")
    expect(inspector.locator(".n:focus")).to_contain_text("while")
    keyboard.press("f")
    expect(op(shown, "while, const 0")).to_have_attribute("aria-expanded", "true")
    keyboard.press("e")
    expect(op(shown, "while, const 0")).to_have_count(0)
    expect(inspector.locator(".km-crumb")).to_contain_text(re.compile(r"@main›while \d"))
    keyboard.press("Alt+ArrowLeft")
    expect(op(shown, "while, const 0")).to_be_visible()
    keyboard.press("Alt+ArrowRight")
    expect(op(shown, "while, const 0")).to_have_count(0)
    inspector.locator(".km-crumb").get_by_role("button", name="@main").click()
    op(shown, "call, attention").focus()
    keyboard.press("ArrowDown")
    expect(inspector.locator(".n:focus")).to_contain_text("add")
    keyboard.press("Enter")
    expect(marked(shown)).to_contain_text("stablehlo.add")
    keyboard.press("Escape")
    expect(panel(shown)).to_be_hidden()
    op(shown, "call, attention").focus()
    keyboard.press("Space")
    expect(op(shown, "dot_general")).to_be_visible()
    expect(inspector.locator(".km-crumb")).to_contain_text("@attention")
    keyboard.press("Alt+ArrowLeft")
    expect(op(shown, "call, attention")).to_be_visible()


def test_ops_and_text_share_the_selection_both_ways(opened):
    op(opened, "compare").click()
    expect(marked(opened)).to_contain_text("stablehlo.compare")
    opened.page.keyboard.press("t")
    text = opened.live().get_by_role("listbox", name="Text: Merged")
    expect(text.locator("[aria-selected=true]")).to_contain_text("stablehlo.compare")
    text.get_by_text("stablehlo.dot_general").click()
    expect(text.locator("[aria-selected=true]")).to_contain_text("stablehlo.dot_general")
    opened.live().get_by_role("tab", name="Ops").click()
    expect(opened.live().locator(".km-ops .n.sel")).to_contain_text("dot_general")


def test_trivial_ops_fold_and_a_focus_shows_the_neighbours(opened):
    opened.live().get_by_role("button", name="Fold trivial").click()
    expect(op(opened, "reshape")).to_have_count(0)
    expect(status(opened)).to_contain_text("1 trivial op folded")
    expect(opened.live().get_by_role("button", name="Focus", exact=True)).to_be_disabled()
    op(opened, "call, attention").click()
    opened.live().get_by_role("button", name="Focus", exact=True).click()
    expect(status(opened)).to_contain_text("more out of focus")
    opened.live().get_by_role("button", name="1 hop").click()
    expect(op(opened, "return")).to_have_count(0)
    opened.live().get_by_role("button", name="Focus", exact=True).click()
    expect(op(opened, "tanh")).to_be_visible()


def test_a_query_finds_ops_everywhere_and_its_hits_are_walked(opened):
    inspector = opened.live()
    box = inspector.get_by_role("combobox", name="Find a function or an op")
    box.click()
    expect(inspector.locator(".km-query-note")).to_contain_text("element type or type: type:bf16")
    box.fill("op:add type:i32")
    expect(inspector.locator(".n.hit")).to_have_count(1)
    box.fill("op:dot_general shape:8x*")
    expect(inspector.locator(".km-query-note")).to_contain_text("Nothing is found")
    inspector.get_by_role("button", name="All functions").click()
    expect(inspector.get_by_role("option")).to_contain_text("@attention, line")
    box.press("Enter")
    expect(inspector.locator(".km-ops .n.sel")).to_contain_text("dot_general")
    expect(inspector.locator(".km-crumb")).to_contain_text("@attention")
    box.fill("op:dot_generl")
    inspector.get_by_role("button", name="op:dot_general").click()
    expect(inspector.locator(".km-search .count")).to_have_text("1")
    box.fill("ops:add")
    expect(inspector.locator(".wrong")).to_have_text(
        "A query knows no `ops:`; did you mean `op:`?\n  ops:add\n  ^^^^"
    )
    inspector.get_by_role("tab", name="Functions").click()
    box.fill("calls:attention")
    expect(inspector.locator(".n.hit")).to_contain_text("@main")


def test_a_long_function_folds_and_hits_are_marked_on_its_groups(notebook):
    shown = notebook(LONG.replace("COUNT", "2000"))
    shown.run()
    inspector, keyboard = shown.live(), shown.page.keyboard
    inspector.get_by_role("tab", name="Ops").click()
    groups = inspector.locator(".n.group")
    expect(groups).to_have_count(5)
    expect(status(shown)).to_contain_text("2,000 ops folded into 5 groups by order")
    box = inspector.get_by_role("combobox", name="Find a function or an op")
    box.fill("op:tanh")
    expect(inspector.locator(".hits text")).to_have_text(["100"] * 5)
    box.press("ArrowDown")
    expect(groups).to_have_count(4)
    expect(inspector.locator(".n.op.sel")).to_contain_text("tanh")
    box.press("Escape")
    groups.first.focus()
    keyboard.press("f")
    expect(status(shown)).to_contain_text("1 group folded again: 800 ops are drawn at most")
    expect(groups).to_have_count(4)
    inspector.get_by_role("button", name="Fold again").click()
    expect(groups).to_have_count(5)


def test_a_function_opens_beside_another(opened):
    op(opened, "call, attention").focus()
    opened.page.keyboard.press("Shift+Enter")
    beside = opened.live().get_by_role("region", name="Beside")
    expect(beside.get_by_role("button", name="dot_general")).to_be_visible()
    expect(op(opened, "call, attention")).to_be_visible()
    beside.get_by_role("button", name="Open here").click()
    expect(beside).to_be_hidden()
    expect(op(opened, "dot_general")).to_be_visible()


def test_a_narrow_widget_shows_the_ops_as_an_outline(opened):
    opened.page.set_viewport_size({"width": 480, "height": 900})
    tree = opened.live().get_by_role("tree", name="Ops of @main")
    rows = tree.get_by_role("treeitem")
    expect(tree.get_by_role("treeitem", name="compare, LT const 4")).to_be_visible()
    before = rows.count()
    tree.get_by_role("treeitem", name="while").focus()
    opened.page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem", name="while")).to_have_attribute("aria-expanded", "false")
    assert rows.count() < before
    opened.page.keyboard.press("ArrowRight")
    expect(rows).to_have_count(before)
    tree.get_by_role("treeitem", name="tanh").click()
    expect(marked(opened)).to_contain_text("stablehlo.tanh")


def test_name_op_and_path_are_copied(opened):
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    op(opened, "tanh").click()
    for words, copied in (
        ("name", re.compile("^stablehlo.tanh$")),
        ("op", re.compile(r"^%\d+ = stablehlo.tanh %\d+#0 : tensor<8x64xf32>$")),
        ("path", re.compile(r"^@main/\d+$")),
    ):
        panel(opened).get_by_role("button", name=f"Copy {words}").click()
        expect(opened.live().locator(".km-live")).to_have_text(f"{words} copied")
        assert copied.match(opened.page.evaluate("navigator.clipboard.readText()"))


def test_a_card_names_an_op_whole(opened):
    op(opened, "dynamic_slice").hover()
    card = opened.live().locator(".km-card:visible")
    expect(card).to_contain_text("stablehlo.dynamic_slice")
    expect(card).to_contain_text("→ 1x64x192xf32")
    expect(card).to_contain_text("line 11")


def test_ops_stay_without_a_kernel_and_say_what_needs_it(own_notebook):
    shown = own_notebook(WITH_LOOP)
    shown.run()
    shown.live().get_by_role("tab", name="Ops").click()
    op(shown, "while").wait_for()
    shown.shut_down()
    inspector = shown.live()
    expect(inspector.locator(".km-note")).to_contain_text("The kernel is gone")
    expect(op(shown, "compare")).to_be_visible()
    op(shown, "while").focus()
    shown.page.keyboard.press("f")
    expect(inspector.locator(".km-live")).to_contain_text("that did not work: the kernel is gone")
    expect(op(shown, "compare")).to_be_visible()


def test_a_saved_view_says_that_ops_need_the_kernel(own_notebook):
    shown = own_notebook(DEFINE, "km.inspect(km.session)")
    shown.run(0)
    shown.run(1)
    shown.live()
    shown.command("docmanager:save")
    shown.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    shown.shut_down()
    shown.open()
    inspector = shown.inspector()
    inspector.get_by_role("tab", name="Ops").click()
    expect(inspector.locator(".km-main > .km-ops")).to_contain_text(
        "this was not saved with the notebook: run the cell again"
    )
    inspector.get_by_role("button", name="Show the text").click()
    expect(inspector.get_by_role("listbox", name="Text: Merged")).to_be_visible()
