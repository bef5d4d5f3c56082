"""Finds room for the types of values beside their edges."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kernel_magics.graph.geometry import Box, Point
from kernel_magics.graph.measure import mono_width
from kernel_magics.graph.ops_geometry import (
    BLOCK_HEAD,
    NOTE_SIZE,
    OP_HEAD,
    BlockBox,
    ItemBox,
    LinkPath,
    TypeLabel,
)

_HEIGHT = 13.0
_BASE = 10.0
_BESIDE = 4.0
_CLEAR = 2.0
_CELL = 64.0
_SHARES = (0.5, 0.35, 0.65, 0.2, 0.8)
_MOST_TEXT = 40
_STACK = 8.0
# How far a type may stand out of the layout; a picture's padding is wider.
_MARGIN = 10.0


class _Taken:
    """Boxes by the cells of a grid, so that a look at one place does not see them all."""

    def __init__(self) -> None:
        self.cells: defaultdict[tuple[int, int], list[Box]] = defaultdict(list)

    def add(self, box: Box) -> None:
        for cell in _cells(box):
            self.cells[cell].append(box)

    def is_free(self, box: Box) -> bool:
        return not any(
            _overlap(box, other) for cell in _cells(box) for other in self.cells.get(cell, ())
        )


def place_types(
    items: Sequence[ItemBox],
    blocks: Sequence[BlockBox],
    links: Sequence[LinkPath],
    width: float,
) -> tuple[TypeLabel, ...]:
    """Returns where types are written: once a value, at its first edge with room.

    A type that finds no room is left out: it stands in the text and in the op's facts.
    """
    taken = _Taken()
    for placed in items:
        for box in _edges_of(placed):
            taken.add(box)
    for framed in blocks:
        box = framed.box
        taken.add(Box(box.x, box.y, box.width, BLOCK_HEAD - 6))
        for x in (box.x, box.x + box.width - 1):
            taken.add(Box(x, box.y, 1.0, box.height))
    labels: list[TypeLabel] = []
    done: set[tuple[str, int, str]] = set()
    for path in links:
        words = link_text(path)
        value = (path.source, path.link.result, words)
        if not words or value in done:
            continue
        for place in _places(path, mono_width(words, NOTE_SIZE)):
            is_inside = place.x >= -_MARGIN and place.x + place.width <= width + _MARGIN
            if is_inside and taken.is_free(place):
                taken.add(place)
                done.add(value)
                labels.append(TypeLabel(words, place.x, place.y + _BASE))
                break
    return tuple(labels)


def link_text(path: LinkPath) -> str:
    """Returns what is written beside an edge: the type, and of several values their number."""
    link = path.link
    words = link.type if len(link.type) <= _MOST_TEXT else link.type[: _MOST_TEXT - 1] + "…"
    if link.count == 1:
        return words
    return f"{link.count:,} × {words}" if words else f"{link.count:,} values"


def _edges_of(placed: ItemBox) -> Iterator[Box]:
    """What of an item covers: all of it, or the frame and the head of an open one."""
    box = placed.box
    if not placed.item.regions:
        stack = _STACK if placed.item.kind == "group" else 0.0
        yield Box(box.x, box.y, box.width + stack, box.height + stack)
        return
    yield Box(box.x, box.y, box.width, OP_HEAD)
    yield Box(box.x, box.y + box.height - 2, box.width, 2.0)


def _places(path: LinkPath, width: float) -> Iterator[Box]:
    """Beside the edge, first where it leaves, then where it arrives, then along it."""
    points = path.points
    segments = [points[at : at + 4] for at in range(0, len(points) - 1, 3)]
    for segment in [segments[0], segments[-1], *segments[1:-1]]:
        for share in _SHARES:
            x, y = _bezier(segment, share)
            yield Box(x + _BESIDE, y - _HEIGHT / 2, width, _HEIGHT)
            yield Box(x - _BESIDE - width, y - _HEIGHT / 2, width, _HEIGHT)


def _bezier(segment: Sequence[Point], t: float) -> Point:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x = sum(weight * point[0] for weight, point in zip(weights, segment, strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, segment, strict=True))
    return x, y


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(int(box.x // _CELL), int((box.x + box.width) // _CELL) + 1):
        for row in range(int(box.y // _CELL), int((box.y + box.height) // _CELL) + 1):
            yield column, row


def _overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width + _CLEAR
        and other.x < one.x + one.width + _CLEAR
        and one.y < other.y + other.height + _CLEAR
        and other.y < one.y + one.height + _CLEAR
    )
