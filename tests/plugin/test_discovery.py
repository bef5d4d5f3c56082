"""Plugins are found without anything of them being imported or loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernel_magics.plugin import discovery, environment
from kernel_magics.plugin.installed import installed_plugins
from tests.plugin.conftest import library
from tests.plugin.faults import SOURCES, TABLE, build

GOOD = TABLE + "const void* GetPjrtApi(void) { return table(0, 90); }"


def package(
    folder: Path, name: str, *libraries: Path, entry_points: str = "", version="1.2"
) -> None:
    """An installed package, as its record tells."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    lines = [f"{path.relative_to(folder)},sha256=x,{path.stat().st_size}" for path in libraries]
    (info / "RECORD").write_text(
        "\n".join([f"{name}/__init__.py,,0", *lines, f"{info.name}/RECORD,,"])
    )
    if entry_points:
        (info / "entry_points.txt").write_text(entry_points)


def made(folder: Path, place: str, text: str = GOOD) -> Path:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    return build(path.parent, path.stem, text=text)


def test_libraries_of_packages_are_found_by_what_they_export(tmp_path):
    plugin = made(tmp_path, "lab_plugin/pjrt_lab.so")
    package(tmp_path, "lab-plugin", plugin)
    package(tmp_path, "other", made(tmp_path, "other/helper.so", SOURCES["no_entry"]))
    (found,) = installed_plugins([str(tmp_path)])
    assert (found.name, found.version, found.path) == ("lab_plugin", "1.2", plugin)
    assert (found.source, found.module, found.fault) == ("package lab-plugin", "", "")


def test_several_libraries_of_one_package_have_names_of_their_own(tmp_path):
    places = ("lab/pjrt_a.so", "lab/pjrt_b.so")
    package(tmp_path, "lab", *(made(tmp_path, place) for place in places))
    names = [found.name for found in installed_plugins([str(tmp_path)])]
    assert names == ["lab_pjrt_a", "lab_pjrt_b"]


def test_a_library_that_is_called_a_plugin_and_is_none_is_found_with_its_fault(tmp_path):
    package(tmp_path, "lab", made(tmp_path, "lab/pjrt_lab.so", SOURCES["no_entry"]))
    (found,) = installed_plugins([str(tmp_path)])
    assert found.fault == "it is a shared library, but no PJRT plugin: it exports no `GetPjrtApi`"


def test_entry_points_and_folders_for_jax_are_found_and_their_libraries_once(tmp_path):
    inside = made(tmp_path, "jax_plugins/xla_lab/xla_lab.so")
    package(
        tmp_path, "jax-lab", inside, entry_points="[jax_plugins]\nxla_lab = jax_plugins.xla_lab\n"
    )
    (tmp_path / "jax_plugins/lab_broken").mkdir()
    (tmp_path / "jax_plugins/lab_broken/__init__.py").write_text("raise ImportError('on purpose')")
    (tmp_path / "jax_plugins/single.py").write_text("")
    found = {one.name: one for one in installed_plugins([str(tmp_path)])}
    assert set(found) == {"xla_lab", "lab_broken", "single"}
    assert found["xla_lab"].module == "jax_plugins.xla_lab"
    assert found["xla_lab"].path == inside
    assert found["xla_lab"].source == "package jax-lab, entry point jax_plugins"
    assert found["lab_broken"].module == "jax_plugins.lab_broken"
    assert found["single"].path is None


@pytest.mark.parametrize(
    "content", ["[jax_plugins", "jax_plugins", "[a]\njax_plugins = 1", "[jax_plugins]\nx"]
)
def test_entry_points_that_cannot_be_read_are_none(tmp_path, content):
    package(tmp_path, "odd", entry_points=content)
    assert installed_plugins([str(tmp_path)]) == []


def test_real_packages_are_found_at_once(real):
    name, path = real
    found = {one.name: one for one in discovery.discover()}
    assert found[name].path == path
    assert found[name].fault == ""
    assert found[name].version


