"""The table of all rules: names of ops to the functions that turn them into `jax.lax`."""

from collections.abc import Callable

from kernel_magics.call.replay.chlo import CHLO
from kernel_magics.call.replay.collectives import COLLECTIVES
from kernel_magics.call.replay.contraction import CONTRACTION
from kernel_magics.call.replay.control import CONTROL
from kernel_magics.call.replay.conversion import CONVERSION
from kernel_magics.call.replay.custom_calls import CUSTOM_CALLS
from kernel_magics.call.replay.dynamic import DYNAMIC
from kernel_magics.call.replay.elementwise import ELEMENTWISE
from kernel_magics.call.replay.gathers import GATHERS
from kernel_magics.call.replay.linear_algebra import LINEAR_ALGEBRA
from kernel_magics.call.replay.loops import LOOPS
from kernel_magics.call.replay.normalization import NORMALIZATION
from kernel_magics.call.replay.operation import Op, Run
from kernel_magics.call.replay.ragged import RAGGED
from kernel_magics.call.replay.random_bits import RANDOM_BITS
from kernel_magics.call.replay.reductions import REDUCTIONS
from kernel_magics.call.replay.scatters import SCATTERS
from kernel_magics.call.replay.shapes import SHAPES
from kernel_magics.call.replay.sorting import SORTING
from kernel_magics.call.replay.windows import WINDOWS

RULES: dict[str, Callable[[Op], Run]] = {
    **CHLO,
    **COLLECTIVES,
    **CONTRACTION,
    **CONTROL,
    **CONVERSION,
    **CUSTOM_CALLS,
    **DYNAMIC,
    **ELEMENTWISE,
    **GATHERS,
    **LINEAR_ALGEBRA,
    **LOOPS,
    **NORMALIZATION,
    **RAGGED,
    **RANDOM_BITS,
    **REDUCTIONS,
    **SCATTERS,
    **SHAPES,
    **SORTING,
    **WINDOWS,
}
"""Ops of StableHLO, CHLO and MHLO without their dialect, which they share; others with it."""

_SHARED = ("stablehlo", "chlo", "mhlo")


def find_rule(name: str) -> Callable[[Op], Run] | None:
    """The rule of an op, by its name with the dialect."""
    dialect, _, bare = name.partition(".")
    return RULES.get(bare if dialect in _SHARED else name)
