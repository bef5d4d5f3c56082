"""What axe-core finds, in each view, in both themes, wide and narrow."""

from pathlib import Path

import pytest

from tests.browser.programs import FAN, LONG, TWO_UNITS, WITH_LOOP

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
_RUN = """async () => {
  const found = await axe.run(document.querySelector(".km[data-connection=live]"));
  return found.violations
    .filter(({impact}) => impact === "serious" || impact === "critical")
    .map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""

pytestmark = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1280, 480])
def test_axe_finds_no_serious_fault(notebook, theme, width):
    opened = notebook(TWO_UNITS)
    opened.run()
    inspector = opened.live()
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.add_script_tag(path=AXE)
    with opened.theme(theme):
        found = [
            fault
            for tab in ("Functions", "Text", "Symbols", "Diff")
            for fault in faults(opened, tab)
        ]
        inspector.get_by_role("tab", name="Functions").click()
        inspector.get_by_role("button", name="Menu").click()
        found += opened.page.evaluate(_RUN)
        inspector.get_by_role("menuitem", name="Keys and signs").click()
        first = "treeitem" if width == 480 else "button"
        inspector.get_by_role(first, name="@attention").first.click()
        inspector.locator(".km-facts code").first.wait_for()
        found += opened.page.evaluate(_RUN)
    assert found == []


def test_axe_finds_no_serious_fault_in_a_folded_graph_with_hits(notebook):
    opened = notebook(FAN.replace("COUNT", "300"), "km.inspect(session)")
    opened.run(0)
    opened.run(1)
    inspector = opened.live()
    inspector.get_by_role("combobox", name="Find a function").fill("layer_29")
    inspector.get_by_role("option").first.wait_for()
    opened.page.add_script_tag(path=AXE)
    assert opened.page.evaluate(_RUN) == []


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1280, 480])
def test_axe_finds_no_serious_fault_in_the_ops(notebook, theme, width):
    opened = notebook(WITH_LOOP)
    opened.run()
    inspector = opened.live()
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.add_script_tag(path=AXE)
    role = "treeitem" if width == 480 else "button"
    with opened.theme(theme):
        inspector.get_by_role("tab", name="Ops").click()
        inspector.get_by_role(role, name="dynamic_slice").click()
        inspector.get_by_role("region", name="Text around the op").wait_for()
        inspector.get_by_role("combobox", name="Find a function").fill("op:add")
        inspector.get_by_role("option").first.wait_for()
        found = opened.page.evaluate(_RUN)
        inspector.get_by_role("combobox", name="Find a function").fill("op:ad")
        inspector.get_by_role("button", name="op:add").wait_for()
        found += opened.page.evaluate(_RUN)
    assert found == []


def test_axe_finds_no_serious_fault_beside_and_in_folded_ops(notebook):
    opened = notebook(LONG.replace("COUNT", "1200"))
    opened.run()
    inspector = opened.live()
    inspector.get_by_role("button", name="@main").focus()
    opened.page.keyboard.press("Shift+Enter")
    inspector.locator(".km-beside .n.group").first.wait_for()
    opened.page.add_script_tag(path=AXE)
    assert opened.page.evaluate(_RUN) == []


def faults(opened, tab: str) -> list[str]:
    opened.live().get_by_role("tab", name=tab).click()
    opened.page.wait_for_timeout(200)
    return opened.page.evaluate(_RUN)
