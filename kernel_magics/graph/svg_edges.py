"""Draws the edges of the static picture, and their counts where they cover nothing."""

import math
from collections.abc import Iterator, Sequence

from kernel_magics.graph.geometry import Box, Point
from kernel_magics.graph.layout import EdgePath, Layout
from kernel_magics.graph.measure import mono_width
from kernel_magics.graph.model import EdgeKind
from kernel_magics.graph.svg_marks import FOREGROUND, LINE, MEDIUM, MONO, SURFACE, number, text

COUNT_SIZE = 12
_HALF_ARROW = 3.3
_DIAMOND = 6.0
_TAIL_SHIFT = 11.0
_CLEAR = 2.0
_STEPS = 12
_SIDES = (15.0, -6.0)


def draw_edges(layout: Layout) -> str:
    """Returns the SVG of all edges: curves first, then their counts on top."""
    paths = [_leaving_apart(path) for path in layout.edges]
    curves = "".join(_curve(path) for path in paths)
    group = f'<g fill="none" stroke="{LINE}" stroke-width="1.25">{curves}</g>'
    tips = "".join(_arrow(path) for path in paths)
    diamonds = "".join(_diamond(path) for path in paths if path.edge.kind == "composite")
    return group + f'<path d="{tips}" fill="{LINE}"/>' + diamonds + _counts(paths, layout)


def dashes(kind: EdgeKind) -> str:
    """Returns the attributes that tell one kind of edge from another."""
    if kind == "custom_call":
        return ' stroke-dasharray="1.5 3" stroke-linecap="round"'
    if kind == "reference":
        return ' stroke-dasharray="7 3 1.5 3"'
    return ""


def _leaving_apart(path: EdgePath) -> EdgePath:
    """Lets a composite's edge leave below the calls, so that its diamond is seen to be its own."""
    if path.edge.kind != "composite" or path.edge.caller == path.edge.callee:
        return path
    (x, y), (control_x, control_y), *rest = path.points
    lower = ((x, y + _TAIL_SHIFT), (control_x, control_y + _TAIL_SHIFT))
    return EdgePath(path.edge, (*lower, *rest), path.tip)


def _curve(path: EdgePath) -> str:
    start, *rest = (f"{number(x)} {number(y)}" for x, y in path.points)
    return f'<path d="M{start}C{" ".join(rest)}"{dashes(path.edge.kind)}/>'


def _arrow(path: EdgePath) -> str:
    (x, y), (base_x, base_y) = path.tip, path.points[-1]
    length = math.hypot(x - base_x, y - base_y) or 1.0
    across_x = -(y - base_y) / length * _HALF_ARROW
    across_y = (x - base_x) / length * _HALF_ARROW
    return (
        f"M{number(x)} {number(y)}L{number(base_x + across_x)} {number(base_y + across_y)}"
        f"L{number(base_x - across_x)} {number(base_y - across_y)}Z"
    )


def _diamond(path: EdgePath) -> str:
    x, y = path.points[0]
    half = number(_DIAMOND)
    outline = f"M{number(x)} {number(y)}l{half} -4l{half} 4l-{half} 4Z"
    return f'<path d="{outline}" fill="{SURFACE}" stroke="{LINE}" stroke-width="1.25"/>'


def _counts(paths: Sequence[EdgePath], layout: Layout) -> str:
    """Each count lies near its arrow; where that place is taken, further back along its edge."""
    taken = [placed.box for placed in layout.nodes]
    tips = [Box(path.tip[0] - 10, path.tip[1] - 4, 10, 8) for path in paths]
    taken += tips
    drawn: list[str] = []
    for path in paths:
        if path.edge.count == 1:
            continue
        words = f"×{path.edge.count:,}"
        width = mono_width(words, COUNT_SIZE)
        place = _free_place(path, width, taken, layout)
        taken.append(place)
        style = f'stroke="{SURFACE}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
        drawn.append(text(place.x, place.y + 11, words, style))
    if not drawn:
        return ""
    style = f'{MONO} font-size="{COUNT_SIZE}" {MEDIUM} fill="{FOREGROUND}"'
    return f"<g {style}>{''.join(drawn)}</g>"


def _free_place(path: EdgePath, width: float, taken: Sequence[Box], layout: Layout) -> Box:
    places = list(_places(path, width))
    inside = [
        place
        for place in places
        if place.x >= 0 and place.y >= 0 and place.y + place.height <= layout.height
    ]
    free = (place for place in inside if not any(_overlap(place, other) for other in taken))
    return next(free, places[0])


def _places(path: EdgePath, width: float) -> Iterator[Box]:
    points = (*path.points, path.tip)
    segments = [points[at : at + 4] for at in range(0, len(path.points) - 1, 3)]
    for segment in reversed(segments):
        for step in range(_STEPS):
            x, y = _bezier(segment, 1 - step / _STEPS)
            for side in _SIDES:
                yield Box(x - width - 2, y + side - 11, width, 13)


def _bezier(segment: Sequence[Point], t: float) -> Point:
    a, b, c, d = segment
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x = sum(weight * point[0] for weight, point in zip(weights, (a, b, c, d), strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, (a, b, c, d), strict=True))
    return x, y


def _overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width + _CLEAR
        and other.x < one.x + one.width + _CLEAR
        and one.y < other.y + other.height + _CLEAR
        and other.y < one.y + one.height + _CLEAR
    )
