"""XLA's refusal as an error of ours: its words, and the place in the user's text."""

import re

from kernel_magics.call.program import Program
from kernel_magics.errors import CompileError

SHOWN = 8
"""Lines of XLA's words in a message."""

# `-:3:10: error: …`: text is parsed under the file name `-`.
_PLACED = re.compile(r"(?:^|\s)-:(\d+):(\d+): error: (.*)")
_NOISE = ("Python Code Location", "File: -", "note: see current operation")


_STATUS = re.compile(r"[A-Z]+(_[A-Z]+)*: ")


def is_of_xla(error: ValueError) -> bool:
    """Whether an error is XLA's: from a compiled function it comes as this type, with a code."""
    return type(error) is ValueError and _STATUS.match(str(error)) is not None


def compile_error(program: Program, error: Exception) -> CompileError:
    """What to raise when XLA refuses a program, or fails while it runs."""
    lines = [line.rstrip() for line in str(error).split("\n") if line.strip()]
    lines = [line for line in lines if not any(noise in line for noise in _NOISE)]
    placed = [found for line in lines if (found := _PLACED.search(line))]
    text = isinstance(program.source.content, str)
    where = [
        program.source.excerpt(int(found[1]), int(found[2]), found[3])
        for found in (placed if text else [])
    ]
    words = [line for line in lines if not (text and _PLACED.search(line))]
    # A compiled function is called by JAX's C++, which raises this type.
    has_run = isinstance(error, ValueError)
    return CompileError(
        f"`@{program.entry}` failed while it ran" if has_run else f"XLA refused `@{program.entry}`",
        where=where,
        details=words[:SHOWN],
        advice="These are XLA's own words.",
    )
