"""The editor mode: colours, marks, completion and explanations in cells and files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import _content, _end_kernels
from tests.browser.editors import PATIENCE_MS, Editor
from tests.browser.test_accessibility import AXE

PROGRAM = """%%hlo scale --show nothing --no-compile
// Don't colour the rest as a string: "
module @scaled {
  func.func public @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = stablehlo.constant dense<2.0> : tensor<4x8xf32>
    %0 = stablehlo.multiply %x, %c {note = "text"} : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}"""
PYTHON = "# it's\nx = stablehlo.add"
CPP = "%%custom_call target\n// it's\nint f(float x) { return 0; }"
HLO = "%%hlo\nHloModule m\n/* it's */\nENTRY main {\n  ROOT p = f32[3]{0} parameter(0)\n}"
BAD = """%%hlo bad
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @g(%x: tensor<4xf32>) -> tensor<5xf32> {
  return %x : tensor<4xf32>
}
func.func @h(%x: tensor<4xf32>) -> tensor<6xf32> {
  return %x : tensor<4xf32>
}"""
KEPT = "%%hlo kept\nfunc.func @f() {\n  stablehlo.nothing\n}"
KEPT_ERROR = """ParseError: MLIR refused the cell: custom op 'stablehlo.nothing' is unknown
  cell:3:3
    stablehlo.nothing
    ^^^^^^^^^^^^^^^^^"""

_CELLS = ["%load_ext kernel_magics", PROGRAM, PYTHON, CPP, HLO, KEPT]
# Colours as a canvas paints them: a browser gives mixed ones in other words.
_COLOURS = """content => {
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = colours => {
    brush.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
    }
    return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = colours => {
    const [r, g, b] = painted(colours).map(part => {
      const c = part / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = [];
  for (let node = content; node; node = node.parentElement) {
    grounds.unshift(getComputedStyle(node).backgroundColor);
  }
  return [...content.querySelectorAll(".cm-line span")].map(span => {
    const ground = light(grounds);
    const text = light([...grounds, getComputedStyle(span).color]);
    const [less, more] = [ground, text].sort((a, b) => a - b);
    return { text: span.textContent, contrast: (more + 0.05) / (less + 0.05) };
  });
}"""
_AXE = """async () => {
  const found = await axe.run({ include: [[".km-problem-gutter"], [".km-tip"], [".km-problem"]] });
  return found.violations
    .filter(({impact}) => impact === "serious" || impact === "critical")
    .map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""
_OURS = "labextensions/kernel-magics"


def _notebook() -> dict[str, Any]:
    content = _content(_CELLS)
    error = {"output_type": "error", "ename": "ParseError", "evalue": "", "traceback": [KEPT_ERROR]}
    content["cells"][-1]["outputs"] = [error]
    return content


@pytest.fixture(scope="module", params=["lab/tree", "notebooks"], ids=["lab", "notebook7"])
def editor(
    browser: Browser, jupyterlab: tuple[str, Path], request: pytest.FixtureRequest
) -> Iterator[Editor]:
    url, folder = jupyterlab
    path = folder / f"editor-{request.param.replace('/', '-')}.ipynb"
    path.write_text(json.dumps(_notebook()))
    context = browser.new_context(viewport={"width": 1100, "height": 1400})
    context.set_default_timeout(PATIENCE_MS)
    opened = Editor(context.new_page(), f"{url}/{request.param}/{path.name}", len(_CELLS))
    opened.load(path.name)
    yield opened
    _end_kernels(context, url, {path.name})
    context.close()
    # Notebook 7 has errors of its own while it starts.
    assert [error for error in opened.errors if _OURS in error] == []


def test_cells_are_coloured_when_a_notebook_is_opened(editor):
    expect(editor.piece(1, "stablehlo.multiply")).to_be_visible()
    expect(editor.piece(1, "// Don't colour the rest as a string: \"")).to_be_visible()
    expect(editor.piece(1, "%%hlo")).to_be_visible()
    expect(editor.piece(4, "/* it's */")).to_be_visible()
    expect(editor.piece(4, "parameter")).to_be_visible()
    expect(editor.piece(2, "# it's")).to_be_visible()


def test_cells_with_a_custom_call_are_coloured_as_cpp(editor):
    expect(editor.piece(3, "// it's")).to_be_visible()
    expect(editor.piece(3, "return")).to_be_visible()
    expect(editor.cell(3).locator(".km-magic-line").first).to_be_visible()


def test_colours_come_with_the_magic_and_go_with_it(editor):
    editor.write(2, PYTHON)
    expect(editor.piece(2, "stablehlo.add")).to_have_count(0)
    editor.page.keyboard.press("Control+Home")
    editor.page.keyboard.type("%%hlo")
    editor.page.keyboard.press("Enter")
    expect(editor.piece(2, "stablehlo.add")).to_be_visible()
    editor.write(2, PYTHON)
    expect(editor.piece(2, "stablehlo.add")).to_have_count(0)
    expect(editor.piece(2, "# it's")).to_be_visible()


def test_lines_are_indented_as_mlir_prints_them(editor):
    editor.write(2, "%%hlo\nfunc.func @f() {")
    editor.page.keyboard.press("Enter")
    editor.page.keyboard.type("return")
    editor.page.keyboard.press("Enter")
    editor.page.keyboard.type("}")
    lines = editor.text(2).locator(".cm-line")
    expect(lines).to_have_text(["%%hlo", "func.func @f() {", "  return", "}"])


def test_marks_of_a_saved_error_are_there_again(editor):
    expect(editor.mark(5, "stablehlo.nothing")).to_be_visible()
    expect(editor.cell(5).locator(".km-problem-sign")).to_be_visible()


def test_errors_are_marked_where_they_are_until_their_line_is_changed(editor):
    editor.write(2, BAD)
    editor.run(2)
    signs = editor.cell(2).locator(".km-problem-sign")
    expect(editor.cell(2).locator(".km-problem")).to_have_count(2)
    expect(signs).to_have_count(2)
    for line in (6, 9):
        expect(
            editor.cell(2).locator(".cm-line").nth(line - 1).locator(".km-problem")
        ).to_have_count(1)
    expect(signs.first).to_have_attribute("aria-label", _said(5))
    editor.point_at(editor.cell(2).locator(".km-problem").first)
    expect(editor.page.locator(".km-tip-problem")).to_have_text(_said(5).removeprefix("Error: "))
    editor.page.mouse.move(5, 5)
    # A change of another line moves the marks; one of their own takes them away.
    editor.text(2).locator(".cm-line").nth(2).click()
    editor.page.keyboard.press("End")
    editor.page.keyboard.press("Enter")
    expect(signs).to_have_count(2)
    expect(editor.cell(2).locator(".cm-line").nth(6).locator(".km-problem")).to_have_count(1)
    editor.text(2).locator(".cm-line").nth(6).click()
    editor.page.keyboard.press("End")
    editor.page.keyboard.type(" ")
    expect(signs).to_have_count(1)
    expect(editor.cell(2).locator(".cm-line").nth(9).locator(".km-problem")).to_have_count(1)


def test_axe_finds_no_serious_fault(editor):
    expect(editor.cell(5).locator(".km-problem-sign")).to_be_visible()
    editor.page.add_script_tag(path=AXE)
    editor.point_at(editor.piece(1, "@main"))
    expect(editor.page.locator(".km-tip")).to_be_visible()
    assert editor.page.evaluate(_AXE) == []
    editor.page.mouse.move(5, 5)


def test_marks_go_with_the_next_run(editor):
    editor.write(2, BAD)
    editor.run(2)
    expect(editor.cell(2).locator(".km-problem")).to_have_count(2)
    editor.write(2, PROGRAM)
    editor.run(2)
    expect(editor.cell(2).locator(".km-problem")).to_have_count(0)
    expect(editor.cell(2).locator(".km-problem-sign")).to_have_count(0)


def test_a_name_is_completed(editor):
    editor.write(2, "%%hlo\n// it's\nfunc.func @f(%x: tensor<4xf32>) {\n  %y = stablehlo.mi")
    editor.page.keyboard.press("Tab")
    popup = editor.page.locator(".jp-Completer")
    expect(popup.locator(".jp-Completer-match")).to_have_text(["stablehlo.minimum"])
    editor.page.keyboard.press("Enter")
    expect(editor.text(2)).to_contain_text("%y = stablehlo.minimum")
    editor.write(2, "%%hlo\nfunc.func @f(%left: f32, %right: f32) {\n  %y = arith.addf %")
    editor.page.keyboard.press("Tab")
    # JupyterLab adds words of the cell, and has an order of its own.
    for name in ("%left", "%right"):
        expect(popup.locator(".jp-Completer-match").get_by_text(name, exact=True)).to_be_visible()
    editor.page.keyboard.type("le")
    expect(popup.locator(".jp-Completer-match")).to_have_text(["%left"])
    editor.page.keyboard.press("Enter")
    expect(editor.text(2)).to_contain_text("%y = arith.addf %left")


def test_shift_tab_explains_an_op(editor):
    editor.write(2, "%%hlo\n// it's\nfunc.func @f(%x: tensor<4xf32>) {\n  %y = stablehlo.tanh")
    editor.page.keyboard.press("Shift+Tab")
    expect(editor.page.locator(".jp-Tooltip")).to_contain_text(
        "Hyperbolic tangent of each element."
    )
    editor.page.keyboard.press("Escape")


def test_pointing_at_a_word_explains_it(editor):
    for word, said in {
        "stablehlo.multiply": "Product, element by element",
        "@main": "@main(%x: tensor<4x8xf32>) -> tensor<4x8xf32>",
    }.items():
        editor.point_at(editor.piece(1, word))
        expect(editor.page.locator(".km-tip")).to_contain_text(said)
        editor.page.mouse.move(5, 5)
        expect(editor.page.locator(".km-tip")).to_have_count(0)


@pytest.mark.parametrize("place", ["lab/tree", "edit"])
def test_files_are_coloured(browser, jupyterlab, place):
    url, folder = jupyterlab
    (folder / "program.mlir").write_text(PROGRAM.split("\n", 1)[1])
    page = browser.new_page()
    page.goto(f"{url}/{place}/program.mlir?reset")
    piece = page.locator(".jp-FileEditor .cm-content span").get_by_text(
        "stablehlo.multiply", exact=True
    )
    expect(piece).to_be_visible(timeout=PATIENCE_MS)
    page.close()


def test_colours_follow_the_theme_and_can_be_read(notebook):
    book = notebook(PROGRAM)
    piece = book.page.locator(".cm-content span").get_by_text("stablehlo.multiply", exact=True)
    expect(piece).to_be_visible()
    content = piece.locator("xpath=ancestor::*[contains(@class, 'cm-content')]")
    light = content.evaluate(_COLOURS)
    with book.theme("Dark"):
        dark = content.evaluate(_COLOURS)
    assert len(light) > 20
    for before, after in zip(light, dark, strict=True):
        assert before["text"] == after["text"]
        assert min(before["contrast"], after["contrast"]) >= 4.5, (before, after)


def _said(line: int) -> str:
    """What is said of a function whose result has another type than it returns."""
    given = "4", {5: "5", 8: "6"}[line]
    return (
        f"Error: type of return operand 0 ('tensor<{given[0]}xf32>') doesn't match function "
        f"result type ('tensor<{given[1]}xf32>') in function @{ {5: 'g', 8: 'h'}[line] }"
    )
