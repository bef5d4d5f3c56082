"""How wide text is, without a browser: estimates on the safe side, and cutting to fit."""

import unicodedata

# Advance of one character of Menlo and DejaVu Sans Mono, the widest of our code fonts.
_MONO_ADVANCE = 0.603
# Advances of DejaVu Sans, the widest of our text fonts, in classes and rounded up.
_NARROW = frozenset(" !',.:;|()[]fijlrtI·/-")
_WIDE = frozenset("MW@%mw×→…—")
_BOLD_FACTOR = 1.13
_LAST_LATIN = "\u024f"


def cells(text: str) -> int:
    """Returns how many cells of a terminal or a code font `text` takes; wide characters take 2."""
    if text.isascii():
        return len(text)
    return sum(_cell(character) for character in text)


def mono_width(text: str, size: float) -> float:
    """Returns the width of `text` in px, in a code font of `size` px."""
    return cells(text) * _MONO_ADVANCE * size


def sans_width(text: str, size: float, *, bold: bool = False) -> float:
    """Returns the width of `text` in px, in a text font of `size` px."""
    width = sum(_sans_advance(character) for character in text) * size
    return width * _BOLD_FACTOR if bold else width


def is_plain_script(text: str) -> bool:
    """True if the estimates hold for `text`: Latin letters and common signs."""
    return all(character <= _LAST_LATIN or character in _WIDE for character in text)


def cut_middle(text: str, most_cells: int) -> str:
    """Cuts `text` in the middle so that it takes at most `most_cells`, and keeps its tail.

    Names of lowered functions differ in their tails (`_0`, `_1`), so the tail is never cut; it
    begins after an underscore where one stands near enough.
    """
    if cells(text) <= most_cells:
        return text
    for budget in range(min(most_cells, len(text)), 2, -1):
        short = _cut_to(text, budget)
        if cells(short) <= most_cells:
            return short
    return "…"


def _cut_to(text: str, budget: int) -> str:
    longest_tail = max(1, (2 * budget + 2) // 3)
    underscore = text.find("_", len(text) - longest_tail - 1)
    tail = text[underscore + 1 :]
    if underscore < 0 or len(tail) < budget // 3:
        tail = text[len(text) - budget // 2 :]
    return text[: max(1, budget - 1 - len(tail))] + "…" + tail


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _sans_advance(character: str) -> float:
    if character in _NARROW:
        return 0.42
    if character in _WIDE or _cell(character) == 2:  # noqa: PLR2004
        return 1.03
    return 0.78 if character.isupper() else 0.645
