"""What a process that died wrote to stderr: the last lines, and those that say why."""

import re
from collections import deque
from collections.abc import Sequence

MAX_LINES = 40
MAX_LINE_LENGTH = 500
SHOWN = 6

# How a process says that it must end: XLA's and TSL's checks, LLVM, the C++ and C libraries.
_FATAL = (
    re.compile(r"^F\d{4} \S.*?\] (?P<words>.+)"),
    re.compile(r"(?P<words>LLVM ERROR: .+)"),
    re.compile(r"(?P<words>.*Assertion .+ failed.*)"),
    re.compile(r"^\s*(?P<words>what\(\):.+)"),
    re.compile(r"(?P<words>terminate called .+)"),
    re.compile(r"^(?P<words>Critical nanobind error: .+)"),
    re.compile(r"^(?P<words>Fatal Python error: .+)"),
    re.compile(r"^(?P<words>(?:munmap_chunk|free|malloc|realloc|double free|corrupted|\*\*\*).+)"),
)
_NOISE = re.compile(r"^(WARNING: All log messages before|[IW]\d{4} |\s*@\s+0x|#\d+ 0x|\s*$)")


BEGIN = "kernel_magics: the next request"
"""A line that the child writes before each: what stands before it is of others."""


class Tail:
    """The end of a stream of bytes, as lines; its memory is bounded."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._open = b""

    def add(self, content: bytes) -> None:
        """Takes more of the stream."""
        *lines, rest = (self._open + content).split(b"\n")
        if BEGIN.encode() in lines:
            self._lines.clear()
            lines = lines[len(lines) - lines[::-1].index(BEGIN.encode()) :]
        self._lines.extend(_cut(line) for line in lines[-MAX_LINES:])
        self._open = rest[: MAX_LINE_LENGTH * 4]

    def clear(self) -> None:
        """Forgets what was written so far."""
        self._lines.clear()
        self._open = b""

    def lines(self) -> tuple[str, ...]:
        """The last lines, oldest first, empty ones left out."""
        found = [*self._lines, _cut(self._open)]
        return tuple(line for line in found if line.strip())


def suspect(lines: Sequence[str]) -> str:
    """The words of XLA or the C library on why the process must end; empty without any."""
    for pattern in _FATAL:
        for line in lines:
            if found := pattern.search(line):
                return found["words"].strip()
    return ""


def meaningful(lines: Sequence[str]) -> list[str]:
    """The lines to show a person: why it ended, or the last ones without noise."""
    why = suspect(lines)
    return [why] if why else [line for line in lines if not _NOISE.match(line)][-SHOWN:]


def _cut(line: bytes) -> str:
    text = line.decode(errors="replace").rstrip()
    return text if len(text) <= MAX_LINE_LENGTH else text[:MAX_LINE_LENGTH] + " …"
