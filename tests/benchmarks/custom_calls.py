"""Calls through a trampoline against a handler that is registered directly; Python handlers."""

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kernel_magics.custom_call.callback import callback
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.python_handler import python_handler
from kernel_magics.custom_call.registry import CustomCallRegistry
from tests.benchmarks.harness import Row, interleaved_s

CALLS = 10_000
# A handler with about a microsecond of work: it sums the same numbers again and again.
SOURCE = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "xla/ffi/api/c_api.h"
XLA_FFI_Error* work(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata* metadata = ((XLA_FFI_Metadata_Extension*)frame->extension_start)->metadata;
    metadata->api_version.major_version = 0;
    metadata->api_version.minor_version = 1;
    return 0;
  }
  XLA_FFI_Buffer* from = frame->args.args[0];
  XLA_FFI_Buffer* to = frame->rets.rets[0];
  const float* x = from->data;
  volatile float sum = 0;
  for (int i = 0; i < 320; i++) sum += x[i & 15];
  for (int i = 0; i < 16; i++) ((float*)to->data)[i] = sum;
  return 0;
}
void repeat(XLA_FFI_Handler* handler, XLA_FFI_CallFrame* frame, int64_t count) {
  for (int64_t i = 0; i < count; i++) handler(frame);
}
"""


def run() -> list[Row]:
    rows: list[Row] = []
    registry = CustomCallRegistry()
    if shutil.which("gcc") is not None:
        rows += _trampolines(registry)
    rows += _python(registry)
    registry.reset()
    return rows


def _trampolines(registry: CustomCallRegistry) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "work.c", Path(folder) / "work.so"
        source.write_text(SOURCE)
        include = jax.ffi.include_dir()
        command = ["gcc", "-O2", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(made)]
        subprocess.run(command, check=True)
        library = ctypes.CDLL(str(made))
    address = ctypes.cast(library["work"], ctypes.c_void_p).value
    assert address
    jax.ffi.register_ffi_target("bench.direct", jax.ffi.pycapsule(address))
    code = Handler("work", "native", address, "bench", "benchmark", library)
    registry.register("bench.behind", handler=code, trial=False)
    x = jax.numpy.arange(16, dtype="f4")
    ours, peer = _within_one_program("bench.behind", x), _within_one_program("bench.direct", x)
    inside = _fastest_s(lambda: ours(x), lambda: peer(x))
    behind, direct = _jitted("bench.behind"), _jitted("bench.direct")
    outside = _fastest_s(lambda: _drain(behind, x), lambda: _drain(direct, x))
    return [
        Row(
            f"{CALLS:,} calls of 1 µs within one program, through a trampoline",
            inside[0],
            "handler registered directly",
            inside[1],
            inside[0] / inside[1],
            "≤ 1.05",
        ),
        Row(
            f"{CALLS:,} calls of a compiled function, through a trampoline",
            outside[0],
            "handler registered directly",
            outside[1],
            outside[0] / outside[1],
            "≤ 1.05",
        ),
    ]


def _fastest_s(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[float, float]:
    """The fastest run of each, in turns: what others do on the machine only ever adds."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(31):
        for work, found in zip((ours, peer), times, strict=True):
            began = time.perf_counter()
            jax.block_until_ready(work())
            found.append(time.perf_counter() - began)
    return min(times[0]), min(times[1])


def _within_one_program(target: str, x: Any) -> Callable[..., Any]:
    kind = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def loop(x: Any) -> Any:
        return jax.lax.fori_loop(0, CALLS, lambda _, c: jax.ffi.ffi_call(target, kind)(c), x)

    function = jax.jit(loop)
    jax.block_until_ready(function(x))
    return function


def _jitted(target: str) -> Callable[..., Any]:
    def call(x: Any) -> Any:
        return jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    return jax.jit(call)


def _drain(function: Callable[..., Any], x: Any) -> Any:
    for _ in range(CALLS):
        x = function(x)
    return x


def _python(registry: CustomCallRegistry) -> list[Row]:
    x = jax.numpy.arange(1000, dtype="f4")
    kind = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def work(values: Any) -> Any:
        return 2 * np.asarray(values)

    registry.register("bench.python", handler=python_handler(work))
    target = jax.jit(lambda x: registry.call("bench.python", x, results=kind))
    ours = jax.jit(lambda x: callback(work, kind, x, registry=registry))
    peer = jax.jit(lambda x: jax.pure_callback(work, kind, x))
    rows: list[Row] = []
    for what, function in (("a Python handler", target), ("`km.callback`", ours)):
        jax.block_until_ready((function(x), peer(x)))
        found = interleaved_s(lambda: jax.block_until_ready(function(x)), lambda: jax.block_until_ready(peer(x)), 200)  # fmt: skip  # noqa: B023
        row = Row(f"{what}, 1,000 floats", found[0], "`jax.pure_callback`", found[1], found[0] / found[1], "≤ 0.6")  # fmt: skip
        rows.append(row)
    return rows
