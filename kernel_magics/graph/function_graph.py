"""What a user holds: the call graph with its drawings, its search and the way into functions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernel_magics.characters import visible
from kernel_magics.errors import UsageError
from kernel_magics.graph.model import CallGraph, FunctionNode
from kernel_magics.graph.words import joined_names

if TYPE_CHECKING:
    from kernel_magics.graph.find import Hit
    from kernel_magics.graph.ops_graph import OpsGraph

# The drawings are imported by who draws: they are a third of what importing us would cost.
# ruff: noqa: PLC0415


@dataclass(frozen=True, slots=True)
class FunctionGraph(CallGraph):
    """The functions of a linked module and their calls, as data, picture or text."""

    opener: "Callable[[str], OpsGraph] | None" = field(default=None, repr=False, compare=False)
    """Gives the ops of a function by its node's id."""

    def ops(self, name: str) -> "OpsGraph":
        """Opens a function: its ops and the values that they hand on; read when first asked for.

        Args:
            name: A function as its author called it, or as the linked module calls it.

        Raises:
            UsageError: There is no such function, it has no body, or the graph is of data alone.
        """
        node = self._function(name.removeprefix("@"))
        if self.opener is None:
            raise UsageError(
                f"This graph cannot open `@{node.author_name}`: it was made without a program",
                advice="Ask the session or the function for its graph.",
            )
        return self.opener(node.id)

    def find(self, query: str) -> "tuple[Hit, ...]":
        """Searches functions, or ops where the query says `op:`, `type:` or `shape:`.

        Words are parts of names; `calls:`, `unit:`, `status:` and `target:` ask for more; a
        minus in front means not: `op:dot_general type:bf16 shape:128x* -calls:layer_`.

        Returns:
            What was found, in module order, whatever a drawing folds.

        Raises:
            UsageError: It is no query; says what is understood, with a caret.
        """
        from kernel_magics.graph.find import find_functions

        return find_functions(self, query, self.opener)

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

    def to_png(self, *, note: str = "") -> bytes:
        """Returns the same picture as PNG, without libraries or fonts of the system.

        Args:
            note: What else the status lines shall say.
        """
        from kernel_magics.graph.png import to_png

        return to_png(self.to_svg(note=note))

    def to_text(self) -> str:
        """Returns the graph as an outline; long ones are cut and say by how much."""
        from kernel_magics.graph.text import to_text

        return to_text(self)

    def _function(self, name: str) -> FunctionNode:
        functions = [node for node in self.nodes if node.kind == "function"]
        # The name in the linked module is one function's; an author's name may be several's.
        for node in functions:
            if node.id == name:
                return node
        named = [node for node in functions if node.author_name == name]
        if len(named) == 1:
            return named[0]
        known = joined_names([f"`@{visible(node.id)}`" for node in named or functions]) or "none"
        what = f"{len(named):,} functions are called" if named else "There is no function"
        raise UsageError(
            f"{what} `@{visible(name)}`" + ("" if named else " with a body"),
            details=[f"functions: {known}"],
            advice="Open one of these.",
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "image/svg+xml": self.to_svg()}
