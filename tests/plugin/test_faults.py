"""Plugins that do not work: each is told in words, and the kernel is alive after it."""

import numpy as np
import pytest
from jax import numpy as jnp

from kernel_magics.errors import PluginError
from tests.plugin.conftest import PATIENCE_S, library
from tests.plugin.faults import build, with_missing_library

BY_BYTES = {
    "no_entry": "it is a shared library, but no PJRT plugin: it exports no `GetPjrtApi`",
}
BY_TRIAL = {
    "null": "its `GetPjrtApi` gives no table of functions",
    "aborts": "it ended its process with SIGABRT at this step: loading the library",
    "exits": "it ended its process with exit code 3 at this step: loading the library",
    "zeroed": "it ended its process with SIGSEGV at this step: making a client",
    "other_major": "it speaks PJRT 99, and this JAX speaks PJRT 0",
    "undefined": "the symbol `nowhere_to_be_found` is in no library that it needs",
    "refuses": "JaxRuntimeError: FAILED_PRECONDITION: The licence has expired",
}


@pytest.fixture(autouse=True)
def _alive():
    yield
    np.testing.assert_array_equal(jnp.arange(3) + 1, [1, 2, 3])


@pytest.mark.parametrize(("name", "reason"), (BY_BYTES | BY_TRIAL).items())
def test_faults_are_told_by_probe_and_refused_by_load(manager, tmp_path, name, reason):
    path = build(tmp_path, name)
    found = manager.probe("faulty", path=path, timeout_s=PATIENCE_S)
    assert (found.state, found.reason) == ("broken", reason)
    with pytest.raises(PluginError) as error:
        manager.load("faulty", timeout_s=PATIENCE_S)
    lines = str(error.value).split("\n")
    assert lines[0] == f"Plugin `faulty` cannot be loaded: {reason}"
    assert lines[1] == f"  plugin: {path}"
    assert lines[-1] == "  The kernel is as it was. Work goes on with what is loaded."
    assert manager.info("faulty").state == "broken"
    assert manager.active == "cpu"


def test_plugins_without_hardware_are_no_faults(manager, tmp_path):
    found = manager.probe("gpu", path=build(tmp_path, "no_device"), timeout_s=PATIENCE_S)
    assert found.state == "no device"
    assert found.reason == "it finds no device here: No visible GPU devices."


def test_plugins_that_hang_are_ended_in_time(manager, tmp_path):
    found = manager.probe("sleeper", path=build(tmp_path, "hangs"), timeout_s=3)
    assert found.state == "broken"
    assert found.reason == "it gave no answer in 3 s at this step: loading the library"


def test_libraries_that_are_missing_are_named_before_anything_is_loaded(manager, tmp_path):
    path = with_missing_library(tmp_path)
    with pytest.raises(PluginError) as error:
        manager.load("needy", path)
    assert str(error.value) == (
        "Plugin `needy` cannot be loaded: libraries that it needs are missing: "
        f"`libgone_for_good.so`\n  plugin: {path}\n"
        "  The kernel is as it was. Work goes on with what is loaded."
    )


FILES = {
    "empty": (b"", "it is empty"),
    "text": (b"hello", "it is text that begins with 'hello'"),
    "wheel": (b"PK\x03\x04....", "it is a zip archive, such as a wheel"),
    "windows": (b"MZ\x90", "it is a library of Windows"),
    "pointer": (
        b"version https://git-lfs.github.com/spec/v1",
        "it is a Git LFS pointer, not the file itself",
    ),
    "stump": (b"\x7fELF\x02\x01\x01", "it is cut short or damaged"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "reason"), FILES.values(), ids=FILES)
def test_files_that_are_no_libraries_are_refused_by_their_bytes(manager, tmp_path, content, reason):
    path = tmp_path / "plugin.so"
    path.write_bytes(content)
    assert manager.probe("none", path=path).reason == reason


