"""What an inspector is outside a notebook: SVG, PNG, DOT, and one HTML page that needs nothing."""

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from kernel_magics.errors import UsageError
from kernel_magics.graph.png import to_png
from kernel_magics.graph.svg import to_svg
from kernel_magics.widgets.answers import Answers
from kernel_magics.widgets.drawing import DrawnModule
from kernel_magics.widgets.protocol_commands import ExportAnswer, ExportForm
from kernel_magics.widgets.saved import whole_view
from kernel_magics.widgets.standalone import page

_MIME_TYPES: dict[ExportForm, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "dot": "text/vnd.graphviz",
    "html": "text/html",
}
_MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class Forms:
    """One module in its static forms."""

    drawn: DrawnModule
    answers: Answers
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
        return page(whole_view(self.drawn.view, self.answers, self.note))

    def content(self, form: ExportForm) -> bytes:
        """What a file of this form holds."""
        match form:
            case "svg":
                return self.svg().encode(errors="replace")
            case "png":
                return self.png()
            case "dot":
                return self.dot().encode(errors="replace")
            case _:
                return self.html().encode(errors="replace")

    def answer(self, form: ExportForm) -> ExportAnswer:
        """A file for a view to hand on to its reader."""
        return {
            "name": f"{_file_name(self.drawn.view['title'])}.{form}",
            "mime_type": _MIME_TYPES[form],
            "base64": base64.b64encode(self.content(form)).decode("ascii"),
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
