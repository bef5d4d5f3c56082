"""The child is like its kernel where that counts, and set apart where it must be."""

import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

import kernel_magics
from kernel_magics.sandbox.messages import REQUESTS
from kernel_magics.sandbox.process import Sandbox
from tests.sandbox.processes import (
    GONE_S,
    KERNEL,
    PATIENCE_S,
    comes_true,
    finish,
    is_running,
    start_kernel,
)
from tests.test_notebooks import execute, running_kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_the_child_is_set_apart_and_like_the_kernel(puppet, monkeypatch):
    def tell():
        return puppet.request("parse", {"action": "tell"}, timeout_s=PATIENCE_S).head["said"]

    monkeypatch.chdir("/")
    said = tell()
    assert said["sigint"] is True
    assert said["core"] == 0
    assert said["session"] == puppet.pid
    assert said["path"] == [entry for entry in sys.path if entry] + ["/"] * ("" in sys.path)
    pid = puppet.pid
    assert tell()["session"] == pid
    # XLA reads its flags once: a child that has others is of no use.
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=3")
    assert tell()["xla"] == "--xla_force_host_platform_device_count=3"
    assert puppet.pid != pid


def test_trials_in_a_trial_are_done_in_place(puppet):
    said = puppet.request("parse", {"action": "nested"}, timeout_s=PATIENCE_S).head["said"]
    assert said == ["Answer", None]


def test_warming_up_does_not_wait_and_starts_one_child():
    sandbox = Sandbox(dict.fromkeys(REQUESTS, "tests.sandbox.workers:act"))
    sandbox.warm_up()
    pid = sandbox.pid
    sandbox.warm_up()
    found = sandbox.request("parse", {"action": "tell"}, timeout_s=PATIENCE_S)
    assert found.head["said"]["session"] == pid == sandbox.pid
    sandbox.end()


def test_the_package_may_come_out_of_an_archive(tmp_path):
    archive = tmp_path / "kernel_magics.zip"
    package = Path(kernel_magics.__file__).parent
    with zipfile.ZipFile(archive, "w") as file:
        for path in package.rglob("*.py"):
            file.write(path, path.relative_to(package.parent))
    script = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        + KERNEL
        + "import kernel_magics\nprint(kernel_magics.__file__)"
    )
    out = finish(start_kernel(script, cwd=tmp_path))
    assert str(archive) in out


def test_files_beside_the_notebook_do_not_stand_in_for_the_library(tmp_path):
    for name in ("random.py", "json.py", "select.py", "numpy.py"):
        (tmp_path / name).write_text("raise RuntimeError")
    root = str(Path(kernel_magics.__file__).parent.parent)
    # As in a notebook: the empty entry comes when Python and JAX are there.
    script = (
        f"import sys; sys.path.remove(''); sys.path.append({root!r})\nimport jax, json, random, kernel_magics\nsys.path.insert(0, '')\n"
        + KERNEL
    )
    assert finish(start_kernel(script, cwd=tmp_path)).strip().isdigit()


def test_a_kernel_whose_directory_is_gone_has_a_child(tmp_path):
    root = str(Path(kernel_magics.__file__).parent.parent)
    start = f"import os, sys\nsys.path.append({root!r})\nimport kernel_magics\n"
    kernel = start_kernel(start + f"os.rmdir({str(tmp_path)!r})\n" + KERNEL, cwd=tmp_path)
    assert finish(kernel).strip().isdigit()


def test_a_notebooks_kernel_has_a_child_that_ends_with_it(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(KERNEL)])
    with running_kernel(tmp_path) as kernel:
        execute(notebook, kernel)
        (output,) = notebook.cells[0].outputs
        assert output.name == "stdout"
        assert is_running(int(output.text))
    assert comes_true(lambda: not is_running(int(output.text)), GONE_S)
