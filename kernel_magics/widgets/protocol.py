"""What kernel and front end say to each other: the one place where the wire is declared.

`jupyter_ext/src/protocol.ts` is written from this file by `jupyter_ext/write_protocol.py`.

State that a view opened later must see is a trait: `view`, a `ModuleView`, and `note`, words for
the status line such as what a compile took. An action is a
`Command`: a custom message with an id, answered by one `Reply` with the same id.
"""

from typing import Literal, NotRequired, TypedDict

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


class SavedTexts(TypedDict):
    """Symbols and merged text, kept in the notebook as far as there is room."""

    note: str
    symbols: NotRequired[list[SymbolRow]]
    merged: NotRequired["TextView"]
    lines: NotRequired[list[str]]


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


class FunctionAnswer(TypedDict):
    """A function's texts, the merged one first, and its signature."""

    texts: list[FunctionText]
    type: str
    """`(4x64xf32, i32) → 64xf32`; empty where it is not known."""
    callers: list[str]
    callees: list[str]


class SymbolsAnswer(TypedDict):
    """The whole rename map."""

    rows: list[SymbolRow]


class LinesAnswer(TypedDict):
    """Lines of a text, those that were asked for as far as there are so many."""

    first: int
    lines: list[str]


class Hit(TypedDict):
    """One function that a query found."""

    node: str
    name: str
    merged: str
    group: str
    """Id of the group it is folded into; empty where it is drawn itself."""


class HitsAnswer(TypedDict):
    """What a query found, in the order of the module."""

    hits: list[Hit]
    total: int


class DrawnAnswer(TypedDict):
    """The trait `view` holds what was asked for."""

    digest: str


class FunctionCommand(TypedDict):
    """Give the texts of one function."""

    kind: Literal["function"]
    id: str
    node: str


class SymbolsCommand(TypedDict):
    """Give the rename map."""

    kind: Literal["symbols"]
    id: str


class TextCommand(TypedDict):
    """Give what is to be known about a text."""

    kind: Literal["text"]
    id: str
    text: int


class LinesCommand(TypedDict):
    """Give lines of a text."""

    kind: Literal["lines"]
    id: str
    text: int
    first: int
    count: int


class FindCommand(TypedDict):
    """Find functions by their names."""

    kind: Literal["find"]
    id: str
    query: str


class OpenCommand(TypedDict):
    """Draw the first members of a group."""

    kind: Literal["open"]
    id: str
    group: str


class CloseCommand(TypedDict):
    """Fold what was opened."""

    kind: Literal["close"]
    id: str


class RedrawCommand(TypedDict):
    """Draw the module as it is at this moment."""

    kind: Literal["redraw"]
    id: str


Command = (
    FunctionCommand
    | SymbolsCommand
    | TextCommand
    | LinesCommand
    | FindCommand
    | OpenCommand
    | CloseCommand
    | RedrawCommand
)


class Answers(TypedDict):
    """Which command is answered by what."""

    function: FunctionAnswer
    symbols: SymbolsAnswer
    text: TextView
    lines: LinesAnswer
    find: HitsAnswer
    open: DrawnAnswer
    close: DrawnAnswer
    redraw: DrawnAnswer


Answer = FunctionAnswer | SymbolsAnswer | TextView | LinesAnswer | HitsAnswer | DrawnAnswer


class AnsweredReply(TypedDict):
    """A command was done."""

    kind: Literal["answered"]
    id: str
    answer: Answer
    is_outdated: bool
    """Whether the module has changed since the view was drawn."""


class FailedReply(TypedDict):
    """A command was not done."""

    kind: Literal["failed"]
    id: str
    message: str


Reply = AnsweredReply | FailedReply