def test_what_is_no_file_is_refused(manager, tmp_path):
    assert manager.probe("none", path=tmp_path / "nosuch.so").reason == "there is no such file"
    folder = manager.probe("none", path=tmp_path)
    assert folder.reason == "it is a folder, not a shared library"


def test_libraries_of_other_machines_and_damaged_ones_are_refused(manager, tmp_path):
    content = bytearray(build(tmp_path, "null").read_bytes())
    path = tmp_path / "plugin.so"
    path.write_bytes(content[: len(content) // 8])
    assert manager.probe("none", path=path).reason == "it is cut short or damaged"
    content[18:20] = (243).to_bytes(2, "little")
    path.write_bytes(content)
    assert manager.probe("none", path=path).reason.startswith("it is for riscv64, and this machine")


def test_any_cut_of_a_library_is_told_and_none_ends_the_kernel(manager, tmp_path):
    content = build(tmp_path, "null").read_bytes()
    path = tmp_path / "plugin.so"
    for size in range(0, 4096, 61):
        path.write_bytes(content[:size])
        assert manager.probe("none", path=path).state == "broken"


def test_names_of_plugins_that_are_not_there_offer_others(manager):
    library("xla_cpu_pjrt")
    manager.discover()
    with pytest.raises(PluginError) as error:
        manager.use("xla_cpu_pjr")
    first, known, advice = str(error.value).split("\n")
    assert first == "There is no plugin `xla_cpu_pjr`; did you mean `xla_cpu_pjrt`?"
    assert known.startswith("  known: `cpu` (loaded), ")
    assert advice == (
        '  `km.plugins.load(name, path="…")` loads one from a file; '
        "`km.plugins.discover()` looks again for installed ones."
    )
    with pytest.raises(PluginError) as error:
        manager.use("xla_cpu_pjrt")
    assert str(error.value) == (
        "Plugin `xla_cpu_pjrt` is not loaded\n  it is found\n  loaded: `cpu`\n"
        '  `km.plugins.load("xla_cpu_pjrt")` loads it.'
    )


def test_names_that_nobody_could_type_are_refused(manager, tmp_path):
    with pytest.raises(PluginError) as error:
        manager.load("my plugin", build(tmp_path, "null"))
    assert str(error.value) == (
        "'my plugin' cannot be the name of a plugin\n"
        "  A name is made of letters, digits and underscores.\n"
        '  For example `km.plugins.load("my_plugin", path="…")`.'
    )


def test_options_are_checked_before_anything_is_tried(manager):
    path = library("xla_cpu_pjrt")
    with pytest.raises(PluginError) as error:
        manager.load("old", path, options={"bogus_option": 1})
    assert str(error.value) == (
        f"Plugin `old` knows no option `bogus_option`\n  the word is nowhere in {path}\n"
        "  Leave it out, or give it all the same with `force=True`."
    )
    with pytest.raises(PluginError) as error:
        manager.load("old", path, options={"cpu_device_count": {}})
    assert str(error.value) == (
        "The option `cpu_device_count` of plugin `old` cannot be a `dict`\n  given: {}\n"
        "  expected: bool, int, float, str, or a list of int\n  PJRT has no other types."
    )
    assert manager.info("old").state == "found"


@pytest.mark.parametrize("name", ["null", "other_major", "refuses", "undefined"])
def test_what_is_forced_and_fails_leaves_its_name_free(manager, tmp_path, name):
    """JAX keeps the names of what it could load in part: another one is taken for the next."""
    with pytest.raises(PluginError, match="^Plugin `forced` cannot be loaded: "):
        manager.load("forced", build(tmp_path, name), force=True)
    assert manager.info("forced").state == "broken"
    assert manager.active == "cpu"
    found = manager.load("forced", library("xla_cpu_pjrt"), timeout_s=PATIENCE_S)
    assert found.state == "loaded"
    with manager.using("forced"):
        assert manager.where(jnp.arange(3) + 1) == "forced"
