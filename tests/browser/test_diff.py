"""The Diff view: what linking changed, and what a unit said before."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.programs import TWO_UNITS
from tests.browser.test_accessibility import AXE

REPLACED = """
import kernel_magics as km
session = km.Session()
body = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\\n{lines}  return %x : tensor<4xf32>\\n}}\\n"
def text(*changed):
    ops = (f"  %{n} = stablehlo.{'cosine' if n in changed else 'sine'} %x : tensor<4xf32>\\n" for n in range(COUNT))
    return body.format(lines="".join(ops))
session.define(text(), name="unit")
session.define(text(2), name="unit")
session.define(text(2, COUNT - 2), name="unit")
km.inspect(session)
"""
_FAULTS = """async () => {
  const found = await axe.run(document.querySelector(".km[data-connection=live]"));
  return found.violations
    .filter(({impact}) => impact === "serious" || impact === "critical")
    .map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""


def diff_of(opened):
    inspector = opened.live()
    inspector.get_by_role("tab", name="Diff").click()
    expect(inspector.locator(".km-diff .l").first).to_be_visible()
    return inspector


def test_a_unit_against_the_module_shows_the_names_that_linking_gave(notebook):
    opened = notebook(TWO_UNITS)
    opened.run()
    inspector = diff_of(opened)
    inspector.get_by_label("Unit", exact=True).select_option(label="B norm")
    removed = inspector.locator(".km-diff .removed").first
    added = inspector.locator(".km-diff .added").first
    expect(removed).to_contain_text("func.func @main(")
    expect(added).to_contain_text(re.compile("func.func private @main_[0-9a-f]+"))
    expect(added.locator("mark").first).to_have_text("private")
    expect(inspector.locator(".km-status")).to_contain_text("1 change · 9 and 9 lines")


@pytest.mark.parametrize("width", [1000, 1700])
def test_versions_of_a_unit_are_walked_by_keys(notebook, width):
    opened = notebook(REPLACED.replace("COUNT", "3000"))
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.run()
    inspector = diff_of(opened)
    rows = inspector.locator(".km-diff .l")
    split = inspector.locator(".km-diff.split")
    expect(split).to_have_count(1 if width > 1280 else 0)
    inspector.get_by_label("Left text").select_option(label="version 1 of 3")
    inspector.get_by_label("Right text").select_option(label="as written")
    expect(inspector.locator(".km-status")).to_contain_text("2 changes · 3,003 and 3,003 lines")
    assert rows.count() < 100
    inspector.get_by_role("region", name=re.compile("Differences")).focus()
    opened.page.keyboard.press("n")
    expect(inspector.get_by_text("1 of 2", exact=True)).to_be_visible()
    expect(inspector.locator(".km-diff .cur").first).to_contain_text("stablehlo.sine")
    opened.page.keyboard.press("n")
    expect(inspector.locator(".km-diff .cur").first).to_contain_text("%2998")
    expect(inspector.locator(".km-diff .cur mark").first).to_have_text("sine")
    opened.page.keyboard.press("n")
    expect(inspector.get_by_text("1 of 2", exact=True)).to_be_visible()
    opened.page.keyboard.press("p")
    expect(inspector.get_by_text("2 of 2", exact=True)).to_be_visible()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1700, 480])
def test_axe_finds_no_serious_fault_in_a_comparison(notebook, theme, width):
    opened = notebook(REPLACED.replace("COUNT", "12"))
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.run()
    inspector = diff_of(opened)
    inspector.get_by_label("Left text").select_option(label="version 1 of 3")
    expect(inspector.locator(".km-diff mark").first).to_be_visible()
    inspector.get_by_role("button", name="Menu").click()
    opened.page.add_script_tag(path=AXE)
    with opened.theme(theme):
        assert opened.page.evaluate(_FAULTS) == []
