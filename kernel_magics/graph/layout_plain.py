"""Lays a graph out without any program: longest-path layers, ordered by their neighbours."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

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

# A lane is the place that a long edge takes in a column it passes.
_LANE_HEIGHT = 4.0
_MOST_LANES = 5_000
_SWEEPS = 4
_STUB = 22.0
_BOW = 14.0


def lay_out_plainly(problem: Problem) -> Drawing:
    """Returns a left-to-right layout in time linear in nodes, edges and lanes."""
    count = len(problem.widths)
    backward = _back_edges(count, problem.edges)
    forward = [
        (head, tail) if index in backward else (tail, head)
        for index, (tail, head) in enumerate(problem.edges)
    ]
    layers = _longest_path(count, forward)
    paths = _with_lanes(layers, forward)
    columns = _ordered(layers, paths)
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


def _back_edges(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """The edges that close a cycle, by a depth-first walk without recursion."""
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for index, (tail, head) in enumerate(edges):
        leaving[tail].append((index, head))
    has_caller = {head for _, head in edges}
    order = sorted(range(count), key=lambda node: node in has_caller)
    back: set[int] = set()
    state = [0] * count  # 0 new, 1 on the path, 2 done
    for root in order:
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(leaving[root]))]
        while stack:
            node, rest = stack[-1]
            for index, head in rest:
                if state[head] == 1:
                    back.add(index)
                elif state[head] == 0:
                    state[head] = 1
                    stack.append((head, iter(leaving[head])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return back


def _longest_path(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    heads: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for tail, head in edges:
        heads[tail].append(head)
        waiting[head] += 1
    layers = [0] * count
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:  # grows while it is walked
        for head in heads[node]:
            layers[head] = max(layers[head], layers[node] + 1)
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    return layers


def _with_lanes(layers: list[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Gives long edges a lane in each column they pass; `layers` grows by the lanes."""
    needed = sum(max(0, layers[head] - layers[tail] - 1) for tail, head in edges)
    if needed > _MOST_LANES:
        return [[tail, head] for tail, head in edges]
    paths: list[list[int]] = []
    for tail, head in edges:
        passed = range(layers[tail] + 1, layers[head])
        lanes = range(len(layers), len(layers) + len(passed))
        layers.extend(passed)
        paths.append([tail, *lanes, head])
    return paths


def _ordered(layers: list[int], paths: list[list[int]]) -> list[list[int]]:
    """Sorts every column by the mean place of its neighbours in the columns beside it."""
    columns: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for node, layer in enumerate(layers):
        columns[layer].append(node)
    before, after = _neighbours(paths)
    for sweep in range(_SWEEPS):
        leftward = sweep % 2 == 1
        beside = after if leftward else before
        place = {n: i / len(column) for column in columns for i, n in enumerate(column)}
        for column in reversed(columns) if leftward else columns:
            key = {n: _mean([place[m] for m in beside[n]], place[n]) for n in column}
            column.sort(key=key.__getitem__)
            place.update((n, i / len(column)) for i, n in enumerate(column))
    return columns


def _neighbours(
    paths: list[list[int]],
) -> tuple[defaultdict[int, list[int]], defaultdict[int, list[int]]]:
    before: defaultdict[int, list[int]] = defaultdict(list)
    after: defaultdict[int, list[int]] = defaultdict(list)
    for path in paths:
        for left, right in pairwise(path):
            before[right].append(left)
            after[left].append(right)
    return before, after


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


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default
