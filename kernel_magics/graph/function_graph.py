"""What a user holds: the call graph with its drawings."""

from dataclasses import dataclass

from kernel_magics.graph.dot import to_dot
from kernel_magics.graph.model import CallGraph
from kernel_magics.graph.svg import to_svg
from kernel_magics.graph.text import to_text


@dataclass(frozen=True, slots=True)
class FunctionGraph(CallGraph):
    """The functions of a linked module and their calls, as data, picture or text."""

    def to_dot(self) -> str:
        """Returns the whole graph in the DOT language of Graphviz."""
        return to_dot(self)

    def to_svg(self, *, note: str = "") -> str:
        """Returns a picture that needs no script and no style sheet; large graphs are folded.

        Args:
            note: What else the status lines shall say.
        """
        return to_svg(self, note=note)

    def to_text(self) -> str:
        """Returns the graph as an outline; long ones are cut and say by how much."""
        return to_text(self)
