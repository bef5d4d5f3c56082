"""What importing costs."""

import subprocess
import sys

from tests.benchmarks.harness import Row, median_s


def run() -> list[Row]:
    """Against `import jax` in a process of its own."""
    ours = median_s(lambda: import_in_a_process("kernel_magics"), runs=9)
    peer = median_s(lambda: import_in_a_process("jax"), runs=9)
    return [Row("import kernel_magics", ours, "import jax", peer, ours / peer, "<= 1.15")]


def import_in_a_process(name: str) -> None:
    """Starts Python and imports one package."""
    subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
