"""Lines of a program as lines of Python: what JAX says about an operation names the op's line."""

from pathlib import Path
from types import FunctionType

from jax.extend import source_info_util

from kernel_magics.call.replay.blocks import Caller
from kernel_magics.ir.source import Source

# JAX takes the innermost frame that is not its own for the source of an operation.
source_info_util.register_exclusion(str(Path(__file__).parent))

_call: Caller = lambda run, operands: run(*operands)  # noqa: E731 - one line, whose number is set


def caller_at(source: Source, function: str, line: int) -> Caller:
    """A function that calls another, in a frame at a line of a program.

    Args:
        source: The program.
        function: The function of it that the line is in, without `@`.
        line: From 1; 0 where the line is not known: then the user's own call is the source.
    """
    if line == 0:
        return _call
    assert isinstance(_call, FunctionType)
    code = _call.__code__.replace(
        co_filename=source.name,
        co_firstlineno=line + source.first_line - 1,
        co_name=function,
        co_qualname=function,
    )
    return FunctionType(code, {})
