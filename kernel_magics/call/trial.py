"""Compiles are tried in the child first, where nothing proves that the kernel survives them."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from kernel_magics.call.program import Program
from kernel_magics.call.sandboxed import try_compile
from kernel_magics.errors import SandboxError
from kernel_magics.sandbox.policy import policy
from kernel_magics.sandbox.process import is_child

_REMEMBERED = 1024
_survived: OrderedDict[tuple[Any, ...], None] = OrderedDict()


def ensure_survivable(program: Program, avals: Sequence[Any], doubts: Sequence[str]) -> None:
    """Has a program compiled in the child, unless it is safe; each program and shape once.

    Args:
        program: The function.
        avals: What has shape and dtype of each argument, no dimension symbolic.
        doubts: Excerpts of the text that show what is not proven; none where it is safe.

    Raises:
        SandboxError: It ended the child, or took too long; says where the doubts are.
    """
    rule = policy()
    if is_child() or rule.when == "never" or (rule.when == "auto" and not doubts):
        return
    if is_tried(program, avals):
        return
    try:
        # What XLA refuses in words, it refuses here in the same words.
        try_compile(program, avals, timeout_s=rule.timeout_s)
    except SandboxError as error:
        error.where = (*error.where, *doubts)
        raise
    _survived[_key(program, avals)] = None
    if len(_survived) > _REMEMBERED:
        _survived.popitem(last=False)


def is_tried(program: Program, avals: Sequence[Any]) -> bool:
    """Whether a child has compiled a program for these arguments, and lived."""
    return _key(program, avals) in _survived


def _key(program: Program, avals: Sequence[Any]) -> tuple[Any, ...]:
    return (program.key, *((tuple(aval.shape), str(aval.dtype)) for aval in avals))
