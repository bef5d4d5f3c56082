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
REFUSED = """func.func @main(%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %n: tensor<3xi32>) -> tensor<11x7xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %n) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [],
      rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return %0 : tensor<11x7xf32>
}"""
"""XLA takes it, and has no code for it on a CPU."""

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
