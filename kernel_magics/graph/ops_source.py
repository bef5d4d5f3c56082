"""From a unit's text to the ops of its functions, each read when first asked for."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from jax.extend.mlir import ir

from kernel_magics.errors import SourceError, UsageError
from kernel_magics.graph.op_places import (
    NOWHERE,
    Place,
    columns_in_characters,
    has_locations,
    place,
    without_locations,
)
from kernel_magics.graph.op_text import attribute_texts, elided
from kernel_magics.graph.ops_graph import OpsGraph
from kernel_magics.graph.ops_model import OpNode
from kernel_magics.graph.ops_read import read_ops
from kernel_magics.ir import formats
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.context import new_context
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source

_MOST_TEXT = 2000
_MOST_ELEMENTS = 16
_MOST_BEFORE = 400
_RESULTS = re.compile(
    r'(%[\w$.-]+)(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=\s*"?[\w.$-]*"?\s*\(?\s*$'
)


class UnitOps:
    """The functions of one program, by the names that linking gave them.

    Reads the program again: the ops that were linked belong to a module that changes, and go
    when their unit is replaced. This keeps what its unit said, whatever becomes of the session.
    """

    def __init__(self, source: Source, unit: str, names: Mapping[str, str]) -> None:
        """Reads nothing yet.

        Args:
            source: The program as its author gave it.
            unit: The unit's name.
            names: Author's names of symbols, to the nodes of the function graph.
        """
        self._source = source
        self._unit = unit
        self._names = names
        self._graphs: dict[str, OpsGraph] = {}

    @without_collections()
    def open(self, node_id: str) -> OpsGraph:
        """The ops of one function.

        Raises:
            UsageError: There is no function of this name here.
        """
        if node_id not in self._graphs:
            self._graphs[node_id] = self._read(node_id)
        return self._graphs[node_id]

    @property
    def text(self) -> str:
        """What places point into: the author's text, or the module as MLIR prints it."""
        return self._text

    @cached_property
    def _text(self) -> str:
        content = self._source.content
        is_text = isinstance(content, str) and formats.detect(self._source) == "text"
        return str(content) if is_text else str(self._module)

    @property
    def is_printed(self) -> bool:
        """Whether the author gave something else than MLIR text."""
        return self.text is not self._source.content

    def operation(self, name: str) -> ir.Operation:
        """A function by its author's name; it lives as long as this does."""
        return self._operations[name]

    def attributes(self, name: str, number: int) -> dict[str, str]:
        """The attributes of an op, values of bounded size.

        Args:
            name: The function, as its author calls it.
            number: The op's place among all ops of the function, outer before inner.
        """
        printed = _printed(self._nth(name, number), generic=True)
        return attribute_texts(printed)

    def op_text(self, name: str, number: int) -> str:
        """An op as MLIR prints it, its regions left out."""
        return elided(_printed(self._nth(name, number), generic=False), _MOST_TEXT)

    def printed_places(self, name: str) -> list[Place]:
        """Where the function's nodes stand when it is printed: lines from its own, which is 0.

        By parsing what MLIR printed: no other reader knows on which lines ops begin. Nothing
        where it cannot read that.
        """
        if self._printed_module is None:
            return []
        operation = _functions(self._printed_module)[name]
        first = place(operation.location)[0]
        places = columns_in_characters(_all_places(operation), self._print)
        return [(line - first, column) for line, column in places]

    def _read(self, node_id: str) -> OpsGraph:
        name = self._author_name(node_id)
        if name not in self._operations:
            raise UsageError(
                f"There is no function `@{node_id}` to open",
                advice="`graph.nodes` lists the functions; custom calls and groups have no ops.",
            )
        nodes = read_ops(self._operations[name], self._names)
        places = columns_in_characters(self._places(name, nodes), self.text)
        for node, at in zip(nodes, places, strict=True):
            node.place = at
        return OpsGraph(
            function=node_id,
            author_name=name,
            nodes=nodes,
            unit=self._unit,
            first_line=1 if self.is_printed else self._source.first_line,
            is_printed=self.is_printed,
            value_names=value_names(nodes, self._lines),
            source=self,
        )

    def _author_name(self, node_id: str) -> str:
        """Of equal functions that are one node, the first: it is the one that the node tells of."""
        return next((old for old, new in self._names.items() if new == node_id), node_id)

    def _places(self, name: str, nodes: Sequence[OpNode]) -> list[Place]:
        placed = self._placed_module
        if placed is None:
            return [NOWHERE] * len(nodes)
        marked = nodes if placed is self._module else read_ops(_functions(placed)[name])
        return [node.place for node in marked]

    def _nth(self, name: str, number: int) -> ir.Operation:
        return _all_ops(self._operations[name])[number]

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _module(self) -> ir.Module:
        return parse(self._source, new_context())

    @cached_property
    def _placed_module(self) -> ir.Module | None:
        """A module whose locations point into the text, if there is one."""
        if self.is_printed:
            return _parsed(self.text)
        if not has_locations(self.text):
            return self._module
        return _parsed(without_locations(self.text))

    @cached_property
    def _print(self) -> str:
        return self.text if self.is_printed else str(self._module)

    @cached_property
    def _printed_module(self) -> ir.Module | None:
        return self._placed_module if self.is_printed else _parsed(self._print)

    @cached_property
    def _operations(self) -> dict[str, ir.Operation]:
        return _functions(self._module)


