"""Types as text: those of a statement's results, and what a tensor holds."""

import re
from math import prod

_LONG = 20_000
"""Longest part of a statement that is looked at, in characters: constants hold megabytes."""

_OPERATION = re.compile(r"=\s*\"?([a-z_]\w*(?:\.[\w$-]+)*)")
_LOCATION = re.compile(r"\bloc\s*\(")
_FIRST_TYPE = re.compile(r"\s*([\w.!$]+)")
_TO = re.compile(r"\bto\s+")
_SHAPED = re.compile(
    r"(?:tensor|vector|memref)<((?:(?:\d+|\?)x)*)((?:[^<>,]|<[^<>]*>)*)"
    r"(?:,[^>]*(?:<[^<>]*>[^<>]*)*)?>"
)
_WIDTH = re.compile(r"(?:[su]?i|[fF]|bf|tf)(\d+)")
_COMPARES = {"arith.cmpi", "arith.cmpf"}
_ELEMENT = {"tensor.extract", "memref.load"}
_INDEX = {"tensor.dim", "tensor.rank", "memref.dim", "memref.rank", "arith.index_cast"}


def result_types(statement: str, count: int) -> list[str]:
    """The types of a statement's results; empty where the text does not say them.

    Args:
        statement: `%0 = op … : types`, comments and strings blanked out.
        count: How many results there are.
    """
    named = _OPERATION.search(statement[:_LONG])
    kind = named[1] if named else ""
    tail = statement[-_LONG:]
    colon, arrow = _marks(tail)
    if max(colon, arrow) < 0:
        return ["i1"] if re.search(r"\bconstant\s+(?:true|false)\s*$", statement[-80:]) else []
    found = _type_list(tail[arrow + 2 :] if arrow >= 0 else tail[colon + 1 :])
    if arrow < 0 and count == 1 and found:
        found = [_told(kind, found[-1])]
    return found if len(found) == count else []


def _told(kind: str, kind_type: str) -> str:
    """The result's type, where the one that is written is that of an operand."""
    shaped = _SHAPED.fullmatch(kind_type)
    element = shaped[2] if shaped else kind_type
    if kind in _COMPARES:
        return kind_type.replace(element, "i1") if shaped else "i1"
    if kind in _ELEMENT:
        return element
    if kind in _INDEX and kind != "arith.index_cast":
        return "index"
    return kind_type


def _marks(text: str) -> tuple[int, int]:
    """The last `:` and the last `->` outside of all brackets, or -1."""
    depth, colon, arrow = 0, -1, -1
    location = _LOCATION.search(text)
    for at, character in enumerate(text[: location.start()] if location else text):
        if character == ">" and text[at - 1] == "-":
            arrow = at - 1 if depth == 0 else arrow
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth = max(0, depth - 1)
        elif character == ":" and depth == 0:
            colon = at
    return colon, arrow


def _type_list(text: str) -> list[str]:
    """The types that a text begins with: `a, b`, `(a, b)` or `a to b`."""
    text = text.lstrip()
    if text.startswith("("):
        text = text[1 : closing(text, 0)]
    found: list[str] = []
    while first := _FIRST_TYPE.match(text):
        end = first.end()
        if text[end : end + 1] == "<":
            end = closing(text, end) + 1
        found.append(" ".join(text[first.start(1) : end].split()))
        text = text[end:].lstrip()
        if to := _TO.match(text):
            found.clear()
            text = text[to.end() :]
        elif text.startswith(","):
            text = text[1:]
        else:
            break
    return found


def closing(text: str, start: int) -> int:
    """Where the bracket that opens at a place closes; the end where it does not."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "(<[{":
            depth += 1
        elif text[at] in ")>]}" and not (text[at] == ">" and text[at - 1] == "-"):
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def described(kind: str) -> str:
    """What a type of static shape holds: `32 elements of f32, 128 bytes`; empty for others."""
    shaped = _SHAPED.fullmatch(kind)
    if shaped is None or "?" in shaped[1]:
        return ""
    count = prod(int(size) for size in shaped[1].split("x") if size)
    counted = f"{count:,} element{'s' * (count != 1)} of {shaped[2]}"
    if not shaped[1]:
        counted = f"A scalar of {shaped[2]}"
    bits = _bits(shaped[2])
    size = -(-count * bits // 8)
    return f"{counted}, {size:,} byte{'s' * (size != 1)}" if bits else counted


def _bits(element: str) -> int:
    if element.startswith("complex<"):
        return 2 * _bits(element[8:-1])
    width = _WIDTH.match(element)
    # A boolean takes a byte.
    return (8 if element == "i1" else int(width[1])) if width else 0
