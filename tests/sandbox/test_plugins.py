"""Device plugins are loaded in the child first."""

import importlib.metadata
import shutil
import subprocess
from pathlib import Path

import pytest

from kernel_magics.errors import SandboxError
from kernel_magics.sandbox.messages import MessageError
from kernel_magics.sandbox.plugins import Plugin, plugin_facts
from kernel_magics.sandbox.process import Answer, Refusal
from tests.sandbox.processes import PATIENCE_S

CRASHES = "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }"
HANGS = "#include <unistd.h>\nconst void* GetPjrtApi(void) { for (;;) pause(); }"
# As large as a real one and of version 0.90, without a single function.
ZEROES = """static struct { long size; void* extension; long version_size; void* more; int major, minor; } api
    = {1144, 0, 24, 0, 0, 90};
static char room[4096];
#include <string.h>
const void* GetPjrtApi(void) { memcpy(room, &api, sizeof api); return room; }"""


@pytest.fixture(scope="module")
def real() -> Path:
    try:
        found = importlib.metadata.distribution("xla-cpu-pjrt")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package xla-cpu-pjrt, a plugin to try, is not installed")
    return Path(str(found.locate_file("xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so")))


@pytest.fixture
def probe(shared):
    def do(path, options=None, timeout_s=PATIENCE_S, name="another_cpu"):
        plugin = Plugin(name, path, options or {})
        return shared.request("probe_plugin", *plugin.message(), timeout_s=timeout_s)

    return do


def build(path: Path, text: str) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to build plugins with")
    source = path / "plugin.c"
    source.write_text(text)
    subprocess.run(
        [compiler, "-shared", "-fPIC", str(source), "-o", str(path / "plugin.so")], check=True
    )
    return path / "plugin.so"


@pytest.mark.parametrize("platforms", [None, "cpu"])
def test_a_plugin_says_what_it_has(shared, probe, real, monkeypatch, platforms):
    if platforms:
        monkeypatch.setenv("JAX_PLATFORMS", platforms)
    found = probe(real, {"cpu_device_count": 3})
    assert isinstance(found, Answer), found
    facts = plugin_facts(found)
    assert facts.platform == "cpu"
    assert facts.pjrt_version == (0, 81)
    assert facts.stablehlo_version == (1, 13, 3)
    assert [device.id for device in facts.devices] == [0, 1, 2]
    assert {(device.kind, device.memory_bytes) for device in facts.devices} == {("cpu", None)}
    assert shared.pid is None


def test_plugins_that_are_none_are_refused(probe, tmp_path):
    found = probe(tmp_path / "nosuch.so")
    assert isinstance(found, Refusal)
    assert "nosuch.so: cannot open shared object file" in found.text
    found = probe(build(tmp_path, "int x;"))
    assert isinstance(found, Refusal)
    assert "GetPjrtApi not found" in found.text


def test_names_that_are_taken_are_refused(probe, real):
    assert isinstance(probe(real, name="cpu"), Refusal)


@pytest.mark.parametrize(("text", "name"), [(CRASHES, "SIGABRT"), (ZEROES, "SIGSEGV")])
def test_plugins_that_crash_end_the_child_alone(probe, tmp_path, text, name):
    with pytest.raises(SandboxError) as error:
        probe(build(tmp_path, text))
    assert (error.value.kind, error.value.signal) == ("probe_plugin", name)
    assert error.value.what.startswith(f"Trying the plugin ended the child process: {name} after")


def test_plugins_that_hang_are_ended_in_time(probe, tmp_path):
    with pytest.raises(SandboxError) as error:
        probe(build(tmp_path, HANGS), timeout_s=3)
    assert error.value.is_timeout


@pytest.mark.parametrize(
    "head",
    [
        {},
        {
            "platform": "cpu",
            "platform_version": "",
            "pjrt_version": [1],
            "stablehlo_version": None,
            "devices": [],
        },
        {
            "platform": "",
            "platform_version": "",
            "pjrt_version": None,
            "stablehlo_version": None,
            "devices": [{}],
        },
    ],
)
def test_answers_that_are_not_whole_are_errors(head):
    with pytest.raises(MessageError, match="The answer of a plugin's trial is not whole"):
        plugin_facts(Answer(head, (), 0.1))
