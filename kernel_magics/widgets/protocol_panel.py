"""What the control panel and the kernel say to each other: tables, and what their buttons ask.

State is the trait `view`, a `PanelView`; what a cell does shows in it, too. A `PanelCommand` is
answered by one `PanelReply` with the same id as soon as its work is done, has begun, or is
refused; how work ends that takes long is in the state.
"""

from typing import Literal, TypedDict

PluginState = Literal[
    "in use", "loaded", "probing", "probed", "found", "no device", "broken", "forgotten"
]
PluginAction = Literal["use", "load", "probe", "forget"]
Serving = Literal["served", "fallback", "missing", "not loaded"]
Weight = Literal["", "ok", "warn", "bad"]


class PluginRow(TypedDict):
    """One plugin; what is not known is empty."""

    name: str
    state: PluginState
    source: str
    """Distribution and version, or a path."""
    pjrt: str
    ffi: str
    devices: str
    """`4 × Host`."""
    memory: str
    problem: str
    """Why it cannot be used, in a few words."""
    detail: str
    """The whole error."""
    advice: str
    waiting: str
    """What it is doing at this moment."""
    actions: list[PluginAction]
    """What can be asked for; the first is the one most wanted."""


class CallRow(TypedDict):
    """One target that somebody registered."""

    target: str
    served_by: str
    plugins: str
    """Where a handler serves it."""
    contract: str
    calls: int
    mean: str
    """Of a call, such as `3.1 µs`; empty before the first one."""
    problem: str
    """The last error in a few words; empty for none."""
    detail: str


class CoverageRow(TypedDict):
    """One target that the session calls, on each plugin."""

    target: str
    cells: list[Serving]
    """One for each of `covered`."""
    called_in: str


class CompareRow(TypedDict):
    """How one plugin did; texts as they are shown."""

    plugin: str
    compile: str
    run: str
    share: float
    """Of the slowest run, from 0 to 1: the length of the bar."""
    is_fastest: bool
    memory: str
    difference: str
    ulp: str
    result: str
    weight: Weight
    problem: str
    """Why it did not run; all else is empty then."""


class CompareView(TypedDict):
    """One comparison."""

    title: str
    conditions: str
    rows: list[CompareRow]
    summary: str
    text: str
    """All of it as a table of characters."""


class PanelFailure(TypedDict):
    """Why something was not done."""

    message: str
    detail: str
    """More on it, in lines."""
    advice: str


class PanelView(TypedDict):
    """All that the panel shows."""

    version: Literal[1]
    plugins: list[PluginRow]
    notes: list[str]
    """Words of the status line of the plugins."""
    calls: list[CallRow]
    covered: list[str]
    """Names of the plugins in the table of what is covered."""
    coverage: list[CoverageRow]
    missing: str
    """A sentence on targets that nothing serves where they may run; empty where there are none."""
    functions: list[str]
    """What can be compared."""
    comparisons: list[CompareView]
    """The latest one; empty before it."""
    comparing: str
    """What is compared at this moment; empty for nothing."""
    failure: PanelFailure | None
    """Of what had begun and did not work."""
    drawn_at: str


class PluginCommand(TypedDict):
    """Do something with one plugin."""

    kind: Literal["plugin"]
    id: str
    action: PluginAction
    name: str


class LoadPathCommand(TypedDict):
    """Load a shared library as a plugin."""

    kind: Literal["load_path"]
    id: str
    name: str
    path: str


class DiscoverCommand(TypedDict):
    """Look for plugins again."""

    kind: Literal["discover"]
    id: str


class RegisterCommand(TypedDict):
    """Register a symbol of a library."""

    kind: Literal["register"]
    id: str
    target: str
    library: str
    symbol: str
    plugins: list[str]
    """Where it serves; none for everywhere."""
    is_tried: bool
    """Whether it runs in a child process first."""


class UnregisterCommand(TypedDict):
    """Take the handler of a target away."""

    kind: Literal["unregister"]
    id: str
    target: str


class CompareCommand(TypedDict):
    """Run a function of the session on some plugins."""

    kind: Literal["compare"]
    id: str
    function: str
    plugins: list[str]


class RefreshCommand(TypedDict):
    """Read everything again."""

    kind: Literal["refresh"]
    id: str


PanelCommand = (
    PluginCommand
    | LoadPathCommand
    | DiscoverCommand
    | RegisterCommand
    | UnregisterCommand
    | CompareCommand
    | RefreshCommand
)


class DoneReply(TypedDict):
    """It is done, or has begun."""

    kind: Literal["done"]
    id: str
    words: str
    """For those who do not see the panel."""


class RefusedReply(TypedDict):
    """It was not done, and nothing has changed."""

    kind: Literal["refused"]
    id: str
    message: str
    advice: str
    detail: str
    """More on it, in lines."""


PanelReply = DoneReply | RefusedReply
