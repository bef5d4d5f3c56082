"""A real JupyterLab and a real Chromium, for tests that click and type."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

import kernel_magics as km

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
PACKAGE = Path(km.__file__).parent
# A guard against hanging, on machines that do other things besides.
expect.set_options(timeout=20_000)

_SETTINGS: dict[str, dict[str, Any]] = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}
_FILL = """texts => {
  const { widgets } = window.jupyterapp.shell.currentWidget.content;
  texts.forEach((text, index) => widgets[index].model.sharedModel.setSource(text));
}"""
_NO_KERNEL = "() => !window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel"
_IDLE = """() => {
  const widget = window.jupyterapp?.shell.currentWidget;
  return widget?.sessionContext?.session?.kernel?.status === "idle";
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM is None:
        skip = pytest.mark.skip(reason="there is no chromium on the PATH")
        for item in items:
            if item.path.is_relative_to(Path(__file__).parent):
                item.add_marker(skip)


class Notebook:
    """One notebook, open in a page of its own."""

    def __init__(self, page: Page, url: str, path: Path, place: str = "lab/tree") -> None:
        self.page = page
        self.path = path
        self.url = f"{url}/{place}/{path.name}?reset"
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))
        self.open()

    def open(self) -> None:
        """Opens it, as a reader does who comes back."""
        self.page.goto(self.url)
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        self.page.wait_for_function(_IDLE)

    def run(self, cell: int = 0) -> None:
        """Runs a cell and waits until it is done."""
        code = self.page.locator(".jp-Notebook .jp-CodeCell").nth(cell)
        code.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        code.locator(".jp-InputPrompt", has_text="[*]").wait_for(state="detached")
        self.page.wait_for_function(_IDLE)

    def fill(self, *cells: str) -> None:
        """Writes other texts into the first cells, and clears all outputs."""
        self.command("notebook:clear-all-cell-outputs")
        self.page.evaluate(_FILL, [*cells, "", "", ""][:3])

    def command(self, name: str, *, waits: bool = True, **arguments: Any) -> None:
        """Runs a command of JupyterLab, and waits for its end unless it asks something first."""
        run = "window.jupyterapp.commands.execute(name, arguments)"
        script = f"([name, arguments]) => {run if waits else f'{{ void {run}; }}'}"
        self.page.evaluate(script, [name, arguments])

    def shut_down(self) -> None:
        """Ends the kernel; the command itself may wait for a kernel that is gone already."""
        self.command("kernelmenu:shutdown", waits=False)
        self.page.wait_for_function(_NO_KERNEL)

    @contextmanager
    def theme(self, name: str) -> Iterator[None]:
        """Shows JupyterLab in another theme for a while."""
        self._set_theme(name)
        yield
        self._set_theme("Light")

    def _set_theme(self, name: str) -> None:
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")
        # JupyterLab removes its splash twice when a theme is changed while one fades in.
        self.page.wait_for_function(
            "light => document.body.dataset.jpThemeLight === light"
            " && document.getElementById('jupyterlab-splash') === null",
            arg="true" if name == "Light" else "false",
        )

    def inspector(self, number: int = 0) -> Locator:
        """An inspector that is seen, drawn already."""
        found = self.page.locator(".km:visible").nth(number)
        found.wait_for()
        return found

    def live(self, number: int = 0) -> Locator:
        """An inspector with a kernel behind it."""
        found = self.page.locator(".km:not([data-connection=saved]):visible").nth(number)
        found.wait_for()
        return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Debian's Chromium runs as root only without its sandbox.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server, and the folder that it serves."""
    with serving(tmp_path_factory.mktemp("jupyterlab")) as served:
        yield served


@contextmanager
def serving(
    home: Path,
    application: str = "jupyterlab",
    *,
    python: str = sys.executable,
    settings: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, Path]]:
    """Runs a server that keeps all it writes in `home`.

    Args:
        home: A folder that is empty.
        application: `jupyterlab` or `notebook`.
        python: Of the environment to serve; another than this one is taken as it was installed.
        settings: Environment variables for that.
    """
    notebooks = home / "notebooks"
    notebooks.mkdir()
    for name, setting in _SETTINGS.items():
        file = home / f"settings/@jupyterlab/{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(setting))
    is_checkout = python == sys.executable and (PACKAGE / "labextension/package.json").is_file()
    if is_checkout:
        # A checkout is tested as it is, not as it was when it was installed.
        shutil.copytree(PACKAGE / "labextension", home / "data/labextensions/kernel-magics")
    folders = {
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
    }
    if is_checkout:
        sources = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
        folders["PYTHONPATH"] = os.pathsep.join(sources)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [python, "-m", application, "--no-browser", "--allow-root"]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--IdentityProvider.token="]
    command += [f"--ServerApp.root_dir={notebooks}", "--expose-app-in-browser"]
    command += ["--ServerApp.disable_check_xsrf=True"]
    with (home / "log").open("w") as log:
        environment = os.environ | {name: str(folder) for name, folder in folders.items()}
        # Else what the environment has installed comes before the copy.
        environment["JUPYTER_PREFER_ENV_PATH"] = "no"
        environment |= settings or {}
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, server, home / "log")
            yield f"http://127.0.0.1:{port}", notebooks
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                # A kernel that was restarted a moment ago can hold it up.
                server.kill()
                server.wait()


@pytest.fixture(scope="session")
def page(browser: Browser, jupyterlab: tuple[str, Path]) -> Iterator[Page]:
    """The page of the notebook that most tests share."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    yield context.new_page()
    _end_kernels(context, jupyterlab[0], {"shared.ipynb"})
    context.close()


@pytest.fixture(scope="session")
def shared(page: Page, jupyterlab: tuple[str, Path]) -> Notebook:
    """A notebook whose kernel has imported everything: a second for each test, not ten."""
    url, folder = jupyterlab
    path = folder / "shared.ipynb"
    path.write_text(json.dumps(_content(["import kernel_magics as km", "", ""])))
    opened = Notebook(page, url, path)
    opened.run(0)
    return opened


@pytest.fixture
def notebook(shared: Notebook) -> Iterator[Callable[..., Notebook]]:
    """Puts up to three cells into a notebook that runs; its kernel must live on."""

    def make(*cells: str) -> Notebook:
        shared.page.set_viewport_size({"width": 1280, "height": 900})
        shared.fill(*cells)
        return shared

    shared.errors.clear()
    yield make
    assert shared.errors == []


@pytest.fixture
def own_notebook(
    browser: Browser, jupyterlab: tuple[str, Path], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Notebook]]:
    """Opens a notebook with a kernel of its own, for tests that end it or load the page again."""
    url, folder = jupyterlab
    opened: list[Notebook] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)

    def make(*cells: str) -> Notebook:
        path = folder / f"{request.node.name}.ipynb"
        path.write_text(json.dumps(_content(cells)))
        opened.append(Notebook(context.new_page(), url, path))
        return opened[-1]

    yield make
    _end_kernels(context, url, {one.path.name for one in opened})
    context.close()
    assert [error for one in opened for error in one.errors] == []


def _content(cells: Sequence[str]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(cells)
    ]
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _end_kernels(context: BrowserContext, url: str, names: set[str]) -> None:
    """Ends the sessions of notebooks; those that are left end with the server."""
    for session in context.request.get(f"{url}/api/sessions").json():
        if session["path"] in names:
            context.request.delete(f"{url}/api/sessions/{session['id']}")


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2):
            return
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")
