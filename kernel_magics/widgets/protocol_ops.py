"""What the front end is shown of one function's ops; written into `protocol.ts` as well."""

from typing import Literal, TypedDict

from kernel_magics.widgets.protocol import FunctionText

ItemKind = Literal["op", "argument", "captured", "return", "group"]


class OpsRequest(TypedDict):
    """What of a function is to be drawn."""

    function: str
    """Id of its node."""
    root: str
    """Id of the op whose regions are entered; empty for the function."""
    focus: str
    """Id of the op whose neighbours alone are drawn; empty for all."""
    hops: int
    opened: list[str]
    """Ids of groups and ops that shall be open."""
    closed: list[str]
    """Ids of ops whose regions shall be folded."""
    folds_trivial: bool


class OpItem(TypedDict):
    """One thing that is drawn; lengths in px from the top left corner."""

    id: str
    """That of its op; `FIRST..LAST` for a group, `BLOCK^OP:RESULT` for a captured value."""
    op: str
    """Id of the op or argument that it shows; for a group the first one."""
    kind: ItemKind
    does: str
    """What kind of work it does: `elementwise`, `reduce`, …."""
    name: str
    """With the dialect: `stablehlo.add`; empty for an argument."""
    label: str
    note: str
    types: list[str]
    """Of its results."""
    line: int
    """In the text of its unit, from 1; 0 where it is not known."""
    block: int
    """Place in `blocks` of the block that it stands in."""
    is_open: bool
    """Whether its regions are drawn inside it."""
    folded_ops: int
    """Ops in it that are not drawn."""
    callee: str
    """Id of the function that it calls, where that can be opened."""
    x: float
    y: float
    width: float
    height: float


class OpBlock(TypedDict):
    """One block: the function's, or one of a region that is open."""

    id: str
    name: str
    title: str
    """How much it holds, in words."""
    item: int
    """Place in `items` of the op that it belongs to; -1 for the outermost."""
    is_framed: bool
    x: float
    y: float
    width: float
    height: float


class OpLink(TypedDict):
    """One item uses what another gives: cubic Bézier segments, then the arrow's point."""

    source: int
    """Place in `items`."""
    target: int
    type: str
    via: list[str]
    """Names of ops folded into it."""
    points: list[float]
    tip: list[float]


class OpType(TypedDict):
    """The type of a value, written beside its edge."""

    text: str
    x: float
    """Its left end."""
    y: float
    """Its base line."""


class PathStep(TypedDict):
    """One op that was entered."""

    op: str
    label: str


class OpsDrawing(TypedDict):
    """The ops of one function as they are drawn."""

    request: OpsRequest
    """What was asked for; without what had to be folded again for want of room."""
    name: str
    """As the author wrote it, with `@`."""
    merged: str
    """The name in the linked module where it differs, with `@`; else empty."""
    path: list[PathStep]
    """The ops that were entered, outermost first."""
    items: list[OpItem]
    """Outer before inner, in the order of the text."""
    blocks: list[OpBlock]
    """Outer before inner."""
    links: list[OpLink]
    types: list[OpType]
    width: float
    height: float
    counts: list[str]
    """How much there is and how much of it is drawn."""
    folded: list[str]
    """What is not drawn, one phrase a rule."""
    engine: str
    layout_time_ms: float


class OpValue(TypedDict):
    """A value, or an op that uses one."""

    name: str
    type: str
    op: str
    """Id of the op or argument to go to; empty for none."""


class OpAttribute(TypedDict):
    """One attribute of an op, large values elided."""

    name: str
    value: str


class TextPlace(TypedDict):
    """Where an op stands in a text."""

    text: int
    """Place in `units`, or -1 for the merged text."""
    line: int
    column: int
    """In characters, from 1."""


class OpAnswer(TypedDict):
    """All that is known of one op."""

    name: str
    label: str
    path: str
    """The function and the op's id: `@main/4/1.0.2`."""
    text: str
    """As MLIR prints it, its regions left out."""
    scope: str
    operands: list[OpValue]
    results: list[OpValue]
    users: list[OpValue]
    users_left_out: int
    attributes: list[OpAttribute]
    places: list[TextPlace]
    """In the merged text, in its unit's; those that are known."""
    texts: list[FunctionText]
    """What stands around it in these texts."""
    callee: str
    """Id of the function that it calls; empty for none that can be opened."""
    item: str
    """Id of the item that shows it or hides it in the drawing that was told of; empty for none."""


class OpAtAnswer(TypedDict):
    """What stands on a line."""

    function: str
    """Empty where no function stands there."""
    op: str
    """Empty for the function's own first line."""
