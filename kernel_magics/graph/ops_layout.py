"""Places the items of a view: every block from top to bottom, regions as boxes inside boxes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel_magics.graph.geometry import Box, Drawing, Spline
from kernel_magics.graph.layout import Engine, available_engines
from kernel_magics.graph.layout_graphviz import EngineFailedError, find_engine
from kernel_magics.graph.measure import mono_width, sans_width
from kernel_magics.graph.ops_geometry import (
    BLOCK_HEAD,
    NO_BUTTONS,
    NOTE_SIZE,
    OP_HEAD,
    BlockBox,
    ButtonRoom,
    ItemBox,
    LinkPath,
    OpsLayout,
    block_title,
    item_size,
)
from kernel_magics.graph.ops_labels import place_types
from kernel_magics.graph.ops_problem import BlockProblem, lay_out_downwards, lay_out_in_layers
from kernel_magics.graph.ops_view import BlockView, Item, OpsView

_LEAST_OPEN = 120.0
_MOST_ROOM = 24
# The gap between boxes is part of a type's room.
_SHARED = 6.0
_PADDING = 12.0
_TIME_LIMIT_S = 1.5
# Regions up to this width in all stand side by side, as branches do on paper.
_SIDE_BY_SIDE = 1000.0


@dataclass(slots=True)
class _Placed:
    """One block with all inside it, from its own corner."""

    width: float
    height: float
    items: list[ItemBox]
    blocks: list[BlockBox]
    links: list[LinkPath]

    def add(self, inner: "_Placed") -> None:
        self.items += inner.items
        self.blocks += inner.blocks
        self.links += inner.links

    def moved(self, dx: float, dy: float) -> "_Placed":
        return _Placed(
            self.width,
            self.height,
            [ItemBox(one.item, _moved(one.box, dx, dy)) for one in self.items],
            [BlockBox(one.block, _moved(one.box, dx, dy)) for one in self.blocks],
            [_moved_path(path, dx, dy) for path in self.links],
        )


class _Layouter:
    def __init__(self, engine: Engine | None, time_limit_s: float, room: ButtonRoom) -> None:
        self.room = room
        name = engine or available_engines()[0]
        self.engine: Engine = name
        self.command = None if name == "plain" else find_engine(name)
        if self.command is None:
            self.engine = "plain"
        self.deadline = time.monotonic() + time_limit_s

    def block(self, view: BlockView) -> _Placed:
        """Inner blocks first: their size is that of the op that holds them."""
        inner = [self._inside(item) for item in view.items]
        sizes = [
            (placed.width, placed.height) if placed else item_size(item, self.room)
            for item, placed in zip(view.items, inner, strict=True)
        ]
        drawing = self._draw(view, _with_room(view, sizes))
        boxes = [
            Box(box.x + (box.width - width) / 2, box.y, width, box.height)
            for box, (width, _) in zip(drawing.boxes, sizes, strict=True)
        ]
        drawing = replace(drawing, boxes=tuple(boxes))
        left, top, right, bottom = _extent(drawing)
        found = _Placed(right - left, bottom - top, [], [], [])
        for item, placed, box in zip(view.items, inner, drawing.boxes, strict=True):
            at = _moved(box, -left, -top)
            found.items.append(ItemBox(item, at))
            if placed is not None:
                found.add(placed.moved(at.x, at.y))
        for link, curve in zip(view.links, drawing.splines, strict=True):
            moved = curve.moved(-left, -top)
            ends = view.items[link.source].id, view.items[link.target].id
            found.links.append(LinkPath(link, *ends, moved.points, moved.tip))
        return found

    def _inside(self, item: Item) -> _Placed | None:
        """The regions of an open op, below its head."""
        if not item.regions:
            return None
        placed = [self.framed(block) for block in item.regions]
        together = sum(one.width for one in placed) + _PADDING * (len(placed) + 1)
        is_row = len(placed) > 1 and together <= _SIDE_BY_SIDE
        inner = together if is_row else max(one.width for one in placed) + 2 * _PADDING
        head = item_size(item)[0] + self.room.opened + 2 * _PADDING
        width = max(head, _LEAST_OPEN, inner)
        tallest = max(one.height for one in placed)
        found = _Placed(width, 0.0, [], [], [])
        x, y = _PADDING, OP_HEAD + _PADDING
        for block, one in zip(item.regions, placed, strict=True):
            box_width = one.width if is_row else width - 2 * _PADDING
            box = Box(x, y, box_width, tallest if is_row else one.height)
            found.blocks.append(BlockBox(block, box))
            found.add(one.moved(x + (box_width - one.width) / 2, y))
            if is_row:
                x += one.width + _PADDING
            else:
                y += one.height + _PADDING
        found.height = y + (tallest + _PADDING if is_row else 0.0)
        return found

    def framed(self, block: BlockView) -> _Placed:
        """A block with its head and room on all sides."""
        placed = self.block(block)
        head = sans_width(block_title(block), NOTE_SIZE, bold=True) + 2 * _PADDING
        width = max(placed.width + 2 * _PADDING, head)
        found = placed.moved((width - placed.width) / 2, BLOCK_HEAD + 4)
        found.width, found.height = width, placed.height + BLOCK_HEAD + 4 + _PADDING
        return found

    def _draw(self, view: BlockView, sizes: Sequence[tuple[float, float]]) -> Drawing:
        problem = BlockProblem(
            sizes,
            [(link.source, link.target) for link in view.links],
            [n for n, item in enumerate(view.items) if item.kind in ("argument", "captured")],
            [n for n, item in enumerate(view.items) if item.kind == "return"],
        )
        try:
            return lay_out_downwards(problem, self.command, self.deadline)
        except EngineFailedError:
            # A picture that is less tidy is worth more than none.
            self.engine, self.command = "plain", None
            return lay_out_in_layers(problem)


def lay_out_ops(
    view: OpsView,
    engine: Engine | None = None,
    time_limit_s: float = _TIME_LIMIT_S,
    room: ButtonRoom = NO_BUTTONS,
) -> OpsLayout:
    """Returns where to draw the items of a view and how their links run.

    Args:
        view: What to draw.
        engine: The one to use; without it `dot`, else `graphviz-pure`.
        time_limit_s: How long Graphviz may take for all blocks together; then the plain
            layering takes its place.
        room: What is kept free for buttons.
    """
    began = time.monotonic()
    layouter = _Layouter(engine, time_limit_s, room)
    has_frames = len(view.blocks) > 1 or any(block.name for block in view.blocks)
    found = _Placed(0.0, 0.0, [], [], [])
    y = 0.0
    for block in view.blocks:
        placed = layouter.framed(block) if has_frames else layouter.block(block)
        if has_frames:
            found.blocks.append(BlockBox(block, Box(0.0, y, placed.width, placed.height)))
        found.add(placed.moved(0.0, y))
        found.width = max(found.width, placed.width)
        found.height = y + placed.height
        y = found.height + _PADDING
    return OpsLayout(
        found.width,
        found.height,
        tuple(found.items),
        tuple(found.blocks),
        tuple(found.links),
        place_types(found.items, found.blocks, found.links, found.width),
        layouter.engine,
        time.monotonic() - began,
    )


def _with_room(view: BlockView, sizes: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Pills stand so far apart that their types fit between them."""
    types: dict[int, float] = {}
    for link in view.links:
        if view.items[link.source].kind in ("argument", "captured"):
            types.setdefault(link.source, mono_width(link.type[:_MOST_ROOM], NOTE_SIZE))
    return [
        (max(width, types.get(number, 0.0) - _SHARED), height)
        for number, (width, height) in enumerate(sizes)
    ]


def _extent(drawing: Drawing) -> tuple[float, float, float, float]:
    corners = [(box.x, box.y) for box in drawing.boxes]
    corners += [(box.x + box.width, box.y + box.height) for box in drawing.boxes]
    corners += [point for curve in drawing.splines for point in (*curve.points, curve.tip)]
    if not corners:
        return 0.0, 0.0, 0.0, 0.0
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _moved(box: Box, dx: float, dy: float) -> Box:
    return Box(box.x + dx, box.y + dy, box.width, box.height)


def _moved_path(path: LinkPath, dx: float, dy: float) -> LinkPath:
    curve = Spline(path.points, path.tip).moved(dx, dy)
    return replace(path, points=curve.points, tip=curve.tip)
