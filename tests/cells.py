"""Cells run in a shell, for the tests of the magics."""

import numpy as np
import pytest
from IPython.utils.capture import capture_output

import kernel_magics as km

DOUBLE = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
X = np.arange(3, dtype=np.float32)


def run(shell, code, **options):
    """Runs a cell; returns its value and what it printed, or raises what it raised."""
    with capture_output() as captured:
        result = shell.run_cell(code, **options)
    result.raise_error()
    return result.result, captured


def refused(shell, code, error) -> str:
    """The message of a cell that fails, and leaves session and namespace as they were."""
    before = km.session.module_text(), list(km.session.units), set(shell.user_ns)
    with pytest.raises(error) as caught:
        run(shell, code)
    assert (km.session.module_text(), list(km.session.units)) == before[:2]
    assert set(shell.user_ns) - before[2] <= {"_", "__", "___"}
    return str(caught.value)
