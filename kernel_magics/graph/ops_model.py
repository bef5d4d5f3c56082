"""The ops of one function as data: nodes, regions, values, and where each stands in the text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from kernel_magics.graph.op_kinds import OpKind
from kernel_magics.graph.op_places import NOWHERE, Place

NodeKind = Literal["op", "argument", "return"]

Value = tuple[int, int]
"""What an operand is: the number of the node that gives it, and which of its results."""

NO_VALUE: Value = (-1, 0)

BlockKey = tuple[int, int, int]
"""A block: number of the node that holds it (-1: the function), of its region, of the block."""

FUNCTION_BODY: BlockKey = (-1, 0, 0)


# Not frozen: a frozen one takes three times as long to make, and modules have 50,000 of them.
@dataclass(slots=True)
class OpNode:
    """One op, one block argument, or the op that ends a block. Not to be changed."""

    id: str
    """Path of region, block and op numbers: `4/1.0.2` is op 2 of block 0 of region 1 of op 4.

    Zeros in front are left out: `2`, not `0.0.2`. An argument is `#` and its number. The same in
    every process, for it is made of nothing but order.
    """
    kind: NodeKind
    name: str
    """The op with its dialect, such as `stablehlo.add`; `` for an argument."""
    does: OpKind
    block: BlockKey
    operands: tuple[Value, ...] = ()
    types: tuple[str, ...] = ()
    """Of its results: `8x64xf32`; all but tensors as MLIR writes them."""
    detail: str = ""
    """What tells it from others of its name: a constant's value, `LT`, the op that reduces."""
    symbol: str = ""
    """What it calls, as the author calls it: a function without `@`, or a custom-call target."""
    callee: str = ""
    """The node of the function graph that it calls."""
    scope: str = ""
    """Its name scope, such as `jit(f)/block/dense`."""
    place: Place = NOWHERE
    """Line and column in its unit's text, in characters, from 1."""
    op_count: int = 0
    """Ops inside its regions, at any depth."""

    @property
    def short_name(self) -> str:
        """The op's name without the dialects that every program uses."""
        for dialect in ("stablehlo.", "func."):
            if self.name.startswith(dialect):
                return self.name[len(dialect) :]
        return self.name


@dataclass(frozen=True, slots=True)
class OpsData:
    """What every drawing of a function reads: its nodes, outer before inner, in text order."""

    function: str
    """The node of the function graph: the merged name."""
    author_name: str
    nodes: tuple[OpNode, ...] = field(repr=False)
    unit: str = ""
    first_line: int = 1
    """The line of the cell in which the unit's text begins."""
    is_printed: bool = False
    """Whether places point into the unit as MLIR prints it, for it came as bytes or as HLO."""
    value_names: tuple[str, ...] = field(default=(), repr=False)
    """Node number to the name of its first result or of the argument, as `%x`; or nothing."""

    @property
    def op_count(self) -> int:
        """How many ops there are, at any depth, those that end blocks included."""
        return sum(node.kind != "argument" for node in self.nodes)

    def blocks(self) -> dict[BlockKey, list[int]]:
        """Node numbers by the block in which they stand, in text order."""
        found: dict[BlockKey, list[int]] = {FUNCTION_BODY: []}
        for number, node in enumerate(self.nodes):
            found.setdefault(node.block, []).append(number)
        return found

    def uses(self) -> dict[Value, list[tuple[int, int]]]:
        """Value to its users: node number and number of the operand."""
        found: dict[Value, list[tuple[int, int]]] = {}
        for number, node in enumerate(self.nodes):
            for index, value in enumerate(node.operands):
                found.setdefault(value, []).append((number, index))
        return found

    def holders(self, number: int) -> Iterator[int]:
        """The ops in whose regions a node stands, innermost first."""
        while (number := self.nodes[number].block[0]) >= 0:
            yield number

    def line(self, node: OpNode) -> int | None:
        """The line in the user's cell, as errors count."""
        return node.place[0] + self.first_line - 1 if node.place[0] else None


class OpsOrigin(Protocol):
    """What an `OpsGraph` asks for what it does not hold itself."""

    @property
    def text(self) -> str:
        """What places point into."""
        ...

    def attributes(self, name: str, number: int) -> Mapping[str, str]:
        """The attributes of an op, by its place among the ops of the function."""
        ...

    def op_text(self, name: str, number: int) -> str:
        """The op as MLIR prints it."""
        ...

    def printed_places(self, name: str) -> list[Place]:
        """Lines and columns of the nodes when MLIR prints the function, its own line being 0."""
        ...


def block_path(holder: str, region: int, block: int) -> str:
    """What the ids of a block's ops begin with, but for the op's own number."""
    numbers = f"{region}.{block}." if region else f"{block}." if block else ""
    return f"{holder}/{numbers}" if holder else numbers
