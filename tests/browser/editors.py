"""Notebooks as editors, in JupyterLab and in Notebook 7 alike."""

import pytest
from playwright.sync_api import Locator, Page, expect

PATIENCE_MS = 90_000
_WRITE = """(content, text) => {
  const part = content.cmTile ?? content.cmView;
  const view = part.view ?? part.rootView.view;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}"""
_CONNECTED = """async name => {
  const sessions = await (await fetch("/api/sessions")).json();
  const kernel = sessions.find(({ path }) => path === name)?.kernel;
  return kernel?.connections > 0 && kernel.execution_state === "idle";
}"""


class Editor:
    """A notebook that is open in JupyterLab or in Notebook 7, with the extension loaded."""

    def __init__(self, page: Page, url: str, cells: int) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))
        # Else JupyterLab opens what other pages have open as well.
        page.goto(f"{url}?reset")
        expect(self.cell(cells - 1)).to_be_visible(timeout=PATIENCE_MS)

    def cell(self, number: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)

    def text(self, number: int) -> Locator:
        return self.cell(number).locator(".cm-content")

    def write(self, number: int, text: str) -> None:
        """Replaces a cell's text, and puts the cursor to its end."""
        self.text(number).click()
        self.text(number).evaluate(_WRITE, text)
        self.page.keyboard.press("Control+End")

    def piece(self, number: int, text: str) -> Locator:
        """A piece of a cell that is coloured as a whole."""
        return self.text(number).locator("span").get_by_text(text, exact=True)

    def run(self, number: int) -> None:
        """Runs a cell, and waits until it is done."""
        self.text(number).click()
        self.page.keyboard.press("Control+Enter")
        prompt = self.cell(number).locator(".jp-InputPrompt")
        expect(prompt).not_to_contain_text("*", timeout=PATIENCE_MS)

    def load(self, name: str) -> None:
        """Loads the extension, as soon as there is a kernel to run cells."""
        # Before that a front end drops what it is told to run, or asks for a kernel.
        self.page.wait_for_function(_CONNECTED, arg=name, timeout=PATIENCE_MS, polling=500)
        prompt = self.cell(0).locator(".jp-InputPrompt")
        for _ in range(10):
            self.run(0)
            try:
                expect(prompt).to_contain_text("[1]", timeout=3000)
            except AssertionError:
                continue
            return
        pytest.fail("the notebook's first cell did not run")

    def mark(self, number: int, text: str) -> Locator:
        return self.cell(number).locator(".km-problem").get_by_text(text, exact=True)

    def point_at(self, piece: Locator) -> None:
        """Moves the pointer to a piece, from elsewhere, as a hand does."""
        box = piece.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x + 3, y + 120)
        self.page.mouse.move(x, y, steps=3)
