"""What a `%%hlo` cell takes apart from XLA's compile and the layout engine, widget included."""

import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.testing.globalipapp import start_ipython

import kernel_magics as km
from kernel_magics.compile.background import Job
from kernel_magics.graph import layout
from tests.benchmarks.harness import Row, median_of_s
from tests.benchmarks.programs import TEN_LINES


def run() -> list[Row]:
    """Printed; the aim is below 30 ms."""
    shell = InteractiveShell.instance() if InteractiveShell.initialized() else start_ipython()
    assert shell is not None
    # What a shell of a notebook has: with it, a cell shows an inspector and all static forms.
    shell.kernel = None
    shell.run_line_magic("load_ext", "kernel_magics")
    number = iter(range(1000))
    spent = median_of_s(lambda: own_time_s(shell, next(number)), runs=15)
    shell.run_line_magic("unload_ext", "kernel_magics")
    del shell.kernel
    return [
        Row(
            "%%hlo of ten lines, without compile and layout",
            spent,
            "aim",
            0.03,
            spent / 0.03,
            "<= 1",
        )
    ]


def own_time_s(shell: Any, number: int) -> float:
    """One cell that was not seen before, less what XLA and Graphviz took of it."""
    others: list[float] = []
    wait, lay_out = Job.wait, layout.lay_out_with_graphviz
    Job.wait = timed(wait, others)
    layout.lay_out_with_graphviz = timed(lay_out, others)
    km.session.reset()
    cell = TEN_LINES.replace("tensor<8x", f"tensor<{number + 8}x")
    try:
        with redirect_stdout(StringIO()):
            began = time.perf_counter()
            shell.run_cell(f"%%hlo cell\n{cell}").raise_error()
            return time.perf_counter() - began - sum(others)
    finally:
        Job.wait, layout.lay_out_with_graphviz = wait, lay_out


def timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    """The function, with its time noted."""

    def run_timed(*args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*args, **options)
        finally:
            spent.append(time.perf_counter() - began)

    return run_timed
