"""Makes the pictures of the README from the running product: `python -m notebooks.make_pictures`.

Opens `inspector.ipynb` in a JupyterLab of this environment, runs its cells in Chromium, and takes
each view in the light and in the dark theme.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, expect, sync_playwright

from tests.browser.conftest import CHROMIUM, Notebook, serving

_HERE = Path(__file__).parent
_CELLS = {"load": 0, "block": 1, "stack": 2, "scale": 4, "scale-again": 5}
_WIDTH, _HEIGHT = 1300, 1400


def functions(inspector: Locator) -> None:
    """The call graph, with a function's text beside it."""
    inspector.get_by_role("tab", name="Functions").click()
    inspector.get_by_role("button", name="@attention").first.click()
    expect(inspector.locator(".km-side .l").first).to_be_visible()


def ops(inspector: Locator) -> None:
    """A function's ops: a loop with its regions."""
    inspector.get_by_role("tab", name="Functions").click()
    inspector.get_by_role("button", name="@main_").first.dblclick()
    expect(inspector.get_by_role("button", name="while").first).to_be_visible()


def symbols(inspector: Locator) -> None:
    """What became of each name."""
    inspector.get_by_role("tab", name="Symbols").click()
    expect(inspector.locator("tbody tr").first).to_be_visible()


def diff(inspector: Locator) -> None:
    """Two versions of a unit."""
    inspector.get_by_role("tab", name="Diff").click()
    inspector.get_by_label("Unit", exact=True).select_option(label="C scale")
    inspector.get_by_label("Left text").select_option(label="version 1 of 2")
    inspector.get_by_label("Right text").select_option(label="as written")
    expect(inspector.locator(".km-diff mark").first).to_be_visible()


VIEWS = (functions, ops, symbols, diff)


def main(folder: Path) -> None:
    """Takes all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with opened() as notebook:
        for cell in _CELLS.values():
            notebook.run(cell)
        notebook.page.set_viewport_size({"width": _WIDTH, "height": _HEIGHT})
        inspector = notebook.live(3)
        for view in VIEWS:
            view(inspector)
            for theme in ("Light", "Dark"):
                with notebook.theme(theme):
                    # What is hovered is drawn in another way.
                    notebook.page.mouse.move(0, 0)
                    inspector.scroll_into_view_if_needed()
                    name = f"inspector_{view.__name__}_{theme.lower()}.png"
                    inspector.screenshot(path=folder / name, animations="disabled")


@contextmanager
def opened() -> Iterator[Notebook]:
    """The notebook in a JupyterLab of its own."""
    with (
        tempfile.TemporaryDirectory() as home,
        serving(Path(home)) as (url, served),
        sync_playwright() as playwright,
    ):
        path = served / "inspector.ipynb"
        shutil.copy(_HERE / path.name, path)
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.set_default_timeout(60_000)
        yield Notebook(page, url, path)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else _HERE / "pictures")
