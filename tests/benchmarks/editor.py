"""Completion and explanation in a long cell, beside what IPython does with Python of that length."""

from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.testing.globalipapp import start_ipython

import kernel_magics as km
from kernel_magics.magics.editor.completion import complete
from kernel_magics.magics.editor.hover import meaning
from tests.benchmarks.harness import Row, median_s

LINES = 1000
AIM_S = 0.05

_HEAD = "%%hlo\nfunc.func @main(%v: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"


def run() -> list[Row]:
    """Printed; the aim is below 50 ms."""
    shell = InteractiveShell.instance() if InteractiveShell.initialized() else start_ipython()
    assert shell is not None
    number = iter(range(10_000))

    def cell() -> str:
        """Another one each time: a scan is remembered."""
        ops = (
            f"  %v{i} = stablehlo.add %v, %v : tensor<4x8xf32> // it's {i}" for i in range(LINES)
        )
        return _HEAD + "\n".join(ops) + f"\n  // {next(number)}\n  %y = stablehlo.abs %v"

    def ask() -> None:
        text = cell()
        complete(text, len(text), km.session)

    def explain() -> None:
        text = cell()
        meaning(text, len(text), km.session)

    def python() -> None:
        lines = "\n".join(f"v{i} = 1 + {i} # it's" for i in range(LINES))
        text = f"{lines}\n# {next(number)}\nv"
        with provisionalcompleter():
            list(shell.Completer.completions(text, len(text)))

    peer = median_s(python)
    return [
        Row(
            f"{what} of {LINES:,} lines",
            ours,
            "IPython, Python of that length",
            peer,
            peer / ours,
            ">= 1",
        )
        for what, ours in (
            ("completion in a cell", median_s(ask)),
            ("meaning in a cell", median_s(explain)),
        )
    ] + [Row("completion in a cell", median_s(ask), "aim", AIM_S, median_s(ask) / AIM_S, "<= 1")]
