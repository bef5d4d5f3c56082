"""Lays a graph out without any program: longest-path layers, ordered by their neighbours."""

from collections import Counter
from collections.abc import Sequence

from kernel_magics.graph.geometry import (
    ARROW_LENGTH,
    COLUMN_GAP,
    NODE_HEIGHT,
    ROW_GAP,
    Box,
    Drawing,
    Point,
    Problem,
    Spline,
    adjacent_curve,
)
from kernel_magics.graph.layering import back_edges, longest_path, ordered, with_lanes

# A lane is the place that a long edge takes in a column it passes.
_LANE_HEIGHT = 4.0
_STUB = 22.0
_BOW = 14.0


def lay_out_plainly(problem: Problem) -> Drawing:
    """Returns a left-to-right layout in time linear in nodes, edges and lanes."""
    count = len(problem.widths)
    backward = back_edges(count, problem.edges)
    forward = [
        (head, tail) if index in backward else (tail, head)
        for index, (tail, head) in enumerate(problem.edges)
    ]
    layers = longest_path(count, forward)
    paths = with_lanes(layers, forward)
    columns = ordered(layers, paths)
    centres = _centres(columns, count)
    starts, widths = _column_extents(columns, problem.widths)
    boxes = tuple(
        Box(starts[layers[i]], centres[i] - NODE_HEIGHT / 2, widths[layers[i]])
        for i in range(count)
    )
    splines: list[Spline] = []
    seen: Counter[tuple[int, int]] = Counter()
    for index, path in enumerate(paths):
        lanes = [
            ((starts[layers[lane]], centres[lane]), widths[layers[lane]]) for lane in path[1:-1]
        ]
        ends = boxes[path[0]], boxes[path[-1]]
        bow = _BOW * seen[path[0], path[-1]]
        seen[path[0], path[-1]] += 1
        if index in backward:
            splines.append(_backward_curve(*ends, lanes))
        elif lanes:
            splines.append(_forward_curve(*ends, lanes))
        else:
            splines.append(adjacent_curve(*ends, bow))
    return Drawing(boxes, tuple(splines))


def _centres(columns: list[list[int]], count: int) -> dict[int, float]:
    """Heights at which nodes and lanes lie: every column packed, all centred on one line."""
    centres: dict[int, float] = {}
    for column in columns:
        heights = [NODE_HEIGHT if node < count else _LANE_HEIGHT for node in column]
        y = -(sum(heights) + ROW_GAP * (len(column) - 1)) / 2
        for node, height in zip(column, heights, strict=True):
            centres[node] = y + height / 2
            y += height + ROW_GAP
    return centres


def _column_extents(
    columns: list[list[int]], wanted: Sequence[float]
) -> tuple[list[float], list[float]]:
    starts: list[float] = []
    widths: list[float] = []
    x = 0.0
    for column in columns:
        width = max((wanted[node] for node in column if node < len(wanted)), default=0.0)
        starts.append(x)
        widths.append(width)
        x += width + COLUMN_GAP
    return starts, widths


def _forward_curve(tail: Box, head: Box, lanes: list[tuple[Point, float]]) -> Spline:
    tip = head.left
    points = [tail.right]
    for (x, y), width in lanes:
        _bend_to(points, (x, y))
        _bend_to(points, (x + width, y))
    _bend_to(points, (tip[0] - ARROW_LENGTH, tip[1]))
    return Spline(tuple(points), tip)


def _backward_curve(head: Box, tail: Box, lanes: list[tuple[Point, float]]) -> Spline:
    """A curve that leaves its caller at the right, passes below it, and goes back to the left."""
    tip = head.left
    x, y = tail.right
    below = (NODE_HEIGHT + ROW_GAP) / 2
    points = [(x, y), (x + _STUB, y), (x + _STUB, y + below), (x, y + below)]
    _bend_to(points, (tail.x, y + below))
    for (lane_x, lane_y), width in reversed(lanes):
        _bend_to(points, (lane_x + width, lane_y))
        _bend_to(points, (lane_x, lane_y))
    _bend_to(points, (head.right[0], tip[1] + below))
    _bend_to(points, (tip[0], tip[1] + below))
    base = (tip[0] - ARROW_LENGTH, tip[1])
    points += [(tip[0] - _STUB, tip[1] + below), (tip[0] - _STUB, tip[1]), base]
    return Spline(tuple(points), tip)


def _bend_to(points: list[Point], end: Point) -> None:
    """Adds a segment that is level at both its ends."""
    x, y = points[-1]
    half = (end[0] - x) / 2
    points += [(x + half, y), (end[0] - half, end[1]), end]
