"""Programs of others on real plugins, and faults of plugins that users of other tools met."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNT = 100

TOO_NEW = {"scan.scan_cumsum_dim1@21"}
"""Programs with ops that are younger than the plugins."""


def run(*arguments: str | Path, **environ: str) -> list[str]:
    """What a fresh process prints."""
    path = os.pathsep.join(filter(None, [environ.pop("PYTHONPATH", ""), str(ROOT)]))
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": path, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n")


@pytest.mark.parametrize("module", ["fastatomstruct_xla_cpu", "xla_plugins.xla_cpu_pjrt"])
def test_programs_give_the_right_values_on_a_plugin(corpus, module):
    if not importlib.util.find_spec(module.split(".")[0]):
        pytest.skip(f"{module}, a plugin to load, is not installed")
    plugin = module.split(".")[-1]
    runner = Path(__file__).with_name("plugin_run.py")
    lines = run(runner, corpus / "conformance", plugin, str(COUNT))
    found = [json.loads(line) for line in lines]
    assert len(found) == COUNT
    assert {one["id"] for one in found if one["problem"]} <= TOO_NEW
    assert {one["where"] for one in found if not one["problem"]} == {plugin}


def test_a_name_that_jax_does_not_know_is_never_shown_as_in_use(corpus):
    """P01: JAX takes any name for `jax_platforms`, and goes on as before."""
    text = (corpus / "cases/P01_run.py").read_text()
    code = f"""
{text}
import kernel_magics as km
print(km.plugins.active, [row.name for row in km.plugins.table() if row.state == "in use"])
try:
    km.plugins.use("nope")
except km.KernelMagicsError as error:
    print(str(error).split("(")[0])
km.plugins.load("cpu2", devices=2)
km.plugins.use("cpu2")
x = jnp.ones(2) + 1
print(km.plugins.active, km.plugins.where(x))
"""
    assert run("-c", code)[1:] == [
        "cpu ['cpu']",
        "There is no plugin `nope`",
        "  known: `cpu` ",
        "cpu2 cpu2",
    ]


def test_a_plugin_that_is_broken_stops_no_work_and_is_shown(corpus, tmp_path):
    """P02: a package whose import raises, with the extension loaded."""
    package = tmp_path / "jax_plugins/lab_broken"
    package.mkdir(parents=True)
    shutil.copyfile(corpus / "cases/P02_lab_broken_init.py", package / "__init__.py")
    code = f"""
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
shell.run_line_magic("load_ext", "kernel_magics")
import pathlib, numpy as np, jax.numpy as jnp, kernel_magics as km
print(int(jnp.asarray(1) + 1))
text = pathlib.Path({str(corpus / "cases/P02_a.mlir")!r}).read_text()
print(km.hlo_call(text, np.ones(3, np.float32))[0])
row = shell.run_line_magic("hlo", "plugins")["lab_broken"]
print(row.state, "|", row.reason)
"""
    assert run("-c", code, PYTHONPATH=str(tmp_path)) == [
        "2",
        "[-1. -1. -1.]",
        "broken | ImportError: lab plugin is broken on purpose",
    ]


def test_arrays_of_before_a_switch_are_named_and_stay_readable(corpus):
    """P04: bound to one device, and another is in use."""
    text = (corpus / "cases/P04_run.py").read_text()
    code = f"""
{text}
import kernel_magics as km, pathlib
km.plugins.use("cpu", device=1)
program = pathlib.Path({str(corpus / "cases/P04_a.mlir")!r}).read_text()
try:
    km.hlo_call(program, x)
except km.KernelMagicsError as error:
    print(str(error).split(chr(10))[0])
moved = km.plugins.move(x, "cpu", device=1)
(y,) = km.hlo_call(program, moved)
print(km.plugins.label(next(iter(y.devices()))), x)
"""
    assert run("-c", code) == [
        "Argument 0 (`%x`) of `@main` is bound to `cpu:0`, and `cpu:1` is in use",
        "cpu:1 [1. 1. 1.]",
    ]
