"""XLA's refusal as an error of ours: its words, and the place in the user's text."""

import os
import re

from kernel_magics.call.program import Program
from kernel_magics.errors import CompileError

_VARIABLE = "PJRT_NAMES_AND_LIBRARY_PATHS"
_NOT_OPENED = re.compile(r"Failed to open (?P<path>\S+): ")
_UNKNOWN_OP = re.compile(r"failed to legalize operation 'vhlo\.|Failed to serialize StableHLO")
_TOO_YOUNG = (
    "These are XLA's own words: the plugin reads an older StableHLO, which has no form for this. "
    "`km.plugins.use(name)` takes another plugin."
)

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
    if (cannot_start := _environment_error(error)) is not None:
        return cannot_start
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
        advice=_TOO_YOUNG if _UNKNOWN_OP.search(str(error)) else "These are XLA's own words.",
    )


def _environment_error(error: Exception) -> CompileError | None:
    """JAX opens what its environment names at each first use, and fails at it whatever is asked."""
    found, named = _NOT_OPENED.search(str(error)), os.environ.get(_VARIABLE, "")
    if not found or found["path"] not in named:
        return None
    return CompileError(
        f"JAX cannot start: `{found['path']}` cannot be opened",
        details=[f"it stands in the environment variable {_VARIABLE}: {named}"],
        advice="`km.plugins.discover()` takes it out for this process; change the variable for "
        "others.",
    )
