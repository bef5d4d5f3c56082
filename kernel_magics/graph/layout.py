"""Places the nodes of a function graph, left to right, and routes its edges."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kernel_magics.graph.geometry import (
    ARROW_LENGTH,
    MAX_WIDTH,
    MIN_WIDTH,
    NODE_HEIGHT,
    ROW_GAP,
    Box,
    Drawing,
    Point,
    Problem,
    Spline,
)
from kernel_magics.graph.layout_graphviz import (
    EngineFailedError,
    find_engine,
    lay_out_with_graphviz,
)
from kernel_magics.graph.layout_plain import lay_out_plainly
from kernel_magics.graph.model import CallEdge, CallGraph, FunctionNode

Engine = Literal["dot", "graphviz-pure", "plain"]

_TIME_LIMIT_S = 5.0
_GRID_GAP = 24.0
_GRID_COLUMNS = 3
_GRID_COLUMNS_OF_MANY = 4
_MANY = 24
_LOOP_REACH = 26.0


@dataclass(frozen=True, slots=True)
class NodeBox:
    """Where one node is drawn, in px from the top left corner of the layout."""

    node: FunctionNode
    box: Box


@dataclass(frozen=True, slots=True)
class EdgePath:
    """How one edge runs; it ends at its arrow's base, `tip` is the arrow's point."""

    edge: CallEdge
    points: tuple[Point, ...]
    """Start, control, control, end, control, …: cubic Bézier segments."""
    tip: Point


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawn graph in numbers: everything lies between (0, 0) and (width, height)."""

    width: float
    height: float
    nodes: tuple[NodeBox, ...]
    edges: tuple[EdgePath, ...]
    engine: Engine
    """What placed the nodes in the end."""


def lay_out(
    graph: CallGraph,
    widths: Mapping[str, float] | None = None,
    engine: Engine | None = None,
    time_limit_s: float = _TIME_LIMIT_S,
) -> Layout:
    """Returns where to draw the nodes and edges of `graph`.

    Callers stand left of what they call; nodes without any edge stand in a grid below. Odd
    graphs do not fail: a second node of one id and an edge to nowhere are left out.

    Args:
        graph: The graph, folded already if it is large.
        widths: Node id to wanted width in px, brought into 150 … 264.
        engine: The one to use; without it `dot`, else `graphviz-pure`. Where an engine is
            missing, fails or takes too long, the plain layering takes its place.
        time_limit_s: How long Graphviz may take.
    """
    nodes: dict[str, FunctionNode] = {}
    for node in graph.nodes:
        nodes.setdefault(node.id, node)
    edges = [edge for edge in graph.edges if edge.caller in nodes and edge.callee in nodes]
    joined = {name for e in edges if e.caller != e.callee for name in (e.caller, e.callee)}
    wanted = {name: _clamped((widths or {}).get(name, MIN_WIDTH)) for name in nodes}
    core = [name for name in nodes if name in joined]
    number = {name: index for index, name in enumerate(core)}
    between = [edge for edge in edges if edge.caller != edge.callee]
    called = {edge.callee for edge in between}
    problem = Problem(
        [wanted[name] for name in core],
        [(number[edge.caller], number[edge.callee]) for edge in between],
        [number[name] for name in core if nodes[name].is_entry and name not in called],
    )
    drawing, used = _draw(problem, engine, time_limit_s)
    boxes = dict(zip(core, drawing.boxes, strict=True))
    boxes |= _grid([name for name in nodes if name not in joined], wanted, drawing)
    curves = iter(drawing.splines)
    routed = [
        (edge, next(curves) if edge.caller != edge.callee else _loop(boxes[edge.caller]))
        for edge in edges
    ]
    return _at_origin([(nodes[name], boxes[name]) for name in nodes], routed, used)


def available_engines() -> tuple[Engine, ...]:
    """Returns the engines of this machine, in the order in which they are tried."""
    return (*(name for name in ("dot", "graphviz-pure") if find_engine(name)), "plain")


def _draw(problem: Problem, engine: Engine | None, limit_s: float) -> tuple[Drawing, Engine]:
    name = engine or available_engines()[0]
    command = None if name == "plain" else find_engine(name)
    if command and problem.edges:
        try:
            return lay_out_with_graphviz(command, problem, limit_s), name
        except EngineFailedError:
            # A picture that is less tidy is worth more than none.
            pass
    return lay_out_plainly(problem), "plain"


def _grid(names: Sequence[str], wanted: Mapping[str, float], above: Drawing) -> dict[str, Box]:
    """Nodes without edges: in rows, for one tall column of them would be mostly blank."""
    if not names:
        return {}
    width = max(wanted[name] for name in names)
    left = min((box.x for box in above.boxes), default=0.0)
    extent = max((box.x + box.width for box in above.boxes), default=0.0) - left
    top = _bottom(above) + 2 * ROW_GAP if above.boxes else 0.0
    fitting = math.floor((extent + _GRID_GAP) / (width + _GRID_GAP))
    columns = max(_GRID_COLUMNS_OF_MANY if len(names) > _MANY else _GRID_COLUMNS, fitting)
    return {
        name: Box(
            left + index % columns * (width + _GRID_GAP),
            top + index // columns * (NODE_HEIGHT + ROW_GAP),
            width,
        )
        for index, name in enumerate(names)
    }


def _bottom(drawing: Drawing) -> float:
    boxes = [box.y + box.height for box in drawing.boxes]
    return max(boxes + [y for spline in drawing.splines for _, y in spline.points])


def _loop(box: Box) -> Spline:
    """A call of itself: out at the right and back, inside the gap of the columns."""
    x, y = box.right
    reach = x + _LOOP_REACH
    start, tip = (x, y - 12), (x, y + 12)
    return Spline((start, (reach, y - 14), (reach, y + 14), (x + ARROW_LENGTH, y + 12)), tip)


def _at_origin(
    boxes: list[tuple[FunctionNode, Box]], routed: list[tuple[CallEdge, Spline]], engine: Engine
) -> Layout:
    corners = [(box.x, box.y) for _, box in boxes]
    corners += [(box.x + box.width, box.y + box.height) for _, box in boxes]
    corners += [point for _, spline in routed for point in (*spline.points, spline.tip)]
    left, top = min((x for x, _ in corners), default=0.0), min((y for _, y in corners), default=0.0)
    moved = [(edge, spline.moved(-left, -top)) for edge, spline in routed]
    return Layout(
        width=max((x for x, _ in corners), default=0.0) - left,
        height=max((y for _, y in corners), default=0.0) - top,
        nodes=tuple(
            NodeBox(node, Box(box.x - left, box.y - top, box.width)) for node, box in boxes
        ),
        edges=tuple(EdgePath(edge, spline.points, spline.tip) for edge, spline in moved),
        engine=engine,
    )


def _clamped(width: float) -> float:
    return min(MAX_WIDTH, max(MIN_WIDTH, float(math.ceil(width))))
