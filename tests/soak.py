"""Runs thousands of `%%hlo` cells in one shell and looks at what is left of them.

`python -m tests.soak [--count N]` prints memory, contexts, threads and child processes after the
first tenth and after all, each time with every unit dropped. Fails when memory has grown by more
than a tenth in between, or anything else is left.
"""

import argparse
import gc
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from jax.extend.mlir import ir

import kernel_magics as km

GROWTH = 1.1
LIVE = 50
"""Units that are there at a time."""


@dataclass(frozen=True)
class Level:
    """What a process holds."""

    memory_bytes: int
    contexts: int
    threads: int
    children: int

    def __str__(self) -> str:
        return (
            f"{self.memory_bytes / 2**20:,.0f} MiB, {self.contexts} contexts, "
            f"{self.threads} threads, {self.children} children"
        )


def level() -> Level:
    """What this process holds now; Linux only."""
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    get_live: int = ir.Context._get_live_count()
    return Level(
        int(status["VmRSS"].split()[0]) * 1024, get_live, threading.active_count(), len(children)
    )


def cell(number: int) -> str:
    """A cell of new content: constants, shapes and names of its own, and a helper."""
    size = 2 + number % 97
    return f"""%%hlo unit{number % LIVE} --show nothing
func.func @main{number}(%x: tensor<{size}xf32>) -> tensor<{size}xf32> {{
  %c = stablehlo.constant dense<{number}.5> : tensor<{size}xf32>
  %0 = stablehlo.add %x, %c : tensor<{size}xf32>
  %1 = call @helper(%0) : (tensor<{size}xf32>) -> tensor<{size}xf32>
  return %1 : tensor<{size}xf32>
}}
func.func private @helper(%x: tensor<{size}xf32>) -> tensor<{size}xf32> {{
  %c = stablehlo.constant dense<{number}.25> : tensor<{size}xf32>
  %0 = stablehlo.multiply %x, %c : tensor<{size}xf32>
  return %0 : tensor<{size}xf32>
}}"""


def soak(shell: InteractiveShell, first: int, count: int) -> Level:
    """Runs cells, drops what they defined, and forgets the variables they bound."""
    for number in range(first, first + count):
        with capture_output():
            shell.run_cell(cell(number)).raise_error()
        shell.user_ns.pop(f"main{number - LIVE}", None)
    for name in list(km.session.units):
        km.session.drop(name)
    for name in [name for name in shell.user_ns if name.startswith(("main", "unit"))]:
        del shell.user_ns[name]
    return level()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    count = parser.parse_args().count
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "kernel_magics")
    early = soak(shell, 0, count // 10)
    print(f"after {count // 10:,} cells: {early}", flush=True)
    late = soak(shell, count // 10, count - count // 10)
    print(f"after {count:,} cells: {late}")
    growth = late.memory_bytes / early.memory_bytes
    same = (late.contexts, late.threads, late.children) == (
        early.contexts,
        early.threads,
        early.children,
    )
    print(
        f"memory {growth:.3f} times; {'nothing else is left' if same else 'SOMETHING ELSE IS LEFT'}"
    )
    return 0 if growth <= GROWTH and same else 1


if __name__ == "__main__":
    sys.exit(main())
