"""Sizes of a function graph's drawing, and what a layout engine is given and gives back."""

from collections.abc import Sequence
from dataclasses import dataclass

NODE_HEIGHT = 44.0
MIN_WIDTH = 150.0
MAX_WIDTH = 264.0
ROW_GAP = 13.0
COLUMN_GAP = 44.0
ARROW_LENGTH = 8.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Problem:
    """What to lay out, in numbers: node `i` wants `widths[i]` px, `edges` join node numbers."""

    widths: Sequence[float]
    edges: Sequence[tuple[int, int]]
    """Without self loops."""
    first_column: Sequence[int] = ()
    """Nodes that stand at the very left: entries that nobody calls."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node's place, in px from the top left corner."""

    x: float
    y: float
    width: float
    height: float = NODE_HEIGHT

    @property
    def left(self) -> Point:
        """Where edges arrive."""
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> Point:
        """Where edges leave."""
        return self.x + self.width, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Spline:
    """A curve of cubic Bézier segments: `points` is start, control, control, end, control, ….

    The curve ends at the arrow's base; the arrow points from there to `tip`.
    """

    points: tuple[Point, ...]
    tip: Point

    def moved(self, dx: float, dy: float) -> "Spline":
        """Returns the same curve elsewhere."""
        points = tuple((x + dx, y + dy) for x, y in self.points)
        return Spline(points, (self.tip[0] + dx, self.tip[1] + dy))


@dataclass(frozen=True, slots=True)
class Drawing:
    """An engine's answer: one box a node, one spline an edge, in the order of the problem."""

    boxes: tuple[Box, ...]
    splines: tuple[Spline, ...]


def adjacent_curve(tail: Box, head: Box, bow: float = 0.0) -> Spline:
    """Returns the curve between columns side by side: level at both ends, in the empty gap.

    Args:
        tail: The caller.
        head: The callee.
        bow: How far the middle is pushed down, to tell several edges of one pair apart.
    """
    (x, y), tip = tail.right, head.left
    base = (tip[0] - ARROW_LENGTH, tip[1])
    middle = (x + base[0]) / 2
    return Spline(((x, y), (middle, y + bow), (middle, base[1] + bow), base), tip)


def is_adjacent(tail: Box, head: Box) -> bool:
    """True if `head` stands in the column right of `tail`, so that nothing lies between them."""
    return 0 < head.x - tail.right[0] < 1.5 * COLUMN_GAP
