"""A wheel, installed where there is neither checkout nor node: the inspector is all there."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from kernel_magics.widgets.saved import SAVED_VIEW_TYPE
from tests.browser.cell_programs import LOAD, SCALE
from tests.browser.conftest import Notebook, _content, _end_kernels, serving

ROOT = Path(__file__).parents[2]
BUILT = ("kernel_magics/static", "kernel_magics/labextension", "jupyter_ext/lib")
SHARE = Path(sys.prefix) / "share/jupyter"

if not (ROOT / "node_modules/.package-lock.json").is_file():
    pytest.skip("the packages of the front end are not here", allow_module_level=True)


def link(source: str, target: str) -> None:
    """A second name for a file, or a copy where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel of the checkout's files, whose front end is built anew."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    listed = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            # With their times: packages that are older than the lock file would be fetched anew.
            shutil.copy2(ROOT / name, sources / name)
    shutil.copytree(
        ROOT / "node_modules", sources / "node_modules", symlinks=True, copy_function=link
    )
    assert not any((sources / name).exists() for name in BUILT)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, f"--wheel-dir={folder}", str(sources)], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """Python of an environment with the wheel, and what lets it use this one's other packages."""
    folder = tmp_path_factory.mktemp("environment")
    environment = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin/python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*install, "--no-deps", "--ignore-installed", wheel], check=True)
    # A path alone: what this environment's own `.pth` files add, such as the checkout, it has not.
    packages = sysconfig.get_path("purelib", vars={"base": str(environment)})
    (Path(packages) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    engine = Path(sysconfig.get_path("scripts")) / "graphviz-pure"
    (environment / "bin" / engine.name).symlink_to(engine)
    extensions = folder / "share/labextensions"
    extensions.mkdir(parents=True)
    for other in (SHARE / "labextensions").iterdir():
        if other.name != "kernel-magics":
            (extensions / other.name).symlink_to(other, target_is_directory=True)
    settings = {
        "JUPYTERLAB_DIR": str(SHARE / "lab"),
        "JUPYTER_PATH": str(folder / "share"),
        # No node, and nothing else of the machine either.
        "PATH": str(environment / "bin"),
        "PYTHONPATH": "",
    }
    return python, settings


@pytest.fixture
def opened(browser: Browser, installed, tmp_path_factory) -> Iterator[Notebook]:
    python, settings = installed
    home = tmp_path_factory.mktemp("served")
    with serving(home, python=str(python), settings=settings) as (url, folder):
        path = folder / "installed.ipynb"
        path.write_text(json.dumps(_content([LOAD, SCALE, "import kernel_magics\nkernel_magics"])))
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(60_000)
        yield Notebook(context.new_page(), url, path)
        _end_kernels(context, url, {path.name})
        context.close()


def run(installed, *command: str) -> str:
    """What a command of the environment says, started far from the checkout."""
    python, settings = installed
    done = subprocess.run(
        [str(python), *command],
        check=False,
        cwd=python.parent,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_extension_is_enabled_and_there_is_no_node(installed):
    _, settings = installed
    assert shutil.which("node", path=settings["PATH"]) is None
    assert shutil.which("npm", path=settings["PATH"]) is None
    listed = run(installed, "-m", "jupyterlab.labextensions", "list")
    assert re.search(r"kernel-magics v[\d.]+ .*enabled.*OK", listed), listed


def test_the_package_is_the_installed_one(installed):
    python, _ = installed
    place = run(installed, "-c", "import kernel_magics; print(kernel_magics.__file__)").strip()
    assert Path(place).is_relative_to(python.parents[1])
    assert not Path(place).is_relative_to(ROOT)


def test_an_installed_wheel_shows_the_inspector(opened):
    opened.run(0)
    opened.run(1)
    inspector = opened.live()
    expect(inspector.locator(".n")).to_have_count(2)
    inspector.get_by_role("button", name="@twice").click()
    panel = inspector.get_by_role("region", name="Text of the function")
    expect(panel).to_contain_text("stablehlo.add %arg0, %arg0")
    inspector.get_by_role("tab", name="Symbols").click()
    expect(inspector.locator("tbody tr")).to_have_count(2)
    inspector.get_by_role("button", name="Menu").click()
    with opened.page.expect_download() as download:
        inspector.get_by_role("menuitem", name="Save as HTML").click()
    assert "Content-Security-Policy" in download.value.path().read_text()
    opened.command("docmanager:save")
    opened.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    outputs = json.loads(opened.path.read_text())["cells"][1]["outputs"]
    assert {"image/png", SAVED_VIEW_TYPE} <= set(outputs[0]["data"])
    opened.shut_down()
    opened.open()
    expect(opened.inspector().locator(".km-note")).to_contain_text("Saved view of")