def _parsed(text: str) -> ir.Module | None:
    """A text of ours as a module; None where MLIR does not read what it wrote.

    Types of dialects that only other dialects load, such as `!quant.uniform`, are so.
    """
    try:
        return parse(Source(text), new_context())
    except SourceError:
        return None


def value_names(nodes: Sequence[OpNode], lines: Sequence[str]) -> tuple[str, ...]:
    """Reads the names of values where they are defined: `%x` for each node, or nothing."""
    names: list[str] = []
    for node in nodes:
        line, column = node.place
        before = lines[line - 1] if 0 < line <= len(lines) else ""
        if node.kind == "argument":
            names.append(_name_at(before[column - 1 : column + _MOST_BEFORE]))
        else:
            names.append(_result_name(before[: column - 1]) if node.types else "")
    return tuple(names)


def _name_at(text: str) -> str:
    end = 1
    while end < len(text) and (text[end].isalnum() or text[end] in "_$.-"):
        end += 1
    return text[:end] if text.startswith("%") else ""


def _result_name(before: str) -> str:
    """`%x` of `  %x:2 = ` or of `  %x, %y = `; some ops begin to count after their own name."""
    found = _RESULTS.search(before[-_MOST_BEFORE:])
    return found[1] if found else ""


def _functions(module: ir.Module) -> dict[str, ir.Operation]:
    found: dict[str, ir.Operation] = {}
    for view in module.body.operations:
        operation = view.operation
        if operation.name == "func.func":
            found[ir.StringAttr(operation.attributes["sym_name"]).value] = operation
    return found


def _all_ops(function: ir.Operation) -> list[ir.Operation]:
    """All ops inside, outer before inner: the order of the nodes."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def _all_places(function: ir.Operation) -> list[Place]:
    """Where all ops and arguments inside stand, in the order of the nodes."""
    found: list[Place] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(place(operation.location))
        for region in operation.regions:
            for block in region.blocks:
                found.extend(place(argument.location) for argument in block.arguments)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def _printed(operation: ir.Operation, *, generic: bool) -> str:
    printed = operation.get_asm(
        large_elements_limit=_MOST_ELEMENTS,
        print_generic_op_form=generic,
        skip_regions=True,
        assume_verified=True,
        # Isolated ops would not know the names of their operands.
        use_local_scope=generic,
    )
    return str(printed)
