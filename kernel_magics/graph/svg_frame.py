"""The sheet of a static picture: ground, title for screen readers, lines of status words."""

from collections.abc import Sequence
from html import escape

from kernel_magics.graph.measure import sans_width
from kernel_magics.graph.svg_marks import HAIRLINE, SANS, SECOND, SURFACE, number

STATUS_SIZE = 11
STATUS_LINE = 17.0

Phrase = tuple[str, str]
"""Words and their colour."""


def document(title: str, description: str, width: float, height: float, body: str) -> str:
    """Returns an SVG document with a white ground of its own."""
    size = f'width="{number(width)}" height="{number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {number(width)} {number(height)}" role="img">\n'
        f"<title>{escape(title)}</title>\n"
        f"<desc>{escape(description)}</desc>\n"
        f'<rect x="0.5" y="0.5" width="{number(width - 1)}" height="{number(height - 1)}" rx="4" '
        f'fill="{SURFACE}" stroke="{HAIRLINE}"/>\n{body}\n</svg>\n'
    )


def status_lines(lines: Sequence[Sequence[Phrase]], x: float, y: float) -> tuple[str, float]:
    """Returns lines of words as text elements, and where they end."""
    drawn: list[str] = []
    for line in lines:
        spans = "".join(f'<tspan fill="{ink}">{escape(words)}</tspan>' for words, ink in line)
        place = f'x="{number(x)}" y="{number(y)}"'
        drawn.append(
            f'<text {place} {SANS} font-size="{STATUS_SIZE}" xml:space="preserve">{spans}</text>'
        )
        y += STATUS_LINE
    return "\n".join(drawn), y


def wrapped(phrases: Sequence[Phrase], width: float, separator: str) -> list[list[Phrase]]:
    """Returns phrases in lines of at most `width` px; a phrase is never broken."""
    lines: list[list[Phrase]] = []
    used = width
    for words, ink in phrases:
        needed = sans_width(words, STATUS_SIZE)
        gap = sans_width(separator, STATUS_SIZE)
        if not lines or used + gap + needed > width:
            lines.append([(words, ink)])
            used = needed
        else:
            lines[-1] += [(separator, SECOND), (words, ink)]
            used += gap + needed
    return lines
