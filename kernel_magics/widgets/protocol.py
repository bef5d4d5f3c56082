"""What the front end is shown of a module: the traits, and what a saved notebook keeps of them.

`protocol.py`, `protocol_ops.py` and `protocol_commands.py` are the one place where the wire is
declared: `jupyter_ext/src/protocol.ts` is written from them by `jupyter_ext/write_protocol.py`.

State that a view opened later must see is a trait: `view`, a `ModuleView`, and `note`, words for
the status line such as what a compile took.
"""

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from kernel_magics.widgets.protocol_diff import SavedDiff

if TYPE_CHECKING:
    from kernel_magics.widgets.protocol_ops import OpsDrawing

NodeKind = Literal["function", "declaration", "custom_call", "group"]
NodeStatus = Literal["kept", "renamed", "reused", "missing"]
EdgeKind = Literal["call", "bound", "composite", "reference", "custom_call"]
Why = Literal["kept", "renamed", "reused", "bound", "missing"]


class UnitView(TypedDict):
    """One unit of the module."""

    name: str
    letter: str
    has_text: bool


class NodeView(TypedDict):
    """One node of the functions view; lengths in px from the top left corner."""

    id: str
    kind: NodeKind
    status: NodeStatus
    name: str
    """As the author wrote it, with `@` where it is a symbol; control characters are spelled."""
    merged: str
    """The name in the linked module where it differs, with `@`; else empty."""
    facts: list[str]
    """What the second row says; the status comes first."""
    units: list[int]
    """Places in `units` of those that define it."""
    is_entry: bool
    op_count: int
    line: int | None
    """Line of the definition in its first unit's text, from 1."""
    members: int
    """How many functions and custom calls a group stands for; 0 for all else."""
    x: float
    y: float
    width: float


class EdgeView(TypedDict):
    """One edge: a curve of cubic Bézier segments that ends at the base of its arrow."""

    caller: int
    """Place in `nodes`."""
    callee: int
    kind: EdgeKind
    count: int
    points: list[float]
    """x, y of start, control, control, end, control, …."""
    tip: list[float]


class ModuleView(TypedDict):
    """The functions of a module as they are drawn, and what the status line says."""

    version: Literal[1]
    title: str
    text_word: str
    """What the text with the number -1 is called: `Merged`, or `Printed` for a lone program."""
    digest: str
    """Equal for views of equal modules."""
    units: list[UnitView]
    nodes: list[NodeView]
    edges: list[EdgeView]
    width: float
    height: float
    counts: list[str]
    """`14 functions`, `3 units`, ….; the words of the status line."""
    missing: list[str]
    """Names that nothing serves."""
    folded: str
    """What is not drawn, in words; empty when everything is."""
    opened: list[str]
    engine: str
    layout_time_ms: float
    drawn_at: str
    saved: NotRequired["SavedTexts"]
    """Only in a saved notebook: what can be shown without a kernel."""


class SymbolRow(TypedDict):
    """What became of one symbol of one unit."""

    unit: int
    """Place in `units`; -1 for a program that is no unit of a session."""
    old: str
    new: str
    why: Why
    kind: str
    explanation: str
    uses: int
    line: int | None
    node: str
    """Id of its node in the graph; empty where it is no function."""


class SavedText(TypedDict):
    """A text, whole."""

    facts: "TextView"
    lines: list[str]


class SavedTexts(TypedDict):
    """Symbols and texts, kept in the notebook as far as there is room."""

    note: str
    first_tab: str
    """What is shown first; empty for the functions."""
    symbols: NotRequired[list[SymbolRow]]
    texts: list[SavedText]
    diffs: NotRequired[list[SavedDiff]]
    """Only on a page of its own, as are drawings of ops."""
    drawings: NotRequired[list["OpsDrawing"]]


class TextRange(TypedDict):
    """Where one function stands in a text: first and last line, from 1."""

    node: str
    first: int
    last: int


class TextView(TypedDict):
    """What is to be known about a text before its lines are asked for."""

    text: int
    """Place in `units`, or -1 for the merged text."""
    line_count: int
    ranges: list[TextRange]


class FunctionText(TypedDict):
    """One function as a text has it."""

    text: int
    first: int
    lines: list[str]
    left_out: int
