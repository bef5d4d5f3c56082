"""Types, constants and attributes of ops, as short text of bounded size."""

import re
import struct
from contextlib import suppress

from jax.extend.mlir import ir

MOST_ELEMENTS = 4
"""Constants of more elements are not spelled out, unless they are all equal."""

_MOST_TYPE = 120
_MOST_ATTRIBUTE = 400
_DENSE = re.compile(r"dense<(.*?)>\s*:|dense<(.*)>", re.DOTALL)
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|-?\d+\.\d+(?:[eE][-+]?\d+)?|-?\d+")
_SCALAR = re.compile(r"(?:tensor<)?(?:[\d?]+x)*(\w+)")
_CONSTANT_BODY = re.compile(r'constant"?\s*(?:\(\)\s*)?(.*)', re.DOTALL)
_FORMATS = {"f32": (">I", ">f"), "f64": (">Q", ">d"), "f16": (">H", ">e")}


def type_text(type_: ir.Type) -> str:
    """Returns a type as edges show it: `8x64xf32` for a tensor, all else as MLIR writes it."""
    text = str(type_)
    if text.startswith("tensor<") and text.endswith(">"):
        text = text[len("tensor<") : -1]
    return elided(text, _MOST_TYPE)


def elided(text: str, most: int = _MOST_ATTRIBUTE) -> str:
    """Returns `text`, cut after `most` characters with the number of those left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most:,} more characters)"


def constant_text(operation: ir.Operation) -> str:
    """Returns the value of a constant that has no operands: `1`, `[0, 1]`, or nothing if large."""
    # Printed alone: inside a function, MLIR would number the whole function first. The copy has
    # no operands, so it may go before or after the module.
    copy = operation.clone().operation
    try:
        printed = copy.get_asm(large_elements_limit=MOST_ELEMENTS, assume_verified=True)
    except (ValueError, RuntimeError, UnicodeDecodeError):
        return ""
    return value_text(str(printed))


def value_text(printed: str) -> str:
    """Returns the value in a printed constant, numbers as people write them."""
    body = _CONSTANT_BODY.search(printed)
    text = body[1].strip() if body else printed
    if "__elided__" in text:
        return ""
    dense = _DENSE.search(text)
    if dense:
        value = dense[1] if dense[1] is not None else dense[2]
        element = _element_type(text)
    else:
        value, _, type_ = text.partition(" : ")
        element = type_
    value = value.strip().strip('"') if value.startswith('"0x') else value.strip()
    if len(value) > _MOST_TYPE:
        return ""
    return _NUMBER.sub(lambda found: _number(found[0], element), value)


def _element_type(text: str) -> str:
    found = _SCALAR.search(text, text.rfind("tensor<"))
    return found[1] if found else ""


def _number(text: str, element: str) -> str:
    if text.startswith("0x"):
        return _from_bits(text, element)
    if "." not in text:
        return text
    value = float(text)
    if value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004  # all digits are exact
        return str(int(value)) if value or not text.startswith("-") else "-0"
    short = f"{value:.6g}"
    return short.replace("e-0", "e-").replace("e+0", "e+")


def _from_bits(text: str, element: str) -> str:
    """Infinities and NaNs are printed as bits."""
    bits = int(text, 16)
    if element == "bf16":
        bits, element = bits << 16, "f32"
    if element not in _FORMATS:
        return text
    integer, real = _FORMATS[element]
    with suppress(struct.error):
        return f"{struct.unpack(real, struct.pack(integer, bits))[0]:g}"
    return text


def attribute_texts(generic: str) -> dict[str, str]:
    """Returns the attributes in an op that was printed generically, large values elided.

    Text, for the binding has no class for some constants and no string for bytes that are no
    UTF-8. Properties and discardable attributes are told together, in the order printed.
    """
    found: dict[str, str] = {}
    for body in _dictionaries(generic):
        for item in _split(body):
            name, _, value = item.partition(" = ")
            found[name.strip().strip('"')] = elided(value.strip()) if value else "unit"
    return found


def _dictionaries(generic: str) -> list[str]:
    """The contents of `<{…}>` and of `{…}` behind an op's operands; regions are in brackets."""
    bodies: list[str] = []
    opened: list[int] = []
    previous = ""
    for at, character in _code(generic):
        if character in "([{<":
            opened.append(at)
        elif character in ")]}>" and not (character == ">" and previous == "-"):
            start = opened.pop() if opened else at
            is_property = len(opened) == 1 and generic[opened[0] : start + 1] == "<{"
            if character == "}" and (not opened or is_property):
                bodies.append(generic[start + 1 : at])
        elif character == ":" and not opened:
            break
        previous = character
    return bodies


def _split(body: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    previous = ""
    for at, character in _code(body):
        if character in "([{<":
            depth += 1
        elif character in ")]}>" and not (character == ">" and previous == "-"):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(body[start:at])
            start = at + 1
        previous = character
    rest = body[start:].strip()
    return [*parts, rest] if rest else parts


_CODE = re.compile(r'"(?:[^"\\]|\\.)*"|[^"]', re.DOTALL)


def _code(text: str) -> list[tuple[int, str]]:
    """Places and characters outside of strings."""
    return [(found.start(), found[0]) for found in _CODE.finditer(text) if found[0][0] != '"']
