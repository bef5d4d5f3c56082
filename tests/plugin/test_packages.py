"""Packages that register plugins with JAX: good ones, and such that raise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.conftest import PATIENCE_S, library

MODULES = {
    "raises_on_import": 'raise ImportError("on purpose")',
    "raises_later": "def initialize():\n    raise RuntimeError('no licence')",
    "does_nothing": "def initialize():\n    pass",
    "has_no_initialize": "",
}
GOOD = """
from jax._src import xla_bridge
def initialize():
    xla_bridge.register_plugin("package_cpu", priority=-5, library_path={path!r})
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    for name, text in MODULES.items():
        (tmp_path / "jax_plugins" / name).mkdir(parents=True)
        (tmp_path / "jax_plugins" / name / "__init__.py").write_text(text)
    return tmp_path


def run(folder: Path, code: str, **environ: str) -> list[str]:
    """What a fresh process prints that has these packages."""
    path = os.pathsep.join([str(folder), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n")


def test_each_fault_is_told_by_a_trial_and_stops_no_work(folder):
    code = f"""
import kernel_magics as km
for name in {list(MODULES)!r}:
    found = km.plugins.probe(name, timeout_s={PATIENCE_S})
    print(found.state, found.reason)
import jax.numpy as jnp
print(jnp.arange(3).sum(), km.plugins.active)
"""
    assert run(folder, code) == [
        "broken ImportError: on purpose",
        "broken RuntimeError: no licence",
        "broken RuntimeError: jax_plugins.does_nothing.initialize() registered no plugin with JAX",
        "broken AttributeError: module 'jax_plugins.has_no_initialize' has no attribute 'initialize'",
        "3 cpu",
    ]


def test_what_jax_could_not_import_is_shown_with_its_words(folder):
    code = """
import jax.numpy as jnp
print(jnp.arange(3).sum())
import kernel_magics as km
row = km.plugins.table()["raises_on_import"]
print(row.state, row.reason)
"""
    assert run(folder, code) == ["3", "broken ImportError: on purpose"]


@pytest.mark.parametrize("platforms", ["", "cpu"])
def test_a_package_is_loaded_whether_jax_starts_it_or_not(tmp_path, platforms):
    (tmp_path / "jax_plugins/package_cpu").mkdir(parents=True)
    module = tmp_path / "jax_plugins/package_cpu/__init__.py"
    module.write_text(GOOD.format(path=str(library("xla_cpu_pjrt"))))
    code = """
import jax.numpy as jnp
import kernel_magics as km
x = jnp.arange(3)
print(km.plugins.table()["package_cpu"].state)
found = km.plugins.load("package_cpu")
print(found.state, found.facts.pjrt_version, km.plugins.active)
km.plugins.use("package_cpu")
print(km.plugins.where(jnp.arange(3) + 1), km.plugins.where(x))
"""
    first = "found" if platforms else "loaded"
    wanted = [first, "loaded (0, 81) cpu", "package_cpu cpu"]
    assert run(tmp_path, code, JAX_PLATFORMS=platforms) == wanted


def test_packages_take_no_options_here(folder):
    code = """
import kernel_magics as km
try:
    km.plugins.load("does_nothing", options={"a": 1})
except km.KernelMagicsError as error:
    print(error)
"""
    assert run(folder, code) == [
        "Plugin `does_nothing` takes no options here",
        "  given: a",
        "  its package sets them: jax_plugins.does_nothing",
        '  Give the path of its library to load it with options: `path="…"`.',
    ]
