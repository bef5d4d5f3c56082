"""Which values an op depends on, once constants and trivial ops are folded into their users."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kernel_magics.graph.op_kinds import is_trivial
from kernel_magics.graph.ops_model import NO_VALUE, BlockKey, OpsData, Value
from kernel_magics.graph.ops_view import ViewOptions


@dataclass(frozen=True, slots=True)
class Dependency:
    """One value that an op uses."""

    value: Value
    operand: int | None
    """None where only its regions use it."""
    via: tuple[int, ...] = ()
    """Nodes folded into the edge, from the value on."""


@dataclass(frozen=True)
class Values:
    """The values of one function, as they are drawn under some options."""

    graph: OpsData
    options: ViewOptions
    blocks: dict[BlockKey, list[int]] = field(default_factory=dict[BlockKey, list[int]])
    regions: dict[int, list[BlockKey]] = field(default_factory=dict[int, list[BlockKey]])
    """Op to its blocks, in text order."""
    captures: dict[int, dict[Value, None]] = field(default_factory=dict[int, dict[Value, None]])
    """Op to the values from outside that its regions use, at any depth."""
    used: set[int] = field(default_factory=set[int])
    """Nodes whose values are operands of others."""
    focus: int = -1

    def regions_of_function(self) -> list[BlockKey]:
        """The function's own blocks: one, but where control flow has not been structured."""
        return sorted(key for key in self.blocks if key[0] < 0)

    def visible(self, key: BlockKey) -> list[int]:
        """The nodes of a block that are not folded into others, unused arguments left out."""
        return [n for n in self.blocks.get(key, []) if not self.is_left_out(n)]

    def is_left_out(self, number: int) -> bool:
        """Whether a node is not drawn even where its block is."""
        return self.is_constant(number) or self.is_trivial(number) or self.is_unused(number)

    def is_unused(self, number: int) -> bool:
        """Whether it is an argument of a region that nothing uses."""
        node = self.graph.nodes[number]
        is_inner = node.kind == "argument" and node.block[0] >= 0
        return is_inner and number not in self.used and number != self.focus

    def is_constant(self, number: int) -> bool:
        """Whether a node is a constant that is told beside its users."""
        return self.graph.nodes[number].does == "constant" and number != self.focus

    def is_trivial(self, number: int) -> bool:
        """Whether a node is folded into the edges that it is part of."""
        node = self.graph.nodes[number]
        return (
            self.options.is_trivial_folded
            and number != self.focus
            and is_trivial(node.name)
            and node.operands[:1] not in ((), (NO_VALUE,))
        )

    def dependencies(self, number: int) -> Iterator[Dependency]:
        """What a node uses, operands first, then what only its regions use."""
        operands = self.graph.nodes[number].operands
        for operand, value in enumerate(operands):
            if value != NO_VALUE:
                yield self._resolved(value, operand)
        for value in self.captures.get(number, ()):
            yield self._resolved(value, None)

    def _resolved(self, value: Value, operand: int | None) -> Dependency:
        via: list[int] = []
        while self.is_trivial(value[0]):
            via.insert(0, value[0])
            value = self.graph.nodes[value[0]].operands[0]
        return Dependency(value, operand, tuple(via))


def values_of(graph: OpsData, options: ViewOptions, focus: int = -1) -> Values:
    """Returns the values of a function; one pass over its nodes."""
    found = Values(graph, options, graph.blocks(), focus=focus)
    for key in found.blocks:
        if key[0] >= 0:
            found.regions.setdefault(key[0], []).append(key)
    for keys in found.regions.values():
        keys.sort()
    nodes = graph.nodes
    for node in nodes:
        for value in node.operands:
            found.used.add(value[0])
            if value == NO_VALUE or nodes[value[0]].block == node.block:
                continue
            home, holder = nodes[value[0]].block, node.block[0]
            while holder >= 0 and home[0] != holder:
                known = found.captures.setdefault(holder, {})
                if value in known or nodes[holder].block == home:
                    known[value] = None
                    break
                known[value] = None
                holder = nodes[holder].block[0]
    return found
