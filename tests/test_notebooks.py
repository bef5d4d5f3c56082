"""Executes the notebooks in kernels of this environment, without a browser."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

LONGEST_RUN_S = 30

WRONG_CELL = """%%hlo wrong
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  %1 = stablehlo.add %0, %0 : tensor<3xf32>
  return %1 : tensor<4xf32>
}"""

EXCERPT = """
  cell:4:22
    %1 = stablehlo.add %0, %0 : tensor<3xf32>
                       ^^
  cell:3:3"""


class ThisPython(KernelManager):
    """Starts a kernel with the interpreter of the tests, whatever kernels are installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="Python 3",
            language="python",
        )


@contextmanager
def running_kernel(folder: Path) -> Iterator[ThisPython]:
    """A kernel that finds the package, works in the folder of the notebooks, knows no profile."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    kernel = ThisPython()
    kernel.start_kernel(
        cwd=str(ROOT / "notebooks"),
        env=os.environ | {"PYTHONPATH": path, "IPYTHONDIR": str(folder)},
    )
    try:
        yield kernel
    finally:
        kernel.shutdown_kernel(now=True)


def execute(notebook: NotebookNode, kernel: ThisPython) -> None:
    """Runs all cells; stops at one that fails, unless it is tagged `raises-exception`."""
    client = NotebookClient(notebook, km=kernel, timeout=60)
    try:
        client.execute()
    finally:
        client.kc.stop_channels()


@pytest.fixture
def kernel(tmp_path) -> Iterator[ThisPython]:
    with running_kernel(tmp_path) as kernel:
        yield kernel


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def committed(request) -> NotebookNode:
    """A notebook as it is in the repository."""
    return nbformat.read(request.param, as_version=nbformat.NO_CONVERT)


@pytest.fixture(scope="module")
def executed(committed, tmp_path_factory) -> NotebookNode:
    """The same with its outputs; `seconds` in its metadata says how long they took."""
    notebook = deepcopy(committed)
    began = time.perf_counter()
    with running_kernel(tmp_path_factory.mktemp("ipython")) as kernel:
        execute(notebook, kernel)
        notebook.metadata.seconds = time.perf_counter() - began
    return notebook


def test_there_is_a_tour():
    assert "tour" in [path.stem for path in NOTEBOOKS]


def test_notebook_is_committed_without_outputs(committed):
    nbformat.validate(committed)
    assert (committed.nbformat, committed.nbformat_minor) == (4, 5)
    assert committed.metadata.kernelspec.name == "python3"
    for cell in code_cells(committed):
        assert cell.outputs == [], cell.id
        assert cell.execution_count is None, cell.id


def test_notebook_runs_from_top_to_bottom_in_time(executed):
    assert executed.metadata.seconds < LONGEST_RUN_S


def test_only_cells_that_are_meant_to_fail_do(executed):
    for cell in code_cells(executed):
        is_meant_to_fail = "raises-exception" in cell.metadata.get("tags", [])
        assert bool(outputs(cell, "error")) == is_meant_to_fail, cell.id


def test_every_program_is_shown_as_a_picture_and_as_text(executed):
    programs = [cell for cell in code_cells(executed) if cell.source.startswith("%%hlo")]
    shown = [cell for cell in programs if not outputs(cell, "error")]
    assert shown
    for cell in shown:
        (display,) = outputs(cell, "display_data")
        assert display.data["image/svg+xml"].startswith("<svg"), cell.id
        assert display.data["text/plain"].startswith("session: "), cell.id
        assert "compiled for cpu" in display.data["text/plain"], cell.id


def test_wrong_cell_stops_the_notebook_and_points_into_itself(kernel):
    notebook = notebook_of("%load_ext kernel_magics", "y = 1", WRONG_CELL, "y = 2")
    with pytest.raises(CellExecutionError, match="ParseError"):
        execute(notebook, kernel)
    wrong, after = notebook.cells[2:]
    (error,) = wrong.outputs
    assert error.output_type == "error"
    assert error.ename == "ParseError"
    assert EXCERPT in error.evalue
    assert after.execution_count is None

    later = notebook_of("y")
    execute(later, kernel)
    (result,) = outputs(later.cells[0], "execute_result")
    assert result.data["text/plain"] == "1"


def notebook_of(*sources: str) -> NotebookNode:
    return new_notebook(cells=[new_code_cell(source) for source in sources])


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(cell, kind):
    return [output for output in cell.outputs if output.output_type == kind]
