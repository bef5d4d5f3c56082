"""Whether a notebook is run to become a page, with nobody there to whom widgets can be shown."""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

_PARENT = "JPY_PARENT_PID"
_PROGRAMS = frozenset(
    {"jupyter-execute", "jupyter-nbconvert", "nbclient", "nbconvert", "papermill"}
)
_LOOKED_AT = 4
"""Words of a command line: Python, its options, the program."""


@cache
def becomes_a_page() -> bool:
    """Whether nbconvert or its like runs this kernel.

    They keep the state of widgets, and pages prefer a widget with a state to any picture beside
    it: such a page asks the network for code, and shows nothing where it gets none.
    """
    return names_converter(_command_line(os.environ.get(_PARENT, "")))


def names_converter(command: list[str]) -> bool:
    """Whether a command line is that of a program that runs notebooks for pages."""
    return any(Path(word).name in _PROGRAMS for word in command[:_LOOKED_AT])


def _command_line(process: str) -> list[str]:
    with suppress(ImportError, ValueError):
        import psutil  # noqa: PLC0415 - comes with ipykernel, and is asked for there alone

        with suppress(psutil.Error, OSError):
            return psutil.Process(int(process)).cmdline()
    return []
