"""What a trial in a child process costs."""

import subprocess
import sys
from itertools import count

import jax
from jax import numpy as jnp

from kernel_magics.call.primitive import compiled
from kernel_magics.call.program import read_program
from kernel_magics.call.sandboxed import try_compile
from kernel_magics.ir.source import Source
from kernel_magics.sandbox.kernel import end, kernel_sandbox
from kernel_magics.sandbox.process import Answer
from tests.benchmarks.harness import Row, interleaved_s

OPS = 100
TIMEOUT_S = 600


def run() -> list[Row]:
    """Against `import jax` in a process of its own, and against a compile in this one."""
    start, peer_start = interleaved_s(start_child, import_jax, calls=1, rounds=9)
    trial, here = interleaved_s(try_one, compile_one, calls=1, rounds=15)
    end()
    more = f"{(trial - here) * 1e3:+.1f} ms, <= +100 ms"
    return [
        Row("start of the child until it answers", start, "import jax", peer_start, start / peer_start, ""),
        Row(f"warm trial of {OPS} ops", trial, "lower and compile here", here, trial / here, more),
    ]  # fmt: skip


def start_child() -> None:
    """Starts a child and has it read the smallest program."""
    end()
    head = {"is_text": True, "name": "text", "first_line": 1}
    answer = kernel_sandbox().request("parse", head, [b"module {}"], timeout_s=TIMEOUT_S)
    assert isinstance(answer, Answer)


def import_jax() -> None:
    """Starts Python and imports JAX."""
    subprocess.run([sys.executable, "-c", "import jax"], check=True)


_numbers = count()


def new_program():
    """A program of so many ops that no cache has seen."""
    lines = [f"%0 = stablehlo.constant dense<{next(_numbers)}.0> : tensor<64x64xf32>"]
    for i in range(OPS - 1):
        op = ("add", "multiply", "subtract", "maximum")[i % 4]
        lines.append(f"%{i + 1} = stablehlo.{op} %{i}, %x : tensor<64x64xf32>")
    body = "\n  ".join([*lines, f"return %{OPS - 1} : tensor<64x64xf32>"])
    text = f"func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {{\n  {body}\n}}"
    return read_program(Source(text), "main")


AVAL = jax.ShapeDtypeStruct((64, 64), jnp.float32)


def try_one() -> None:
    """Compiles a new program in the child."""
    assert isinstance(try_compile(new_program(), [AVAL], timeout_s=TIMEOUT_S), Answer)


def compile_one() -> None:
    """Compiles a new program here."""
    compiled(new_program()).lower(AVAL).compile()
