"""What an engine is given to lay a block out from top to bottom, and its two engines."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kernel_magics.graph.geometry import ARROW_LENGTH, Box, Drawing, Point, Spline
from kernel_magics.graph.layering import back_edges, longest_path, ordered, with_lanes
from kernel_magics.graph.layout_graphviz import (
    EngineFailedError,
    inches,
    read_centres,
    read_spline,
    run_engine,
)

NODE_GAP = 18.0
LAYER_GAP = 36.0

_LANE_WIDTH = 6.0
_SWEEPS = 6
# More of them in one row would be wider than what they lead to.
_MOST_IN_FIRST_ROW = 8


@dataclass(frozen=True, slots=True)
class BlockProblem:
    """Boxes of any size and edges between them, by number."""

    sizes: Sequence[tuple[float, float]]
    """Width and height of each."""
    edges: Sequence[tuple[int, int]]
    """Without self loops."""
    first: Sequence[int] = ()
    """Boxes that nothing leads to and that belong at the top."""
    last: Sequence[int] = ()
    """Boxes that end the block."""


def lay_out_downwards(problem: BlockProblem, command: str | None, deadline: float) -> Drawing:
    """Returns the boxes and curves of one block, top to bottom.

    Args:
        problem: What to lay out.
        command: Path of a Graphviz engine; without it, the plain layering.
        deadline: `time.monotonic()` at which Graphviz must have answered.

    Raises:
        EngineFailedError: Graphviz gave no layout in time.
    """
    if command is None or len(problem.edges) < 2:  # noqa: PLR2004  # nothing to choose
        return lay_out_in_layers(problem)
    if time.monotonic() >= deadline:
        raise EngineFailedError("no time is left for Graphviz")
    answer = run_engine(command, _dot_text(problem), deadline)
    try:
        centres = read_centres(answer, len(problem.sizes))
        boxes = tuple(
            Box(x - width / 2, -y - height / 2, width, height)
            for (width, height), (x, y) in zip(problem.sizes, centres, strict=True)
        )
        curves = {int(item["id"]): read_spline(item["pos"]) for item in answer.get("edges", [])}
        return Drawing(boxes, tuple(curves[index] for index in range(len(problem.edges))))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise EngineFailedError(f"`{command}` answered no layout: {error}") from error


def _dot_text(problem: BlockProblem) -> str:
    lines = [
        "digraph {",
        f"rankdir=TB; nodesep={inches(NODE_GAP)}; ranksep={inches(LAYER_GAP)};",
        'node [shape=box, fixedsize=true, label=""];',
        "edge [arrowsize=0.8];",
    ]
    lines += [
        f"n{index} [width={inches(width)}, height={inches(height)}];"
        for index, (width, height) in enumerate(problem.sizes)
    ]
    if 0 < len(problem.first) <= _MOST_IN_FIRST_ROW:
        lines.append(f"{{ rank=min; {' '.join(f'n{index};' for index in problem.first)} }}")
    if problem.last:
        lines.append(f"{{ rank=max; {' '.join(f'n{index};' for index in problem.last)} }}")
    lines += [
        f'n{tail} -> n{head} [id="{index}"];' for index, (tail, head) in enumerate(problem.edges)
    ]
    return "\n".join([*lines, "}"])


def lay_out_in_layers(problem: BlockProblem) -> Drawing:
    """Returns a layout in time linear in boxes, edges and the layers that edges pass."""
    count = len(problem.sizes)
    backward = back_edges(count, problem.edges)
    forward = [
        (head, tail) if index in backward else (tail, head)
        for index, (tail, head) in enumerate(problem.edges)
    ]
    layers = longest_path(count, forward)
    _settle(layers, forward, problem)
    paths = with_lanes(layers, forward)
    rows = ordered(layers, paths)
    sizes = [*problem.sizes, *((_LANE_WIDTH, 0.0) for _ in range(len(layers) - count))]
    centres = _centres(rows, sizes, paths)
    tops, heights = _row_extents(rows, sizes)
    boxes = tuple(
        Box(
            centres[i] - width / 2,
            tops[layers[i]],
            width,
            height,
        )
        for i, (width, height) in enumerate(problem.sizes)
    )
    ports = _Ports(boxes, forward)
    splines: list[Spline] = []
    for index, path in enumerate(paths):
        lanes = [(centres[lane], tops[layers[lane]], heights[layers[lane]]) for lane in path[1:-1]]
        layer = layers[path[0]]
        bottom = tops[layer] + heights[layer]
        curve = _curve(ports.leave(index), bottom, lanes, ports.arrive(index))
        splines.append(_reversed(curve) if index in backward else curve)
    return Drawing(boxes, tuple(splines))


def _settle(layers: list[int], edges: Sequence[tuple[int, int]], problem: BlockProblem) -> None:
    """Lets boxes that nothing leads to stand just above their first user, and ends at the end."""
    heads: dict[int, list[int]] = {}
    fed = {head for _, head in edges}
    for tail, head in edges:
        heads.setdefault(tail, []).append(head)
    is_row = len(problem.first) <= _MOST_IN_FIRST_ROW
    for node, users in heads.items():
        if node not in fed and not (is_row and node in problem.first):
            layers[node] = max(0, min(layers[user] for user in users) - 1)
    deepest = max(layers, default=0)
    for node in problem.last:
        if node not in heads:
            layers[node] = max(layers[node], deepest)


def _centres(
    rows: list[list[int]], sizes: Sequence[tuple[float, float]], paths: list[list[int]]
) -> list[float]:
    """Each row keeps its order; every box moves to the middle of what it is joined with."""
    beside: list[list[int]] = [[] for _ in sizes]
    for path in paths:
        for one, other in pairwise(path):
            beside[one].append(other)
            beside[other].append(one)
    centres = [0.0] * len(sizes)
    for row in rows:
        x = -sum(sizes[node][0] + NODE_GAP for node in row) / 2
        for node in row:
            centres[node] = x + sizes[node][0] / 2
            x += sizes[node][0] + NODE_GAP
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [
                sum(centres[other] for other in beside[node]) / len(beside[node])
                if beside[node]
                else centres[node]
                for node in row
            ]
            _spread(row, wanted, sizes, centres)
    return centres


def _spread(
    row: list[int], wanted: list[float], sizes: Sequence[tuple[float, float]], centres: list[float]
) -> None:
    """Places a row as near as can be to where its boxes want to be, without overlap.

    Source: isotonic regression by pooling adjacent violators.
    """
    offset = 0.0
    offsets: list[float] = []
    for place, node in enumerate(row):
        if place:
            offset += (sizes[row[place - 1]][0] + sizes[node][0]) / 2 + NODE_GAP
        offsets.append(offset)
    pools: list[tuple[float, int]] = []
    for want, at in zip(wanted, offsets, strict=True):
        mean, size = want - at, 1
        while pools and pools[-1][0] > mean:
            before, many = pools.pop()
            mean = (mean * size + before * many) / (size + many)
            size += many
        pools.append((mean, size))
    shifts = [mean for mean, size in pools for _ in range(size)]
    for node, at, shift in zip(row, offsets, shifts, strict=True):
        centres[node] = at + shift


def _row_extents(
    rows: list[list[int]], sizes: Sequence[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    tops: list[float] = []
    heights: list[float] = []
    y = 0.0
    for row in rows:
        height = max((sizes[node][1] for node in row), default=0.0)
        tops.append(y)
        heights.append(height)
        y += height + LAYER_GAP
    return tops, heights


class _Ports:
    """Where edges leave and arrive: spread along the edges of the boxes, in order of the ends."""

    def __init__(self, boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> None:
        self.boxes = boxes
        self.edges = edges
        self.fans = Counter(head for _, head in edges)
        by_head: dict[int, list[int]] = {}
        for index, (_, head) in enumerate(edges):
            by_head.setdefault(head, []).append(index)
        self.rank: dict[int, int] = {}
        for indexes in by_head.values():
            indexes.sort(key=lambda index: boxes[edges[index][0]].x)
            self.rank.update({index: rank for rank, index in enumerate(indexes)})

    def leave(self, index: int) -> Point:
        """The bottom of the box where an edge begins."""
        box = self.boxes[self.edges[index][0]]
        return box.x + box.width / 2, box.y + box.height

    def arrive(self, index: int) -> Point:
        """The top of the box where it ends."""
        head = self.edges[index][1]
        box = self.boxes[head]
        share = (self.rank[index] + 1) / (self.fans[head] + 1)
        return box.x + box.width * share, box.y


def _curve(
    start: Point, bottom: float, lanes: Sequence[tuple[float, float, float]], tip: Point
) -> Spline:
    points = [start]
    if bottom > start[1]:
        # Straight down beside the taller boxes of its row.
        _bend_to(points, (start[0], bottom))
    for x, top, height in lanes:
        _bend_to(points, (x, top))
        _bend_to(points, (x, top + height))
    _bend_to(points, (tip[0], tip[1] - ARROW_LENGTH))
    return Spline(tuple(points), tip)


def _bend_to(points: list[Point], end: Point) -> None:
    """Adds a segment that is upright at both its ends."""
    x, y = points[-1]
    half = (end[1] - y) / 2
    points += [(x, y + half), (end[0], end[1] - half), end]


def _reversed(curve: Spline) -> Spline:
    """The same way upwards, with the arrow at the other end."""
    (x, y), *_ = curve.points
    middle = curve.points[-2:0:-1]
    return Spline((curve.tip, *middle, (x, y + ARROW_LENGTH)), (x, y))
