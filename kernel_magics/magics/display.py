"""What a cell shows: a picture, and the same in words for terminals and saved notebooks."""

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import DisplayHandle, display

from kernel_magics.characters import visible_lines
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.ir.link_report import LinkReport


class GraphView:
    """The merged function graph, as SVG and as an outline."""

    def __init__(self, graph: FunctionGraph, note: str = "") -> None:
        self.graph = graph
        self.note = note

    def __repr__(self) -> str:
        shown = [self.graph.to_text().rstrip(), visible_lines(self.note)]
        return "\n".join(filter(None, shown))

    def bundle(self) -> dict[str, str]:
        """What it is in each MIME type."""
        return {"text/plain": repr(self), "image/svg+xml": self.graph.to_svg(note=self.note)}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self.bundle()


class TextView:
    """Text as it stands, such as a module or a table of symbols."""

    def __init__(self, text: str, note: str = "") -> None:
        self.text = text
        self.note = note

    def __repr__(self) -> str:
        return visible_lines("\n".join(filter(None, [self.text.rstrip(), self.note])))

    def bundle(self) -> dict[str, str]:
        """What it is in each MIME type."""
        return {"text/plain": repr(self)}


class CellView:
    """The display of one `%%hlo` cell: there at once, completed when the compile is done.

    It is the value of the cell, too. As it has been shown before the cell ends, it does not
    show itself a second time then.
    """

    def __init__(
        self, shell: InteractiveShell, content: GraphView | TextView | None, report: LinkReport
    ) -> None:
        self.content = content
        self.link_report = report
        self._in_terminal = not hasattr(shell, "kernel")
        self._handle: DisplayHandle | None = None
        self._shows_itself = True
        self._late_note = ""

    def show(self) -> None:
        """Shows the content, before anything slow begins."""
        self._shows_itself = False
        if self.content is not None:
            self._handle = display(self.content, display_id=True)

    def complete(self, note: str) -> None:
        """Adds what the compile had to say."""
        if self.content is None:
            return
        self.content.note = f"{self.content.note} · {note}"
        self._late_note = note
        # A terminal cannot take back what it printed; there the note is the value's line.
        if self._handle is not None and not self._in_terminal:
            self._handle.update(self.content)

    def __repr__(self) -> str:
        return repr(self.content) if self.content is not None else str(self.link_report)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self)} if self.content is None else self.content.bundle()

    def _ipython_display_(self) -> None:
        if self._shows_itself and self.content is not None:
            display(self.content)
        elif self._in_terminal:
            print(self._late_note)  # noqa: T201 - a terminal is where this is printed
        self._shows_itself = True
