"""What an inspector is outside a notebook: SVG, PNG, DOT, and one HTML page that needs nothing."""

import base64
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from kernel_magics.errors import UsageError
from kernel_magics.graph.png import to_png
from kernel_magics.graph.svg import to_svg
from kernel_magics.widgets.answers import Answers
from kernel_magics.widgets.drawing import DrawnModule
from kernel_magics.widgets.ops import OpsAnswers
from kernel_magics.widgets.protocol_commands import ExportAnswer, ExportForm
from kernel_magics.widgets.protocol_ops import OpsDrawing, OpsRequest
from kernel_magics.widgets.saved import whole_view
from kernel_magics.widgets.standalone import page

_MIME_TYPES: dict[ExportForm, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "dot": "text/vnd.graphviz",
    "html": "text/html",
}
_MOST_NAME = 60
_MOST_DRAWINGS = 60
_LONGEST_S = 5.0
# What the ops view asks for when a function is opened.
_WHOLE_FUNCTION: OpsRequest = {
    "function": "",
    "root": "",
    "focus": "",
    "hops": 0,
    "opened": [],
    "closed": [],
    "folds_trivial": False,
}


@dataclass(frozen=True, slots=True)
class Forms:
    """One module in its static forms."""

    drawn: DrawnModule
    answers: Answers
    ops: OpsAnswers
    note: str

    def svg(self) -> str:
        """The functions as they are drawn in the view, folded groups as groups."""
        return to_svg(self.answers.snapshot.graph, note=self.note, placed=self.drawn.placed)

    def png(self) -> bytes:
        """The same as pixels, two for each px where that is not too large."""
        return to_png(self.svg())

    def dot(self) -> str:
        """All functions and calls for Graphviz, nothing folded."""
        return self.answers.snapshot.graph.to_dot()

    def html(self) -> str:
        """A page with the inspector and all texts in it; works without kernel and network."""
        return page(whole_view(self.drawn.view, self.answers, self._drawings(), self.note))

    def _drawings(self) -> list[OpsDrawing]:
        """The ops of the functions that are drawn, as many as a reader would wait for."""
        nodes = [node for node in self.drawn.view["nodes"] if node["kind"] == "function"]
        began = time.monotonic()
        found: list[OpsDrawing] = []
        # The entries first: they are what a page is opened for.
        for node in sorted(nodes, key=lambda node: not node["is_entry"])[:_MOST_DRAWINGS]:
            if time.monotonic() - began > _LONGEST_S:
                break
            with suppress(UsageError):
                found.append(self.ops.draw({**_WHOLE_FUNCTION, "function": node["id"]}))
        return found

    def content(self, form: ExportForm, function: str = "") -> bytes:
        """What a file of this form holds.

        Args:
            form: Which one.
            function: Id of the function whose ops are wanted; a page has both.

        Raises:
            UsageError: There is no such function.
        """
        if form == "html":
            return self.html().encode(errors="replace")
        if function:
            graph = self.answers.snapshot.graph.ops(function)
            svg, dot = graph.to_svg, graph.to_dot
        else:
            svg, dot = self.svg, self.dot
        if form == "png":
            return to_png(svg())
        return (svg() if form == "svg" else dot()).encode(errors="replace")

    def answer(self, form: ExportForm, function: str) -> ExportAnswer:
        """A file for a view to hand on to its reader.

        Raises:
            UsageError: There is no such function.
        """
        name = function if function and form != "html" else self.drawn.view["title"]
        return {
            "name": f"{_file_name(name)}.{form}",
            "mime_type": _MIME_TYPES[form],
            "base64": base64.b64encode(self.content(form, function)).decode("ascii"),
        }


def form_of(path: Path) -> ExportForm:
    """Which form a file's name asks for.

    Raises:
        UsageError: It ends in none that we write.
    """
    suffix = path.suffix.lower().removeprefix(".")
    known = get_args(ExportForm)
    if suffix not in known:
        raise UsageError(
            f"`{path.name}` says not in which form to save",
            details=[f"forms: {', '.join(f'.{form}' for form in known)}"],
            advice="Let the file's name end in one of these.",
        )
    return cast("ExportForm", suffix)


def _file_name(title: str) -> str:
    return re.sub(r"[^\w.-]+", "_", title, flags=re.ASCII).strip("_.")[:_MOST_NAME] or "module"
