"""MLIR as a language you can use in a notebook.

A cell of StableHLO becomes JAX functions; the functions of all cells live in one linked module.
"""

from kernel_magics import errors
from kernel_magics.call.function import HloFunction, hlo_call

__all__ = ["HloFunction", "errors", "hlo_call"]
