"""What a user holds: the call graph with its drawings."""

from dataclasses import dataclass
from typing import Any

from kernel_magics.graph.model import CallGraph

# The drawings are imported by who draws: they are a third of what importing us would cost.
# ruff: noqa: PLC0415


@dataclass(frozen=True, slots=True)
class FunctionGraph(CallGraph):
    """The functions of a linked module and their calls, as data, picture or text."""

    def to_dot(self) -> str:
        """Returns the whole graph in the DOT language of Graphviz."""
        from kernel_magics.graph.dot import to_dot

        return to_dot(self)

    def to_svg(self, *, note: str = "") -> str:
        """Returns a picture that needs no script and no style sheet; large graphs are folded.

        Args:
            note: What else the status lines shall say.
        """
        from kernel_magics.graph.svg import to_svg

        return to_svg(self, note=note)

    def to_text(self) -> str:
        """Returns the graph as an outline; long ones are cut and say by how much."""
        from kernel_magics.graph.text import to_text

        return to_text(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "image/svg+xml": self.to_svg()}
