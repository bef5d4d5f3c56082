"""What axe-core finds, in each view, in both themes, wide and narrow."""

from pathlib import Path

import pytest

from tests.browser.programs import FAN, TWO_UNITS

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
        found = [fault for tab in ("Functions", "Text", "Symbols") for fault in faults(opened, tab)]
        inspector.get_by_role("tab", name="Functions").click()
        inspector.get_by_label("Keys and signs").click()
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


def faults(opened, tab: str) -> list[str]:
    opened.live().get_by_role("tab", name=tab).click()
    opened.page.wait_for_timeout(200)
    return opened.page.evaluate(_RUN)
