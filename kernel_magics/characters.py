"""Text of strangers, made so that a reader sees every character of it and none acts."""

import re
import unicodedata

# Two marks on a letter occur in real scripts; a pile of them runs over the neighbouring lines.
_MAX_MARKS = 2

_ACTING = re.compile(r"[^\x20-\x7e]")
_PICTURES = 0x2400
"""Where Unicode has pictures of the 32 control characters."""


def visible(text: str) -> str:
    r"""Returns `text` with everything that would not show spelled out: `\n`, `\x00`, `\u202e`.

    Control and format characters, lone surrogates and unassigned code points are escaped, so
    the result is also safe in XML, which forbids most of them.
    """
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character).startswith("M") else 0
        hidden = not character.isprintable() or marks > _MAX_MARKS
        shown.append(character.encode("unicode_escape").decode("ascii") if hidden else character)
    return "".join(shown)


def visible_lines(text: str) -> str:
    """Returns `text` with its line ends and tabs, and everything else as `visible` shows it."""
    if not _ACTING.search(text.replace("\n", "").replace("\t", "")):
        return text
    lines = text.split("\n")
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in lines)


def pictured(line: str) -> str:
    """Returns a line with a picture in place of each character that would not show.

    One for one, so that a caret below it still stands where it should.
    """
    return _ACTING.sub(_picture, line)


def _picture(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() or character == "\t":
        return character
    code = ord(character)
    if code < 0x20:  # noqa: PLR2004 - where the control characters end
        return chr(_PICTURES + code)
    return "\N{REPLACEMENT CHARACTER}"
