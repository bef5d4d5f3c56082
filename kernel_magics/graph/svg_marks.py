"""Colours, fonts and small drawing helpers of the static picture."""

from html import escape

# Jupyter's light theme, mixed as the widget mixes it: a static picture has no theme of its own.
SURFACE = "#ffffff"
FOREGROUND = "#212121"
SECOND = "#5c5c5c"
HAIRLINE = "#d6d6d6"
LINE = "#757575"
ERROR = "#a92525"
NEUTRAL_TINT = "#eeeeee"
# One luminance for all, so about 4:1 on a white and on a dark ground alike.
_UNITS = ("#148a80", "#c06215", "#8d6ac6", "#748317", "#bf569b", "#677e94")
_TINT = 0.15

SANS = 'font-family="Helvetica, Arial, DejaVu Sans, sans-serif"'
MONO = 'font-family="Menlo, Consolas, DejaVu Sans Mono, monospace"'
MEDIUM = 'font-weight="600"'

# Icons are drawn in 12 x 12 px.
ICONS = {
    "kept": "M2 4.5H10M2 7.5H10",
    "renamed": "M1 6H10M7 3L10 6L7 9",
    "reused": "M1.5 1.5H7.5V7.5H1.5ZM7.5 4.5H10.5V10.5H4.5V7.5",
    "missing": "M2.5 2.5L9.5 9.5M9.5 2.5L2.5 9.5",
}


def unit_colour(index: int) -> str:
    """Returns the colour of the unit with this place among the units; the seventh is the first."""
    return _UNITS[index % len(_UNITS)]


def tint(colour: str) -> str:
    """Returns a unit's colour at 15 % over the surface."""
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - _TINT * (255 - value)):02x}" for value in channels)


def number(value: float) -> str:
    """Returns a coordinate with at most one digit after the point."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, attributes: str = "") -> str:
    """Returns a `text` element; `words` are escaped, `attributes` are not."""
    space = " " if attributes else ""
    return f'<text x="{number(x)}" y="{number(y)}"{space}{attributes}>{escape(words)}</text>'


def chip(x: float, y: float, letter: str, colour: str) -> str:
    """Returns a unit's letter in its box; the font is that of the group around it, 11 px."""
    width = chip_width(letter)
    fill = NEUTRAL_TINT if colour == LINE else tint(colour)
    style = f'{MEDIUM} text-anchor="middle"'
    return (
        f'<rect x="{number(x + 0.5)}" y="{number(y + 0.5)}" width="{width - 1}" height="15" '
        f'rx="3" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
        + text(x + width / 2, y + 12, letter, style)
    )


def chip_width(letter: str) -> int:
    """Returns 16 px for one letter, and more from the unit `AA` on."""
    return 16 + 9 * (len(letter) - 1)
