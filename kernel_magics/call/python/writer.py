"""A program as Python source that runs by itself and gives the same values."""

from collections.abc import Sequence

import jax

from kernel_magics.call.program import Program, parsed
from kernel_magics.call.python.functions import write_function
from kernel_magics.call.python.module import Module
from kernel_magics.call.python.operand import Unwritten
from kernel_magics.call.python.structured import STRUCTURED
from kernel_magics.call.replay.replay import make_jaxpr, works_in_64_bits
from kernel_magics.errors import PreflightError
from kernel_magics.ir.signature import read_signature

_PRECISION = """
# It works in 64 bits.
jax.config.update("jax_enable_x64", True)
"""


def to_python(program: Program) -> str:
    """The program as source of `jax.lax` and `jax.numpy`.

    Args:
        program: The function.

    Returns:
        A file: one Python function for each function that the entry uses, under its name. It
        needs JAX and NumPy alone. The entry takes arrays of the dtypes that its signature has,
        and gives a tuple.

    Raises:
        PreflightError: Ops of it have no form in JAX or as source, or its shapes are known at a
            call only.
    """
    with jax.enable_x64(works_in_64_bits(program)):
        closed = make_jaxpr(program)
        module = Module(_ArgumentNames(program), STRUCTURED)
        if works_in_64_bits(program):
            module.prepare(_PRECISION)
        try:
            write_function(module, closed, program.entry, is_entry=True)
        except Unwritten as reason:
            raise PreflightError(
                f"`@{program.entry}` has no form as source: {reason}",
                advice="`km.to_jax` gives it as a function of JAX.",
            ) from None
    return module.text(f'"""`@{program.entry}` as JAX, written by Kernel Magics."""')


class _ArgumentNames:
    """Knows the names that the program's text has for the arguments of its functions."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def __call__(self, function: str, count: int) -> Sequence[str]:
        """One name for each argument."""
        op = parsed(self._program.source).index.by_name.get(function)
        found: list[str] = []
        if op is not None and op.operation.name == "func.func":
            found = [a.name for a in read_signature(op, self._program.source).arguments]
        if len(found) != count:
            found = [""] * count
        return [name or f"x{i}" for i, name in enumerate(found)]
