"""Draws an SVG document of ours as a PNG, without libraries or fonts of the system."""

import re
from pathlib import Path

import resvg_py

_FONTS = tuple(str(file) for file in sorted((Path(__file__).parent / "fonts").glob("*.ttf")))
_SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"')
# What the fonts that come with us hold; for all else the fonts of the machine are looked through.
_COVERED = re.compile(
    r"[\t\n\r\u0020-\u007e\u00a0-\u017f\u0370-\u03ff\u0400-\u045f\u2010-\u2015\u2018-\u201f\u2022"
    r"\u2026\u2190-\u2193\u21bb\u2200-\u220f\u2211-\u2219\u221e\u2248\u2260-\u2265\u25a0\u25a1"
    r"\u25b8\u2400-\u2426\ufffd]*"
)
_SCALE = 2.0
_MOST_PIXELS = 2_000_000
_LEAST_SCALE = 0.2


def to_png(svg: str, *, scale: float = _SCALE) -> bytes:
    """Returns a picture as PNG.

    Args:
        svg: A document of ours: it states its size in px, and names nothing outside itself.
        scale: Pixels for each px of the document; less where the picture would be too large.

    Returns:
        At most about two million pixels, unless the picture would be too small to be made out.
    """
    found = _SIZE.match(svg)
    assert found is not None
    area = float(found[1]) * float(found[2])
    scale = max(_LEAST_SCALE, min(scale, (_MOST_PIXELS / area) ** 0.5))
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=scale,
        font_files=list(_FONTS),
        skip_system_fonts=_COVERED.fullmatch(svg) is not None,
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
    )
