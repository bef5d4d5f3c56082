"""What plugins cost: to find, to try, to switch to, and to call on."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.call.placement import set_check
from kernel_magics.plugin.discovery import discover
from kernel_magics.plugin.kernel import plugins
from kernel_magics.sandbox.kernel import end
from tests.benchmarks.harness import Row, interleaved_s, median_of_s, median_s
from tests.benchmarks.programs import SMALL

PACKAGES = 300
LINES = 200
PLUGINS = ("fastatomstruct_xla_cpu", "xla_cpu_pjrt")
"""Those of the `dev` extra; left out where they are not installed."""

START = """
import jax, sys
from jax._src import xla_bridge
jax.devices()
xla_bridge.register_plugin("peer", library_path=sys.argv[1])
xla_bridge.make_pjrt_c_api_client("peer")
"""


def run() -> list[Row]:
    """Finding against a target in milliseconds, the rest against plain JAX."""
    rows = [discovery()]
    known = [name for name in PLUGINS if name in [row.name for row in plugins.discover()]]
    rows += [probing(name) for name in known]
    for name in known:
        plugins.load(name)
    rows += [switching(name) for name in known]
    rows.append(calling())
    plugins.reset()
    return rows


def discovery() -> Row:
    """300 packages beside those that are installed."""
    import importlib.metadata

    with tempfile.TemporaryDirectory() as folder:
        for i in range(PACKAGES):
            info = Path(folder) / f"package{i}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Name: package{i}\nVersion: 1.0\n")
            lines = [f"package{i}/module{k}.py,sha256=abc,{k}" for k in range(LINES)]
            (info / "RECORD").write_text("\n".join([*lines, f"package{i}/_native.so,sha256=a,1"]))
            (info / "entry_points.txt").write_text("[console_scripts]\nx = y:z\n")
        paths = [folder, *sys.path]
        ours = median_s(lambda: discover(paths))
        began = time.process_time()
        discover(paths)
        cpu = f"{(time.process_time() - began) * 1e3:.0f} ms of CPU time"
        peer = median_s(
            lambda: [one.entry_points for one in importlib.metadata.distributions(path=paths)]
        )
    what = f"discovery, {PACKAGES} packages beside the installed ones"
    return Row(what, ours, "entry points of all of them", peer, ours / peer, f"{ours * 1e3:.0f} ms, {cpu}, < 100 ms")  # fmt: skip


def probing(name: str) -> Row:
    """The whole trial, against a process that imports JAX and makes a client of the plugin."""
    path = str(plugins.info(name).path)

    def ours() -> None:
        end()
        assert plugins.probe(name, timeout_s=600).state == "probed"

    def peer() -> None:
        subprocess.run([sys.executable, "-c", START, path], check=True, capture_output=True)

    trial, start = interleaved_s(ours, peer, calls=1, rounds=5)
    more = f"{(trial - start) * 1e3:+.0f} ms, <= +300 ms"
    return Row(f"trial of {name}", trial, "import jax, make its client", start, trial / start, more)


def switching(name: str) -> Row:
    """A switch, and the first call after it, against the call alone."""
    function = jax.jit(lambda x: x * 2 + 1)
    arrays = {one: plugins.move(np.ones(8, np.float32), one) for one in (name, "cpu")}
    for one, array in arrays.items():
        with plugins.using(one):
            function(array)

    def switch() -> float:
        began = time.perf_counter()
        plugins.use(name)
        function(arrays[name]).block_until_ready()
        seconds = time.perf_counter() - began
        plugins.use("cpu")
        function(arrays["cpu"]).block_until_ready()
        return seconds

    ours = median_of_s(switch, runs=25)
    peer = median_s(lambda: function(arrays["cpu"]).block_until_ready(), runs=25)
    return Row(f"switch to {name} and call", ours, "the call alone", peer, ours / peer, f"{ours * 1e3:.2f} ms, < 50 ms")  # fmt: skip


def calling() -> Row:
    """An eager call after a switch, against one before any plugin was used."""
    x = jnp.ones((128, 128), np.float32)
    function = km.Session().load(SMALL)
    check = plugins._placement.check
    function(x)

    def call() -> None:
        function(x)

    times: list[tuple[float, float]] = []
    for _ in range(25):
        set_check(None)
        without = timed_s(call)
        set_check(check)
        times.append((timed_s(call), without))
    found, plain = (sorted(column)[len(times) // 2] for column in zip(*times, strict=True))
    return Row("eager call of a cell's function, plugins in use", found, "the same before", plain, found / plain, "<= 1.05")  # fmt: skip


def timed_s(work, calls: int = 500) -> float:
    """One call of many."""
    began = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - began) / calls
