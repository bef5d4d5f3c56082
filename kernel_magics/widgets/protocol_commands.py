"""What the front end may ask, and what it is answered; written into `protocol.ts` as well.

An action is a `Command`: a custom message with an id, answered by one `Reply` with the same id.
"""

from typing import Literal, TypedDict

from kernel_magics.widgets.protocol import FunctionText, SymbolRow, TextView
from kernel_magics.widgets.protocol_diff import (
    DiffAnswer,
    DiffCommand,
    VersionLines,
    VersionLinesCommand,
    VersionsAnswer,
    VersionsCommand,
)
from kernel_magics.widgets.protocol_ops import OpAnswer, OpAtAnswer, OpsDrawing, OpsRequest

ExportForm = Literal["svg", "png", "dot", "html"]


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
    """One function or op that a query found."""

    node: str
    """Id of the function, or of that in which the op stands."""
    op: str
    """Id of the op; empty where the function itself was found."""
    name: str
    merged: str
    where: str
    """Function and line of an op; empty for a function."""
    group: str
    """Id of the group of functions that its function is folded into; empty for none."""
    item: str
    """Id of the item that shows the op or hides it in the drawing that was told of."""


class Suggestion(TypedDict):
    """Another query, and how much it finds."""

    query: str
    total: int


class HitsAnswer(TypedDict):
    """What a query found, in the order of the module."""

    hits: list[Hit]
    total: int
    nearest: list[Suggestion]
    """Where nothing was found: queries near to this one that find something."""


class DrawnAnswer(TypedDict):
    """The trait `view` holds what was asked for."""

    digest: str


class ExportAnswer(TypedDict):
    """A file."""

    name: str
    mime_type: str
    base64: str


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
    """Find functions or ops, in the syntax of `graph.find`."""

    kind: Literal["find"]
    id: str
    query: str
    within: str
    """Id of the function whose ops are searched; empty for the module."""
    drawn: OpsRequest | None
    """The drawing in which hits are to be marked."""


class OpsCommand(TypedDict):
    """Draw the ops of one function."""

    kind: Literal["ops"]
    id: str
    request: OpsRequest


class OpCommand(TypedDict):
    """Give all that is known of one op."""

    kind: Literal["op"]
    id: str
    function: str
    op: str
    drawn: OpsRequest | None
    """The drawing in which it is to be shown."""


class OpAtCommand(TypedDict):
    """Say which op stands on a line of a text."""

    kind: Literal["op_at"]
    id: str
    text: int
    line: int


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


class ExportCommand(TypedDict):
    """Give the view as a file."""

    kind: Literal["export"]
    id: str
    form: ExportForm
    function: str
    """Id of the function whose ops are wanted; empty for the functions. A page has both."""


Command = (
    FunctionCommand
    | SymbolsCommand
    | TextCommand
    | LinesCommand
    | FindCommand
    | OpsCommand
    | OpCommand
    | OpAtCommand
    | OpenCommand
    | CloseCommand
    | RedrawCommand
    | ExportCommand
    | VersionsCommand
    | DiffCommand
    | VersionLinesCommand
)


class Answers(TypedDict):
    """Which command is answered by what."""

    function: FunctionAnswer
    symbols: SymbolsAnswer
    text: TextView
    lines: LinesAnswer
    find: HitsAnswer
    ops: OpsDrawing
    op: OpAnswer
    op_at: OpAtAnswer
    open: DrawnAnswer
    close: DrawnAnswer
    redraw: DrawnAnswer
    export: ExportAnswer
    versions: VersionsAnswer
    diff: DiffAnswer
    version_lines: VersionLines


Answer = (
    FunctionAnswer
    | SymbolsAnswer
    | TextView
    | LinesAnswer
    | HitsAnswer
    | OpsDrawing
    | OpAnswer
    | OpAtAnswer
    | DrawnAnswer
    | ExportAnswer
    | VersionsAnswer
    | DiffAnswer
    | VersionLines
)


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
