"""Sizes of the drawing of a function's ops, and what laying it out gives."""

from dataclasses import dataclass

from kernel_magics.graph.geometry import Box, Point
from kernel_magics.graph.layout import Engine
from kernel_magics.graph.measure import mono_width, sans_width
from kernel_magics.graph.ops_view import BlockView, Item, Link

OP_HEIGHT = 26.0
GROUP_HEIGHT = 44.0
CLOSED_HEIGHT = 30.0
OP_HEAD = 32.0
BLOCK_HEAD = 30.0
TEXT_X = 28.0
PILL_X = 13.0
NOTE_GAP = 7.0
RIGHT_PADDING = 11.0
NAME_SIZE = 12
NOTE_SIZE = 11

_LEAST_OP = 56.0
_LEAST_PILL = 44.0


@dataclass(frozen=True, slots=True)
class ItemBox:
    """Where an item is drawn, in px from the top left corner of the layout."""

    item: Item
    box: Box


@dataclass(frozen=True, slots=True)
class BlockBox:
    """Where a block of a region is drawn, its head included."""

    block: BlockView
    box: Box


@dataclass(frozen=True, slots=True)
class LinkPath:
    """How a link runs; it ends at its arrow's base, `tip` is the arrow's point."""

    link: Link
    source: str
    """Ids of items."""
    target: str
    points: tuple[Point, ...]
    tip: Point


@dataclass(frozen=True, slots=True)
class TypeLabel:
    """Where the type of a value is written."""

    text: str
    x: float
    """Its left end."""
    y: float
    """Its base line."""


@dataclass(frozen=True, slots=True)
class OpsLayout:
    """A drawn view in numbers: everything lies between (0, 0) and (width, height)."""

    width: float
    height: float
    items: tuple[ItemBox, ...]
    """Outer before inner."""
    blocks: tuple[BlockBox, ...]
    """Those with a frame: all but the outermost."""
    links: tuple[LinkPath, ...]
    types: tuple[TypeLabel, ...]
    engine: Engine
    """What placed the items; `plain` if it had to help out anywhere."""
    time_s: float = 0.0

    @property
    def open(self) -> list[ItemBox]:
        """Ops whose regions are drawn inside them."""
        return [placed for placed in self.items if placed.item.regions]


@dataclass(frozen=True, slots=True)
class ButtonRoom:
    """Widths in px that a drawing keeps free for what a reader can press; a picture has none."""

    group: float = 0.0
    closed: float = 0.0
    """Of an op whose regions are folded."""
    opened: float = 0.0
    """Of the head of an op whose regions are open."""


NO_BUTTONS = ButtonRoom()


def item_size(item: Item, room: ButtonRoom = NO_BUTTONS) -> tuple[float, float]:
    """Returns the width and height that an item wants while it is not open."""
    width, height = _bare_size(item)
    if item.kind == "group":
        return width + room.group, height
    return width + (room.closed if item.folded_ops else 0.0), height


def _bare_size(item: Item) -> tuple[float, float]:
    label, note = mono_width(item.label, NAME_SIZE), mono_width(item.note, NOTE_SIZE)
    if item.kind == "group":
        note = sans_width(item.note, NOTE_SIZE)
        return max(label, note) + PILL_X + RIGHT_PADDING, GROUP_HEIGHT
    if item.kind == "op":
        room = NOTE_GAP + note if item.note else 0.0
        inner = sans_width(closed_note(item), NOTE_SIZE) + NOTE_GAP if item.folded_ops else 0.0
        height = CLOSED_HEIGHT if item.folded_ops else OP_HEIGHT
        return max(_LEAST_OP, TEXT_X + label + room + inner + RIGHT_PADDING), height
    label = mono_width(item.label, NOTE_SIZE)
    room = NOTE_GAP + note if item.note else 0.0
    return max(_LEAST_PILL, 2 * PILL_X + label + room), OP_HEIGHT


def closed_note(item: Item) -> str:
    """Returns what an op says whose regions are folded."""
    return f"{item.folded_ops:,} {'op' if item.folded_ops == 1 else 'ops'} inside"


def block_title(block: BlockView) -> str:
    """Returns what stands in the head of a region."""
    ops = f"{block.op_count:,} {'op' if block.op_count == 1 else 'ops'}"
    unused = f" · {block.unused:,} unused" if block.unused else ""
    return f"{block.name}  {ops}{unused}".strip()
