"""What a cell shows: a live inspector, and the same as picture and words where there is none."""

from typing import TYPE_CHECKING, Any, Literal

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import DisplayHandle, display

from kernel_magics.characters import visible_lines
from kernel_magics.ir.link_report import LinkReport
from kernel_magics.sessions import Session

if TYPE_CHECKING:
    from kernel_magics.widgets.inspector import Inspector

Tab = Literal["functions", "text", "symbols"]


class Displays:
    """The inspectors that the cells of one shell show; a cell that runs again ends its own."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._cell = ""
        self._shown: dict[str, list[Inspector]] = {}

    @property
    def in_terminal(self) -> bool:
        """Whether nothing but text is ever seen, and nothing that was printed is taken back."""
        return not hasattr(self._shell, "kernel")

    def begin(self, cell: str) -> None:
        """Ends what an earlier run of a cell showed; what is shown next is this cell's.

        Args:
            cell: What tells the cell from others; empty for one that nothing tells apart.
        """
        self._cell = cell
        for inspector in self._shown.pop(cell, []) if cell else []:
            inspector.close()

    def inspector(self, session: Session, note: str, tab: Tab, words: str) -> "Inspector":
        """A widget of this cell."""
        # Widgets cost a terminal, which has none, a third of a second.
        from kernel_magics.widgets.inspector import Inspector  # noqa: PLC0415

        made = Inspector(session, note=note, first_tab=tab, words=words)
        if self._cell:
            self._shown.setdefault(self._cell, []).append(made)
        return made

    def end(self) -> None:
        """Ends all that is shown."""
        for cell in list(self._shown):
            self.begin(cell)


class GraphView:
    """The session's module: an inspector in a notebook, an outline in a terminal."""

    def __init__(
        self,
        displays: Displays,
        session: Session,
        note: str = "",
        first_tab: Tab = "functions",
        words: str = "",
    ) -> None:
        self._displays = displays
        self._session = session
        self._first_tab: Tab = first_tab
        self._words = words
        self._inspector: Inspector | None = None
        self._graph = session.graph() if displays.in_terminal and not words else None
        self.note = note

    def __repr__(self) -> str:
        if self._inspector is not None:
            return visible_lines(repr(self._inspector))
        outline = self._graph.to_text() if self._graph else self._words
        return "\n".join(filter(None, map(visible_lines, [outline.rstrip(), self.note])))

    def add_note(self, note: str) -> None:
        """Says one thing more."""
        self.note = f"{self.note} · {note}" if note else self.note
        if self._inspector is not None:
            self._inspector.note = self.note

    def first_bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What it is in each MIME type but for PNG, and metadata: what is there at once."""
        if self._displays.in_terminal:
            picture = {"image/svg+xml": self._graph.to_svg(note=self.note)} if self._graph else {}
            return {"text/plain": repr(self), **picture}, {}
        return self._live().first_bundle()

    def bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What it is in each MIME type, and metadata."""
        return self.first_bundle() if self._displays.in_terminal else self._live().bundle()

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.bundle()

    def _live(self) -> "Inspector":
        if self._inspector is None or self._inspector.comm is None:
            self._inspector = self._displays.inspector(
                self._session, self.note, self._first_tab, self._words
            )
        return self._inspector


class TextView:
    """Text as it stands, such as a module or a table of symbols."""

    def __init__(self, text: str, note: str = "") -> None:
        self.text = text
        self.note = note

    def __repr__(self) -> str:
        return visible_lines("\n".join(filter(None, [self.text.rstrip(), self.note])))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self)}


class CellView:
    """The display of one `%%hlo` cell: there at once, completed when the compile is done.

    It is the value of the cell, too. As it has been shown before the cell ends, it does not
    show itself a second time then.
    """

    def __init__(self, displays: Displays, content: GraphView | None, report: LinkReport) -> None:
        self.content = content
        self.link_report = report
        self._in_terminal = displays.in_terminal
        self._handle: DisplayHandle | None = None
        self._shows_itself = True
        self._late_note = ""

    def show(self) -> None:
        """Shows the content, before anything slow begins."""
        self._shows_itself = False
        if self.content is not None:
            bundle, metadata = self.content.first_bundle()
            self._handle = display(bundle, metadata=metadata, raw=True, display_id=True)

    def complete(self, note: str) -> None:
        """Adds what the compile had to say, and the picture that takes longest."""
        if self.content is None:
            return
        self.content.add_note(note)
        self._late_note = note
        # A terminal cannot take back what it printed; there the note is the value's line.
        if self._handle is not None and not self._in_terminal:
            self._handle.update(self.content)

    def __repr__(self) -> str:
        return repr(self.content) if self.content is not None else str(self.link_report)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return ({"text/plain": repr(self)}, {}) if self.content is None else self.content.bundle()

    def _ipython_display_(self) -> None:
        if self._shows_itself and self.content is not None:
            display(self.content)
        elif self._in_terminal and self._late_note:
            print(self._late_note)  # noqa: T201 - a terminal is where this is printed
        self._shows_itself = True
