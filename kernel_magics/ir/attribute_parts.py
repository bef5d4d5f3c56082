"""What dictionaries of attributes hold, asked in the way that ends no process."""

import re

from jax.extend.mlir import ir

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"( = )?')
_BYTE = re.compile(r"\\[89A-F][0-9A-F]")


def entries(config: ir.DictAttr) -> list[tuple[str, ir.Attribute]]:
    """Names and values.

    Raises:
        TypeError: One is a constant of complex numbers or of small floats: the binding has no
            class for it.
    """
    # Not by `entry.attr`, which ends the process where there is no class.
    return [(name, config[name]) for name in names(config)]


def names(config: ir.DictAttr) -> list[str]:
    """The names alone.

    Raises:
        TypeError: One has other letters than those of ASCII: asked for a name that is no text,
            the binding ends the process.
    """
    # String by string: one pattern for all of it is quadratic in the length of a kernel's program.
    strings = _STRING.finditer(str(config))
    if any(found[2] and _BYTE.search(found[1]) for found in strings):
        raise TypeError("a name with other letters than those of ASCII")
    return [config[place].name for place in range(len(config))]


def text_of(attribute: ir.StringAttr) -> str | bytes:
    """What a string says; bytes where they are no text, as in a kernel's own program."""
    content = attribute.value_bytes
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def word_of(attribute: ir.Attribute) -> str:
    """A string to compare and to show: bytes that are no text are spelled; else nothing."""
    if not isinstance(attribute, ir.StringAttr):
        return ""
    return attribute.value_bytes.decode(errors="backslashreplace")
