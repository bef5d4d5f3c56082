"""Finds functions in a program's text: where each begins and ends, and its signature."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from kernel_magics.widgets.protocol import TextRange

_NAME = r'@(?:"((?:[^"\\]|\\.)*)"|([\w$.-]+))'
_FUNCTION = re.compile(rf"^(\s*)func\.func\s+(?:(?:public|private|nested)\s+)?{_NAME}")
_GENERIC = re.compile(r'^(\s*)"func\.func"\(\).*?sym_name = "((?:[^"\\]|\\.)*)"()')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_SKIPPED = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*')
_TENSOR = re.compile(r"tensor<([^<>]*)>")


def ranges(lines: Sequence[str], ids: Mapping[str, str]) -> list[TextRange]:
    """Returns where functions stand in MLIR text, in the order of the text.

    Args:
        lines: The text.
        ids: Names of functions in it, to the ids of their nodes; others are passed over.
    """
    starts = list(_starts(lines))
    firsts = [index for index, _ in starts]
    found: list[TextRange] = []
    for index, name in starts:
        node = ids.get(name)
        if node is None:
            continue
        following = bisect_left(firsts, index + 1)
        stop = firsts[following] if following < len(firsts) else len(lines)
        found.append({"node": node, "first": index + 1, "last": _end(lines, index, stop) + 1})
    return found


def signature(line: str) -> str:
    """Returns `(4x64xf32, i32) → 64xf32` for the first line of a printed function, else ``."""
    start = _FUNCTION.match(line)
    if not start or line[start.end() : start.end() + 1] != "(":
        return ""
    close = _closing(line, start.end())
    arguments = [_argument(part) for part in _split(line[start.end() + 1 : close])]
    rest = line[close + 1 :].removesuffix("{").strip()
    results: list[str] = []
    if rest.startswith("->"):
        rest = rest[2:].strip()
        wrapped = rest.startswith("(")
        inner = rest[1 : _closing(rest, 0)] if wrapped else rest.split(" attributes ")[0]
        results = [_argument(part) for part in _split(inner)]
    answer = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(arguments)}) → {answer}"


def _starts(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for index, line in enumerate(lines):
        if "func.func" not in line:
            continue
        found = _FUNCTION.match(line) or _GENERIC.match(line)
        if found:
            quoted, plain = found.group(2), found.group(3)
            yield index, plain or _unescaped(quoted)


def _unescaped(name: str) -> str:
    """MLIR writes what it cannot print as two hexadecimal digits a byte."""
    if "\\" not in name:
        return name
    raw = bytearray()
    at = 0
    for escape in _ESCAPE.finditer(name):
        raw += name[at : escape.start()].encode()
        what = escape.group(1)
        raw += bytes([int(what, 16)]) if len(what) > 1 else what.encode()
        at = escape.end()
    return (raw + name[at:].encode()).decode(errors="replace")


def _end(lines: Sequence[str], first: int, stop: int) -> int:
    """The line of the brace that closes the function; the first one for a declaration."""
    depth, end = 0, first
    for index in range(first, stop):
        code = _SKIPPED.sub("", lines[index])
        opened = code.count("{")
        depth += opened - code.count("}")
        if depth < 0:
            return end
        if depth == 0 and (opened or "}" in code):
            end = index
            if code.strip() in ("}", "})") or index > first:
                return end
    return end


def _closing(line: str, start: int) -> int:
    depth = 0
    for index in range(start, len(line)):
        if line[index] in "(<[{":
            depth += 1
        elif line[index] in ")]}" or (line[index] == ">" and line[index - 1] != "-"):
            depth -= 1
            if depth == 0:
                return index
    return len(line)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "(<[{":
            depth += 1
        elif character in ")]}" or (character == ">" and text[index - 1] != "-"):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _argument(text: str) -> str:
    """The type alone, as shapes are spelled everywhere: `8x64xf32`."""
    text = re.sub(r"^%[\w.#$-]+:\s*", "", text)
    text = re.sub(r"\s*(\{.*\}|loc\(.*\))\s*$", "", text)
    return _TENSOR.sub(r"\1", text)
