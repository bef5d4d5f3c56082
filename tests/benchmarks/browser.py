"""The inspector in JupyterLab and Chromium: how long until it is painted, and its slowest frames.

There is no peer that a notebook holds: figures are printed beside what they aim at.
"""

import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Locator, Page, sync_playwright

from tests.benchmarks.harness import Row
from tests.browser.conftest import CHROMIUM, Notebook, serving
from tests.browser.programs import FAN, LONG

RUNS = 5
_STEPS = 60
# Both views draw fewer by themselves.
_THOUSAND = """
import functools
import kernel_magics.widgets.folding as folding
import kernel_magics.widgets.ops_drawing as ops_drawing
folding.DRAWN_AT_FIRST = 1000
ops_drawing.ViewOptions = functools.partial(ops_drawing.ViewOptions, limit=1100)
"""
_GRID = """
import kernel_magics as km
T = "tensor<8x64xf32>"
lines = [f"  %v{n} = stablehlo.add %v{max(0, n - 25)}, %v{max(0, n - 24)} : {T}" for n in range(25, 1000)]
session = km.Session()
session.define("func.func @main(%a: TYPE) -> TYPE {\\n".replace("TYPE", T)
    + "\\n".join(f"  %v{n} = stablehlo.sine %a : {T}" for n in range(25)) + "\\n"
    + "\\n".join(lines) + f"\\n  return %v999 : {T}\\n}}", name="grid")
km.inspect(session)
"""
# Painted: what was asked for is in the page, and a frame after it has begun.
_WATCH = """([selector, count]) => {
  window.painted = new Promise((done, failed) => {
    setTimeout(() => failed(new Error(`no ${count} of ${selector}`)), 60000);
    const look = () => document.querySelectorAll(selector).length >= count
      ? requestAnimationFrame(() => requestAnimationFrame(() => done(Date.now())))
      : requestAnimationFrame(look);
    look();
  });
}"""
_ACT = """(node, type) => {
  window.began = Date.now();
  node.dispatchEvent(new MouseEvent(type, {bubbles: true}));
}"""
_FRAMES = """() => {
  window.frames_ms = [];
  let last = performance.now();
  const next = (now) => {
    window.frames_ms.push(now - last);
    last = now;
    window.frames_ms.stopped ?? requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}"""


def run() -> list[Row]:
    """Prints figures; nothing but a sentence where there is no Chromium."""
    if CHROMIUM is None:
        print("browser: there is no chromium on the PATH")
        return []
    home = Path(tempfile.mkdtemp(prefix="kernel-magics-browser-"))
    try:
        with serving(home) as (url, folder), sync_playwright() as playwright:
            arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(60_000)
            path = folder / "measured.ipynb"
            path.write_text(json.dumps(_notebook()))
            opened = Notebook(page, url, path)
            opened.run()
            _measure(opened)
            browser.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return []


def _measure(opened: Notebook) -> None:
    shown = [_display_ms(opened) for _ in range(RUNS)]
    _print("display to painted graph of 200 functions", shown, "1,000 ms")
    firsts, chunks = zip(*(_open_ms(opened) for _ in range(RUNS)), strict=True)
    _print("double click to painted ops of a function of 2,000", firsts, "1,000 ms")
    _print("a group of 400 of them opened", chunks, "1,000 ms")
    opened.fill(_THOUSAND + FAN.replace("COUNT", "999"), "km.inspect(session)", _GRID)
    opened.run(0)
    opened.run(1)
    _print_frames("functions", opened.page, opened.live(0).locator(".km-stage").first)
    opened.run(2)
    inspector = opened.live(1)
    inspector.get_by_role("tab", name="Ops").click()
    inspector.locator(".n.op").nth(900).wait_for(state="attached")
    _print_frames("ops", opened.page, inspector.locator(".km-ops .km-stage").first)


def _display_ms(opened: Notebook) -> float:
    show = "import time\nfrom IPython.display import display\nstarted = time.time()\ndisplay(shown)"
    opened.fill(FAN.replace("COUNT", "199") + "shown = km.inspect(session)", show, "started * 1000")
    opened.run(0)
    opened.page.evaluate(_WATCH, [".km .n", 200])
    opened.run(1)
    painted = opened.page.evaluate("window.painted")
    opened.run(2)
    said = opened.page.locator(".jp-OutputArea-output pre").last.text_content()
    return painted - float(said or 0)


def _open_ms(opened: Notebook) -> tuple[float, float]:
    opened.fill(LONG.replace("COUNT", "2000"))
    opened.run()
    inspector = opened.live()
    node = inspector.get_by_role("button", name="@main, entry")
    first = _acted_ms(opened.page, node, "dblclick", [".km-ops .n.group", 5])
    group = inspector.locator(".n.group").first
    return first, _acted_ms(opened.page, group, "click", [".km-ops .n.op", 400])


def _acted_ms(page: Page, node: Locator, event: str, awaited: list[Any]) -> float:
    page.evaluate(_WATCH, awaited)
    node.evaluate(_ACT, event)
    return page.evaluate("window.painted.then((time) => time - window.began)")


def _print_frames(what: str, page: Page, stage: Locator) -> None:
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drawn = stage.locator(".n").count()

    def pan() -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(_STEPS):
            page.mouse.move(x - 4 * step, y - 3 * step)
        page.mouse.up()

    def zoom(by: int) -> None:
        page.keyboard.down("Control")
        for _ in range(_STEPS // 2):
            page.mouse.wheel(0, by)
        page.keyboard.up("Control")

    # What the machine does besides holds up frames as well: a page at rest shows how much.
    moves = (
        ("rest", lambda: page.wait_for_timeout(1000)),
        ("pan", pan),
        ("zoom out", lambda: zoom(8)),
        ("zoom in", lambda: zoom(-8)),
    )
    session = page.context.new_cdp_session(page)
    session.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
    session.send("Performance.enable")
    for name, move in moves:
        page.mouse.move(x, y)
        before = _main_thread_ms(session)
        page.evaluate(_FRAMES)
        move()
        frames = page.evaluate(
            "() => { window.frames_ms.stopped = true; return window.frames_ms; }"
        )
        cpu = (_main_thread_ms(session) - before) / len(frames)
        frames = sorted(frames[1:])
        print(
            f"browser: {name} over {drawn:,} nodes of the {what} view: {len(frames)} frames, "
            f"median {statistics.median(frames):.0f} ms, slowest {frames[-1]:.0f} ms (aim 50 ms), "
            f"{cpu:.1f} ms a frame of the page's own thread"
        )
    session.detach()


def _main_thread_ms(session: CDPSession) -> float:
    found = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in found if one["name"] == "TaskDuration")


def _print(what: str, times_ms: Any, aim: str) -> None:
    median = statistics.median(times_ms)
    print(f"browser: {what}: {median:,.0f} ms, slowest {max(times_ms):,.0f} ms (aim {aim})")


def _notebook() -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": "",
    }
    cells = [{**cell, "id": f"cell-{number}"} for number in range(3)]
    cells[0]["source"] = "import kernel_magics as km"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
