"""Notebooks that become pages show pictures and words: a page has no kernel and no network."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kernel_magics.widgets.pages import names_converter

NEGATE = """%%hlo x
module {
  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %r = stablehlo.negate %x : tensor<3xf32>
    return %r : tensor<3xf32>
  }
}
"""


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        (["python", "/v/bin/jupyter-nbconvert", "--to", "html"], True),
        (["python3", "-m", "nbconvert", "--execute"], True),
        (["/v/bin/python", "/v/bin/jupyter-execute", "a.ipynb"], True),
        (["python", "-m", "papermill", "a.ipynb"], True),
        (["python", "/v/bin/jupyter-lab", "nbconvert.ipynb"], False),
        (["python", "-m", "jupyterlab", "--port=1", "--notebook-dir", "nbconvert"], False),
        ([], False),
    ],
)
def test_programs_that_make_pages_are_known_by_their_names(command, is_one):
    assert names_converter(command) is is_one


def test_a_notebook_that_is_run_and_converted_shows_the_graph(tmp_path):
    cells = ["%load_ext kernel_magics", NEGATE, "import kernel_magics as km\nkm.control_panel()"]
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{number}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
            for number, source in enumerate(cells)
        ],
    }
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps(notebook))
    root = str(Path(__file__).parents[1])
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", path],
        env={**os.environ, "PYTHONPATH": root, "IPYTHONDIR": str(tmp_path / "ipython")},
        check=True,
        capture_output=True,
    )
    page = path.with_suffix(".html").read_text()
    (picture,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert b"@main" in base64.b64decode(picture)
    assert '<script type="application/vnd.jupyter.widget-view+json">' not in page
    assert "no custom calls are registered" in page