def test_discovery_imports_and_starts_nothing():
    code = """
import sys, kernel_magics as km
from jax._src import xla_bridge
before = set(sys.modules)
km.plugins.discover()
print(bool(xla_bridge._backends), [m for m in set(sys.modules) - before if m.startswith(("xla", "fast", "jax_plugins."))],
      km.plugins.table()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False [] cpu: found"


def test_a_hundred_packages_without_plugins_are_passed_over(tmp_path):
    for i in range(100):
        package(tmp_path, f"package{i}", entry_points="[console_scripts]\nx = y:z\n")
    assert installed_plugins([str(tmp_path)]) == []


def test_one_name_that_several_offer_gets_numbers(tmp_path, monkeypatch):
    plugin = made(tmp_path, "lab/pjrt_lab.so")
    package(tmp_path, "lab", plugin)
    monkeypatch.setenv(environment.VARIABLE, f"lab:{plugin}")
    found = discovery.discover([str(tmp_path)])
    assert [(one.name, one.source.split(",")[0]) for one in found] == [
        ("lab", "environment"),
        ("lab_2", "package lab"),
    ]


def test_the_environment_offers_libraries_and_descriptions(tmp_path):
    described = tmp_path / "lab.json"
    described.write_text(
        json.dumps({"library_path": str(tmp_path / "x.so"), "create_options": {"a": 1}})
    )
    bad = tmp_path / "bad.json"
    bad.write_text("[]")
    text = f"one:/nosuch.so, two, three:{described},four:{bad},five:/nosuch.json,six:a:b,"
    found = {one.name: one for one in environment.environment_plugins(text)}
    assert found["one"].fault == "there is no such file"
    assert found["two"].fault == f"`two` is not of the form `NAME{os.pathsep}PATH`"
    assert found["three"].path == tmp_path / "x.so"
    assert found["three"].options == {"a": 1}
    assert found["three"].fault == "there is no such file"
    assert found["four"].fault == (
        'it does not hold `{"library_path": "…", "create_options": {…}}`'
    )
    assert found["five"].fault == "it cannot be read: No such file or directory"
    assert found["six:a:b"].fault


BAD_ENVIRONMENT = """
import os
import kernel_magics as km
table = km.plugins.discover()
row = table["nowhere"]
print(row.state, row.reason)
import jax.numpy as jnp
print(jnp.arange(3).sum(), km.plugins.active, os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS"))
"""


def test_a_bad_path_in_the_environment_is_told_and_stops_no_work():
    environ = {**os.environ, environment.VARIABLE: "nowhere:/nosuch.so"}
    done = subprocess.run(
        [sys.executable, "-c", BAD_ENVIRONMENT],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == [
        (
            "broken there is no such file; taken out of the environment, for JAX would fail at it in "
            "each call"
        ),
        "3 cpu None",
    ]


UNSUSPECTING = """
import numpy as np
import kernel_magics as km
text = '''func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}'''
try:
    km.hlo_call(text, np.ones(3, np.float32))
except km.KernelMagicsError as error:
    print(error)
km.plugins.discover()
print(km.hlo_call(text, np.ones(3, np.float32))[0])
"""


def test_a_call_that_meets_it_first_says_what_it_is_and_what_helps():
    environ = {**os.environ, environment.VARIABLE: "nowhere:/nosuch.so"}
    done = subprocess.run(
        [sys.executable, "-c", UNSUSPECTING],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == (
        "JAX cannot start: `/nosuch.so` cannot be opened\n"
        "  it stands in the environment variable PJRT_NAMES_AND_LIBRARY_PATHS: nowhere:/nosuch.so\n"
        "  `km.plugins.discover()` takes it out for this process; change the variable for others.\n"
        "[1. 1. 1.]"
    )


REPAIRED_LATE = """
import os
import jax.numpy as jnp
try:
    jnp.arange(3)
except Exception as error:
    print("first:", str(error).split(":")[0])
import kernel_magics as km
km.plugins.discover()
print(jnp.arange(3).sum(), km.plugins.active)
print([(row.name, row.state) for row in km.plugins.table() if row.name in ("good", "nowhere")])
"""


def test_it_is_repaired_after_jax_has_failed_at_it():
    good = library("xla_cpu_pjrt")
    environ = {**os.environ, environment.VARIABLE: f"good:{good},nowhere:/nosuch.so"}
    done = subprocess.run(
        [sys.executable, "-c", REPAIRED_LATE],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip().split("\n") == [
        "first: INTERNAL",
        "3 good",
        "[('nowhere', 'broken'), ('good', 'in use')]",
    ]
