"""What a user holds of one function: its ops, with their drawings and search."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernel_magics.errors import UsageError
from kernel_magics.graph.find import Hit, find_ops
from kernel_magics.graph.op_places import Place
from kernel_magics.graph.ops_model import OpNode, OpsData, OpsOrigin
from kernel_magics.graph.ops_view import OpsView, ViewOptions

# The drawings are imported by who draws, as in `function_graph`.
# ruff: noqa: PLC0415

STATIC_LIMIT = 150
"""Items in a static picture: beyond, nobody scrolls that far."""


_ALL = ViewOptions()
_STATIC = ViewOptions(limit=STATIC_LIMIT)


@dataclass(frozen=True, slots=True)
class OpsGraph(OpsData):
    """The ops of one function and the values that they hand on, as data, picture or text."""

    source: OpsOrigin | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, op_id: str) -> OpNode:
        """The node with this id.

        Raises:
            UsageError: There is none.
        """
        return self.nodes[self.number(op_id)]

    def view(self, options: ViewOptions = _ALL) -> OpsView:
        """What is drawn of it: open regions, groups, links; folded to the limit of the options.

        Raises:
            UsageError: The root or the focus of the options is no op of this function.
        """
        from kernel_magics.graph.ops_build import build_view

        root = self.number(options.root) if options.root else -1
        focus = self.number(options.focus) if options.focus else -1
        return build_view(self, options, root, focus)

    def focus(self, op_id: str, hops: int = 2) -> OpsView:
        """The neighbours of one op: what is at most `hops` edges away in its block.

        Raises:
            UsageError: There is no such op.
        """
        return self.view(ViewOptions(focus=op_id, hops=hops))

    def to_svg(self, options: ViewOptions = _STATIC, *, note: str = "") -> str:
        """Returns a picture that needs no script and no style sheet; large functions are folded.

        Args:
            options: What to draw of it.
            note: What else the status line shall say.
        """
        from kernel_magics.graph.svg_ops import ops_svg

        return ops_svg(self.view(options), note=note)

    def to_png(self, options: ViewOptions = _STATIC, *, note: str = "") -> bytes:
        """Returns the same picture as PNG, without libraries or fonts of the system.

        Args:
            options: What to draw of it.
            note: What else the status line shall say.
        """
        from kernel_magics.graph.png import to_png

        return to_png(self.to_svg(options, note=note))

    def find(self, query: str) -> tuple[Hit, ...]:
        """Searches ops and arguments, whatever a drawing folds.

        Args:
            query: As for the function graph; `status:` is not understood here.

        Raises:
            UsageError: It is no query; says what is understood, with a caret.
        """
        return find_ops(self, query)

    def attributes(self, op_id: str) -> Mapping[str, str]:
        """The attributes of an op as text, in MLIR's order; large values are elided.

        Raises:
            UsageError: There is no such op, or the graph is of data alone.
        """
        origin, number = self._origin(op_id)
        return {} if number < 0 else origin.attributes(self.author_name, number)

    def op_text(self, op_id: str) -> str:
        """An op as MLIR prints it, its regions left out and large constants elided.

        Raises:
            UsageError: There is no such op, or the graph is of data alone.
        """
        origin, number = self._origin(op_id)
        node = self[op_id]
        return (
            f"{op_id}: {node.types[0]}" if number < 0 else origin.op_text(self.author_name, number)
        )

    @property
    def text(self) -> str:
        """What places point into: the unit's text, or the unit as MLIR prints it."""
        return self.source.text if self.source else ""

    def merged_places(self, merged_text: str) -> list[Place]:
        """Line and column of each node in the text of the linked module; see `merged_places`."""
        from kernel_magics.graph.merged_text import merged_places

        return merged_places(self, self.source, merged_text)

    def to_json(self) -> str:
        """Returns all nodes as JSON: compact, in text order, whatever a drawing folds."""
        from kernel_magics.graph.json_ops import ops_json

        return ops_json(self)

    def drawing_json(self, options: ViewOptions = _ALL) -> str:
        """Returns one drawing as JSON: items with their boxes, links with their curves.

        Laid out by Graphviz in a child process, within a limit of 1.5 s.
        """
        from kernel_magics.graph.json_ops import view_json
        from kernel_magics.graph.ops_layout import lay_out_ops

        view = self.view(options)
        return view_json(view, lay_out_ops(view))

    def to_dot(self, options: ViewOptions = _ALL) -> str:
        """Returns the function in the DOT language of Graphviz; large ones are folded."""
        from kernel_magics.graph.dot_ops import ops_dot

        return ops_dot(self.view(options))

    def to_text(self, options: ViewOptions = _ALL) -> str:
        """Returns the function as an outline; long ones are cut and say by how much."""
        from kernel_magics.graph.text_ops import ops_text

        return ops_text(self.view(options))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "image/svg+xml": self.to_svg()}

    def _origin(self, op_id: str) -> tuple[OpsOrigin, int]:
        """Where ops are read, and the op's place among them; -1 for an argument."""
        number = self.number(op_id)
        if self.source is None:
            raise UsageError(
                f"The ops of `@{self.function}` were made without a program",
                advice="Ask the session or the function for its graph.",
            )
        if self.nodes[number].kind == "argument":
            return self.source, -1
        before = self.nodes[:number]
        return self.source, sum(node.kind != "argument" for node in before)

    def numbers(self) -> dict[str, int]:
        """The places of all nodes among `nodes`, by their ids: for who asks for many."""
        return {node.id: number for number, node in enumerate(self.nodes)}

    def number(self, op_id: str) -> int:
        """The place of a node among `nodes`, by its id."""
        for number, node in enumerate(self.nodes):
            if node.id == op_id:
                return number
        raise UsageError(
            f"`@{self.function}` has no op {op_id!r}",
            advice="An id is a path such as `4/1.0.2`; `find` gives those of what it finds.",
        )
