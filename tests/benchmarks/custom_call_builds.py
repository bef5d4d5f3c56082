"""Builds of handlers after an edit, and their first call in a child, against a plain compiler."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import jax

from kernel_magics.custom_call.build import build
from kernel_magics.custom_call.trial import try_handler
from tests.benchmarks.harness import RUNS, Row, median_s
from tests.custom_call.builds import BODY, RMS

_HEAD = '#include <cmath>\n#include "xla/ffi/api/ffi.h"\nnamespace ffi = xla::ffi;\n'
_INTERPRETER = "import jax; jax.jit(lambda x: x + 1)(1.0)"


def run() -> list[Row]:
    """Each build is of a source that nobody has seen."""
    if shutil.which("g++") is None or shutil.which("gcc") is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("KERNEL_MAGICS_CACHE")
        os.environ["KERNEL_MAGICS_CACHE"] = f"{folder}/cache"
        try:
            return _rows(Path(folder))
        finally:
            os.environ.pop("KERNEL_MAGICS_CACHE")
            if before is not None:
                os.environ["KERNEL_MAGICS_CACHE"] = before


def _rows(folder: Path) -> list[Row]:
    build(RMS, name="rms_norm")  # prepares the headers
    numbers = itertools.count()
    plain = _in_turns(
        lambda: build(f"{RMS}// {next(numbers)}", name="rms_norm"), lambda: _plain(folder)
    )
    body = median_s(lambda: build(f"{BODY}// {next(numbers)}", name="rms_norm"))
    in_c = median_s(lambda: build(f"{BODY}// {next(numbers)}", language="c", name="rms_norm"))
    made = build(BODY, language="c", name="rms_norm")
    again = median_s(lambda: build(BODY, language="c", name="rms_norm"))
    libraries = [
        build(BODY.replace("1e-6", f"{i + 1}e-6"), language="c", name="rms_norm")
        for i in range(RUNS)
    ]
    fresh = iter(libraries)
    trial = median_s(lambda: _try(next(fresh)))
    process = median_s(_python_with_jax, 3)
    assert made.library.symbols == ("rms_norm",)
    peer = "plain `g++ -O2`"
    return [
        Row("second build of an edited C++ cell", plain[0], peer, plain[1], plain[0] / plain[1], "0.5"),
        Row("the same as a body in C++", body, peer, plain[1], body / plain[1], "0.5"),
        Row("the same as a body in C", in_c, peer, plain[1], in_c / plain[1], "0.5"),
        Row("the same cell once more", again, peer, plain[1], again / plain[1], "0.5"),
        Row("trial of a new handler", trial, "a process with JAX", process, trial / process, "0.5"),
    ]  # fmt: skip


def _in_turns(ours: Callable[[], object], peer: Callable[[], object]) -> tuple[float, float]:
    """Medians, measured in turns: both meet the same noise."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(RUNS):
        for work, found in zip((ours, peer), times, strict=True):
            began = time.perf_counter()
            work()
            found.append(time.perf_counter() - began)
    return sorted(times[0])[RUNS // 2], sorted(times[1])[RUNS // 2]


def _plain(folder: Path) -> None:
    source = folder / "plain.cc"
    source.write_text(_HEAD + RMS)
    flags = ["-std=c++17", "-O2", "-fPIC", "-shared", "-w", "-I", jax.ffi.include_dir()]
    command = ["g++", *flags, str(source), "-o", str(folder / "plain.so")]
    subprocess.run(command, check=True)


def _try(made) -> None:
    assert try_handler(made.library, "rms_norm", made.unit.contract).state == "passed"


def _python_with_jax() -> None:
    subprocess.run([sys.executable, "-c", _INTERPRETER], check=True)
