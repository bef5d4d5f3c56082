"""Executes the notebooks in kernels of this environment, without a browser."""

import os
import sys
import time
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

LONGEST_RUN_S = 30

WRONG_CELL = """%%hlo wrong
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<3xf32>
  return %0 : tensor<4xf32>
}"""


class ThisPython(AsyncKernelManager):
    """Starts kernels with the interpreter of the tests, whatever kernels are installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="Python 3", language="python")


@pytest.fixture
def execute(tmp_path):
    """Executes a notebook in place, in the folder of the notebooks and with a fresh profile."""

    def run(notebook):
        client = NotebookClient(
            notebook,
            timeout=60,
            kernel_manager_class=ThisPython,
            resources={"metadata": {"path": str(ROOT / "notebooks")}},
        )
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return client.execute(
            env=os.environ | {"PYTHONPATH": path, "IPYTHONDIR": str(tmp_path / "ipython")}
        )

    return run


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def committed(request) -> nbformat.NotebookNode:
    """A notebook as it is in the repository."""
    return nbformat.read(request.param, as_version=nbformat.NO_CONVERT)


def test_there_is_a_tour():
    assert "tour" in [path.stem for path in NOTEBOOKS]


def test_notebook_is_committed_without_outputs(committed):
    nbformat.validate(committed)
    assert (committed.nbformat, committed.nbformat_minor) == (4, 5)
    assert committed.metadata.kernelspec.name == "python3"
    for cell in code_cells(committed):
        assert cell.outputs == [], cell.id
        assert cell.execution_count is None, cell.id


def test_notebook_runs_from_top_to_bottom(committed, execute):
    began = time.perf_counter()
    execute(committed)
    assert time.perf_counter() - began < LONGEST_RUN_S
    for cell in code_cells(committed):
        may_fail = "raises-exception" in cell.metadata.get("tags", [])
        assert bool(outputs(cell, "error")) == may_fail, cell.id


def test_every_program_of_a_notebook_is_shown_as_a_picture_and_as_text(committed, execute):
    execute(committed)
    programs = [cell for cell in code_cells(committed) if cell.source.startswith("%%hlo")]
    shown = [cell for cell in programs if not outputs(cell, "error")]
    assert shown
    for cell in shown:
        (display,) = outputs(cell, "display_data")
        assert display.data["image/svg+xml"].lstrip().startswith("<svg"), cell.id
        assert "session: " in display.data["text/plain"], cell.id
        assert "compiled for cpu" in display.data["text/plain"], cell.id


def test_wrong_cell_stops_run_all_and_points_into_itself(execute):
    sources = ["%load_ext kernel_magics", "y = 1", WRONG_CELL, "y = 2"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    with pytest.raises(CellExecutionError, match="ParseError"):
        execute(notebook)
    failed = notebook.cells[2]
    assert [output.output_type for output in failed.outputs] == ["error"]
    (error,) = failed.outputs
    assert error.ename == "ParseError"
    assert "cell:3:23" in error.evalue
    assert "expects different type than prior uses" in error.evalue
    assert notebook.cells[3].execution_count is None


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(cell, kind):
    return [output for output in cell.outputs if output.output_type == kind]
