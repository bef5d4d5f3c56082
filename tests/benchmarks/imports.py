"""What importing costs."""

import subprocess
import sys

from tests.benchmarks.harness import Row, interleaved_s


def run() -> list[Row]:
    """Against `import jax`, each in processes of its own, in turns."""
    ours, peer = interleaved_s(lambda: start("kernel_magics"), lambda: start("jax"), calls=1)
    return [Row("import kernel_magics", ours, "import jax", peer, ours / peer, "<= 1.15")]


def start(name: str) -> None:
    """Starts Python and imports one package."""
    subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
