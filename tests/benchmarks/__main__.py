"""`python -m tests.benchmarks [NAME…]` prints the tables of all benchmarks, or of some."""

import importlib
import platform
import sys
from pathlib import Path

import jax

from tests.benchmarks.harness import show

NAMES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if path.stem not in ("__main__", "harness", "programs")
)


def main(wanted: list[str]) -> None:
    unknown = set(wanted) - set(NAMES)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    print(
        f"Python {platform.python_version()}, JAX {jax.__version__}; medians; ratio as in the target"
    )
    for name in wanted or NAMES:
        show(importlib.import_module(f"tests.benchmarks.{name}").run())


if __name__ == "__main__":
    main(sys.argv[1:])
