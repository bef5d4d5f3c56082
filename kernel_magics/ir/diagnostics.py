"""MLIR's diagnostics, with lines and columns that count in the user's cell."""

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from jax.extend.mlir import ir

from kernel_magics.errors import Diagnostic
from kernel_magics.ir.source import Source

SHOWN = 8
"""Excerpts in one message; the rest is counted."""

_UNKNOWN_DIALECT = re.compile(r"Dialect `([\w.]+)' not found|unregistered dialect")
_AVAILABLE = re.compile(r"Available dialects: (.*?) \(\* corresponding|Available dialects: (.*?);")
_QUOTED_OP = re.compile(r'"([a-z_]\w*)\.[\w.]+"\s*$')
_DIALECT_BEFORE = re.compile(r"[!#]([a-z_]\w*)\.$")
_DIALECT_HERE = re.compile(r"[!#]?([a-z_]\w*)")
_PLACE = re.compile(r'"-":(\d+):(\d+)')


def collect(error: ir.MLIRError, source: Source) -> list[Diagnostic]:
    """Every diagnostic of an error, in the order of MLIR, with notes that point elsewhere."""
    found: list[Diagnostic] = []
    # The caret of a single error needs no words: they are the sentence above it.
    quiet = len(error.error_diagnostics) == 1
    for diagnostic in error.error_diagnostics:
        found.append(_translate(diagnostic, source, quiet=quiet))
        found += [
            replace(_translate(note, source), is_note=True)
            for note in diagnostic.notes
            if not note.message.startswith(("see current operation", "Available dialects"))
        ]
    return found


def excerpts(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """What to print of them: the first few, and how many more there are."""
    placed = [diagnostic.excerpt for diagnostic in diagnostics if diagnostic.excerpt]
    more = [f"… and {len(placed) - SHOWN} more"] if len(placed) > SHOWN else []
    return placed[:SHOWN] + more


def position(location: ir.Location, source: Source) -> tuple[int, int] | None:
    """Line and byte column in the content, when a location points into it.

    Text is parsed under the file name `-`; other names come from `loc("file.py":1:2)` in it.
    """
    # The location of a diagnostic has no typed accessors, only its printed form.
    found = None if isinstance(source.content, bytes) else _PLACE.search(str(location))
    return (int(found[1]), int(found[2])) if found and int(found[1]) > 0 else None


def _translate(diagnostic: Any, source: Source, *, quiet: bool = False) -> Diagnostic:
    message = diagnostic.message.strip()
    at = position(diagnostic.location, source)
    if at is None:
        return Diagnostic(message, 0, 0, "")
    line, column = at
    message = _named(message, source, line, column, diagnostic.notes)
    shown = source.excerpt(line, column, "" if quiet else message)
    return Diagnostic(message, line + source.first_line - 1, column, shown)


def _named(message: str, source: Source, line: int, column: int, notes: Any) -> str:
    """Puts the field's words and close names where MLIR's message lacks them."""
    if message == "use of undeclared SSA value name":
        return f"{message} `{source.token(line, column)}`"
    unknown = _UNKNOWN_DIALECT.search(message)
    if unknown:
        dialect = unknown[1] or _dialect_at(source.line(line), column)
        known = _available(notes)
        close = get_close_matches(dialect, known, 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        return f"unknown dialect `{dialect}`{hint}" if dialect else "unknown dialect"
    return message


def _dialect_at(text: str, column: int) -> str:
    """The dialect that an "unregistered dialect" complaint is about.

    MLIR names the place behind an op's quoted name, behind the dialect of a type, and
    before the `#` of an attribute.
    """
    head, tail = text[: column - 1], text[column - 1 :]
    found = _QUOTED_OP.search(head) or _DIALECT_BEFORE.search(head) or _DIALECT_HERE.match(tail)
    return found[1] if found else ""


def _available(notes: Any) -> list[str]:
    for note in notes:
        found = _AVAILABLE.search(note.message)
        if found:
            words = (found[1] or found[2]).split(",")
            return [word.replace("(*)", "").strip() for word in words]
    return []
