"""Runs with a time limit: in the child process, for XLA cannot be stopped in this one."""

from collections.abc import Sequence
from typing import Any

import jax
from jax import numpy as jnp
from jax.core import ShapedArray

from kernel_magics.call.program import Program, parsed
from kernel_magics.call.sandboxed import run_results, try_run
from kernel_magics.call.scalars import cast_arguments
from kernel_magics.call.shapes import result_avals
from kernel_magics.errors import CompileError
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.loops import loops_without_evident_end
from kernel_magics.sandbox.process import Refusal


def endless_loops(program: Program) -> list[str]:
    """Where the loops of a program stand that nothing shows to end, as `cell:3:10`."""
    index = parsed(program.source).index
    places: list[str] = []
    for loop in loops_without_evident_end(index, program.entry):
        at = position(loop.location, program.source)
        places.append(program.source.place(*at) if at else program.source.name)
    for binding in program.bindings:
        places += endless_loops(binding.program)
    return list(dict.fromkeys(places))


_NO_HANDLER = "has no handler here any more"
"""What a call of a registered target says in the child."""


def run_limited(program: Program, args: Sequence[Any], limit_s: float) -> tuple[jax.Array, ...]:
    """Runs a program once in the child.

    Args:
        program: The function.
        args: Arrays or scalars, no tracers.
        limit_s: Seconds for compile and run.

    Raises:
        SignatureError: The arguments do not fit.
        SandboxError: It ended the child, or did not end in time.
        CompileError: XLA refused it, or it failed while running.
    """
    arrays = [jnp.asarray(arg) for arg in cast_arguments(program.signature, args)]
    result_avals(program, tuple(ShapedArray(array.shape, array.dtype) for array in arrays))
    outcome = try_run(program, arrays, timeout_s=limit_s)
    if isinstance(outcome, Refusal):
        if _NO_HANDLER in outcome.text:
            raise CompileError(
                f"`@{program.entry}` cannot run within a time limit",
                details=["it calls handlers of this kernel, and would run in a child process"],
                advice="Set `limit_s` to None.",
            )
        raise CompileError(f"XLA refused `@{program.entry}`", details=outcome.text.split("\n")[:8])
    return tuple(jnp.asarray(result) for result in run_results(outcome))
