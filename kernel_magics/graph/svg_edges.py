"""Draws the edges of the static picture, and their counts where they cover nothing."""

import math
from collections import defaultdict
from collections.abc import Sequence

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
_STEPS = 24
_CROWD = 4
_MOST_SIBLINGS = 16
_COUNT_HEIGHT = 13.0
# How far a count may stand out of the layout; the picture's padding is wider.
_MARGIN = 10.0
# The count's upper edge, counted from the line it belongs to.
_BELOW = 3.0
_ABOVE = -16.0


def draw_edges(layout: Layout) -> tuple[str, int]:
    """Returns the SVG of all edges, and how many counts found no place that is free."""
    paths = [_leaving_apart(path) for path in layout.edges]
    curves = "".join(_curve(path) for path in paths)
    group = f'<g fill="none" stroke="{LINE}" stroke-width="1.25">{curves}</g>'
    tips = "".join(_arrow(path) for path in paths)
    diamonds = "".join(_diamond(path) for path in paths if path.edge.kind == "composite")
    counts, left_out = _counts(paths, layout)
    return group + f'<path d="{tips}" fill="{LINE}"/>' + diamonds + counts, left_out


def dashes(kind: EdgeKind) -> str:
    """Returns the attributes that tell one kind of edge from another."""
    if kind == "custom_call":
        return ' stroke-dasharray="1.5 3" stroke-linecap="round"'
    if kind == "bound":
        return ' stroke-dasharray="5 3"'
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


def _counts(paths: Sequence[EdgePath], layout: Layout) -> tuple[str, int]:
    taken = [placed.box for placed in layout.nodes]
    taken += [Box(path.tip[0] - 10, path.tip[1] - 4, 10, 8) for path in paths]
    arriving: defaultdict[str, list[EdgePath]] = defaultdict(list)
    leaving: defaultdict[str, list[EdgePath]] = defaultdict(list)
    for path in paths:
        arriving[path.edge.callee].append(path)
        leaving[path.edge.caller].append(path)
    drawn: list[str] = []
    left_out = 0
    for path in paths:
        if path.edge.count == 1:
            continue
        words = f"×{path.edge.count:,}"
        width = mono_width(words, COUNT_SIZE)
        places = _places(path, width, arriving[path.edge.callee], leaving[path.edge.caller])
        place = _free_place(places, taken, layout)
        if place is None:
            left_out += 1
            continue
        taken.append(place)
        drawn.append(text(place.x, place.y + 11, words))
    halo = f'stroke="{SURFACE}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    style = f'{MONO} font-size="{COUNT_SIZE}" {MEDIUM} fill="{FOREGROUND}" {halo}'
    return f"<g {style}>{''.join(drawn)}</g>" if drawn else "", left_out


def _places(
    path: EdgePath, width: float, arriving: list[EdgePath], leaving: list[EdgePath]
) -> list[Box]:
    """Where a count may lie, best first: where it is clear to which edge it belongs."""
    (tip_x, tip_y), (start_x, start_y) = path.tip, path.points[0]
    if path.edge.caller == path.edge.callee:
        corners = (tip_y + 4, start_y - 17)
        return [Box(tip_x + 4, y, width, _COUNT_HEIGHT) for y in corners]
    # An edge from above leaves the corner below its tip free, and the other way round.
    sides = (_BELOW, _ABOVE) if start_y <= tip_y else (_ABOVE, _BELOW)
    at_tip = [Box(tip_x - 14 - width, tip_y + side, width, _COUNT_HEIGHT) for side in sides]
    at_start = [Box(start_x + 9, start_y + side, width, _COUNT_HEIGHT) for side in sides[::-1]]
    along = [
        Box(x - width / 2, y - _COUNT_HEIGHT / 2, width, _COUNT_HEIGHT)
        for x, y in reversed(_samples(path))
    ]
    if len(arriving) == 1:
        return at_tip + along
    if len(arriving) > _CROWD:
        along.reverse()
        if len(leaving) == 1:
            return at_start + along
    siblings = [other for other in (*arriving, *leaving) if other is not path]
    if len(siblings) > _MOST_SIBLINGS:
        return along
    points = [point for other in siblings for point in _samples(other)]
    clear = [box for box in along if not any(_holds(box, point) for point in points)]
    return clear + along


def _free_place(places: Sequence[Box], taken: Sequence[Box], layout: Layout) -> Box | None:
    for place in places:
        inside = (
            place.x >= -_MARGIN
            and place.y >= -_MARGIN
            and place.y + place.height <= layout.height + _MARGIN
        )
        if inside and not any(_overlap(place, other) for other in taken):
            return place
    return None


def _samples(path: EdgePath) -> list[Point]:
    points = path.points
    return [
        _bezier(points[at : at + 4], step / _STEPS)
        for at in range(0, len(points) - 1, 3)
        for step in range(_STEPS)
    ]


def _holds(box: Box, point: Point) -> bool:
    return box.x <= point[0] <= box.x + box.width and box.y <= point[1] <= box.y + box.height


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
