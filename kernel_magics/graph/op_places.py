"""Where ops stand in a text, and under which name scopes."""

import re
from collections.abc import Sequence

from jax.extend.mlir import ir

Place = tuple[int, int]
"""Line and byte column, from 1; `NOWHERE` where MLIR names no place."""

NOWHERE: Place = (0, 0)

_FILE = "-"
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|\bloc\(|[()]')
_DEPTH = 32
_BLANKS = 80


def place(location: ir.Location) -> Place:
    """Returns where a location points in a text that was parsed without a file name."""
    # A file that is called `-` in a location of the text itself cannot be told apart.
    if type(location) is ir.FileLineColLoc and location.filename == _FILE:
        return location.start_line, location.start_col
    return NOWHERE


def scope(location: ir.Location) -> str:
    """Returns the name scope that a location tells, as JAX writes it, or nothing.

    `loc("jit(f)/block/dense/dot_general"(…))` stands in the scope `jit(f)/block/dense`; the
    outermost name counts.
    """
    if type(location) is ir.FileLineColLoc:
        return ""
    pending = [location]
    for _ in range(_DEPTH):
        if not pending:
            break
        one = pending.pop(0)
        if isinstance(one, ir.NameLoc):
            return one.name_str.rpartition("/")[0]
        if isinstance(one, ir.FusedLoc):
            pending += one.locations
        elif isinstance(one, ir.CallSiteLoc):
            pending.append(one.callee)
    return ""


def scope_steps(path: str) -> list[str]:
    """Splits `a/b(c/d)/e` at the slashes outside of brackets: `a`, `b(c/d)`, `e`."""
    steps: list[str] = []
    depth = start = 0
    for at, character in enumerate(path):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "/" and depth <= 0:
            steps.append(path[start:at])
            start = at + 1
    return [step for step in [*steps, path[start:]] if step]


def has_locations(text: str) -> bool:
    """Whether a text may hold locations of its own, which hide where ops stand in it."""
    return "loc(" in text


def without_locations(text: str) -> str:
    """Returns `text` with blanks in place of the locations behind ops and arguments.

    Every other character stays where it is, so a parse of the result tells where things stand in
    `text`. Locations that are named (`#loc1 = loc(…)`) or values of attributes stay.
    """
    parts: list[str] = []
    done = depth = start = 0
    for found in _TOKEN.finditer(text):
        piece = found[0]
        if not depth:
            if piece == "loc(" and not _is_value(text, found.start()):
                start, depth = found.start(), 1
        elif piece in ("(", "loc("):
            depth += 1
        elif piece == ")":
            depth -= 1
            if not depth:
                parts += [text[done:start], re.sub(r"[^\n]", " ", text[start : found.end()])]
                done = found.end()
    return "".join([*parts, text[done:]])


def _is_value(text: str, at: int) -> bool:
    """Whether what begins there is given to a name: `#loc1 = loc(…)`, `a = loc(…)`."""
    return text[max(0, at - _BLANKS) : at].rstrip(" \t").endswith("=")


def columns_in_characters(places: Sequence[Place], text: str) -> list[Place]:
    """MLIR counts columns in bytes; people and front ends count characters."""
    if text.isascii():
        return list(places)
    lines = text.split("\n")
    return [_in_characters(one, lines) for one in places]


def _in_characters(one: Place, lines: Sequence[str]) -> Place:
    line, column = one
    if not 0 < line <= len(lines) or lines[line - 1].isascii():
        return one
    return line, len(lines[line - 1].encode()[: column - 1].decode(errors="replace")) + 1
