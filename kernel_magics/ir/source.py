"""The program a user gave and where it stands: line and column to an excerpt with a caret."""

import hashlib
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kernel_magics.characters import pictured
from kernel_magics.errors import FormatError
from kernel_magics.ir import hlo_proto

Code = str | bytes | os.PathLike[str]

EXCERPT_WIDTH = 100
"""Longest excerpt in characters: constants fill lines with megabytes of digits."""

_TOKEN = re.compile(r'[@%!#^]?"(?:[^"\\]|\\.)*"|[@%!#^]?[\w$.-]+|.')
_FILE_NAME = re.compile(r"[\w./~ \\:-]*\.(mlir|mlirbc|bc|hlo|pb|txt|stablehlo)")


@dataclass(frozen=True, slots=True)
class Source:
    """Text or bytes of a program, with the place it came from."""

    content: str | bytes
    name: str = "text"
    """`cell`, `text`, or the file's name: what stands before the line in a message."""
    first_line: int = 1
    """The line of the user's cell in which the content begins, from 1."""

    @property
    def tag(self) -> str:
        """The SHA-256 of the content, 64 hexadecimal digits: what fresh names are made of."""
        content = self.content
        return hashlib.sha256(
            content if isinstance(content, bytes) else content.encode()
        ).hexdigest()

    def place(self, line: int, column: int) -> str:
        """`cell:2:13` for a line and a byte column of the content, both from 1."""
        return f"{self.name}:{line + self.first_line - 1}:{self._character(line, column)}"

    def excerpt(self, line: int, column: int, note: str = "") -> str:
        """The place, its line, and a caret under the token that stands there.

        Args:
            line: Line in the content, from 1.
            column: Column in bytes, from 1, as MLIR counts.
            note: What the caret says, in the same line.
        """
        text = self.line(line)
        if not text.strip():
            return self.place(line, column) + (f"  {note}" if note else "")
        start = self._character(line, column) - 1
        token = _TOKEN.match(text, start)
        width = max(1, len(token.group()) if token else 1)
        shown, start = _window(text, start)
        width = min(width, max(1, len(shown) - start))
        padding = "".join("\t" if c == "\t" else " " for c in shown[:start])
        caret = padding + "^" * width + (f" {note}" if note else "")
        return f"{self.place(line, column)}\n  {pictured(shown)}\n  {caret}"

    def line(self, line: int) -> str:
        """One line of the text, from 1; empty for bytes and beyond the end."""
        if isinstance(self.content, bytes):
            return ""
        lines = _lines(self.content)
        return lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""

    def token(self, line: int, column: int) -> str:
        """The token that starts at a line and a byte column."""
        found = _TOKEN.match(self.line(line), self._character(line, column) - 1)
        return found.group() if found else ""

    def _character(self, line: int, column: int) -> int:
        """MLIR counts bytes; people count characters."""
        text = self.line(line)
        if text.isascii():
            return column
        return len(text.encode()[: column - 1].decode(errors="replace")) + 1


def read_source(code: object, *, name: str = "text", first_line: int = 1) -> Source:
    """Makes a `Source` of what a user may hand over: text, bytes, or a path to read.

    Raises:
        FormatError: The text is a file's name, the file cannot be read, or it is no such kind.
    """
    if isinstance(code, str):
        if "\n" not in code.strip() and _FILE_NAME.fullmatch(code.strip()):
            raise FormatError(
                f"The text {code.strip()!r} looks like a file's name",
                advice="Text is taken as a program. Pass `pathlib.Path(...)` to read a file.",
            )
        return Source(code, name, first_line)
    if isinstance(code, bytes | bytearray | memoryview):
        return _decoded(bytes(code), name)
    if isinstance(code, os.PathLike):
        return _read_file(Path(os.fspath(code)).expanduser())
    raise FormatError(
        f"A program is text, bytes or a path; a `{type(code).__name__}` was given",
        advice="For a JAX function use `jax.jit(f).lower(*args).as_text()`.",
    )


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    return text.split("\n")


def _read_file(path: Path) -> Source:
    try:
        return _decoded(path.read_bytes(), path.name)
    except OSError as error:
        raise FormatError(
            f"The file `{path}` cannot be read: {error.strerror or error}",
            advice="Check the path; it is taken relative to the kernel's working directory.",
        ) from error


def _decoded(content: bytes, name: str) -> Source:
    """Bytes that are UTF-8 text without NUL become text, so that errors can point into it."""
    if content[:4] == b"ML\xefR" or b"\0" in content:
        return Source(content, name)
    # A small serialized module can be UTF-8 by chance; its first byte is a line feed.
    if content[:1] == b"\n" and hlo_proto.unwrap(content) is not None:
        return Source(content, name)
    try:
        return Source(content.decode(), name)
    except UnicodeDecodeError:
        return Source(content, name)


def _window(text: str, start: int) -> tuple[str, int]:
    """Cuts a long line to a window round `start`; gives the new start too."""
    stripped = text.lstrip()
    start = max(0, start - (len(text) - len(stripped)))
    if len(stripped) <= EXCERPT_WIDTH:
        return stripped.rstrip() or stripped, start
    left = max(0, start - EXCERPT_WIDTH // 2)
    head = "… " if left else ""
    shown = stripped[left : left + EXCERPT_WIDTH]
    tail = " …" if left + EXCERPT_WIDTH < len(stripped) else ""
    return head + shown + tail, start - left + len(head)
