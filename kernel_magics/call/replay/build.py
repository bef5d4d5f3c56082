"""From a program to blocks of steps: every op's rule is asked once, what none serves is told."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.extend.mlir import ir

from kernel_magics.call.program import Program
from kernel_magics.call.replay.blocks import Block, Caller, Kind, Region, Step
from kernel_magics.call.replay.lines import caller_at
from kernel_magics.call.replay.operation import Blocked, Op, Run
from kernel_magics.call.replay.rules import find_rule
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.context import new_context
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.legalize import lower
from kernel_magics.ir.parse import parse
from kernel_magics.ir.symbols import SymbolIndex, scan
from kernel_magics.ir.targets import call_targets, served_declarations
from kernel_magics.ir.types import tensor_type

RETURNS = ("func.return", "stablehlo.return", "mhlo.return", "sdy.return")

_RESOURCE = r'\b{}"?: "0x([0-9A-Fa-f]*)"'
_ALIGNMENT_BYTES = 4
"""Stand before the elements of a resource."""


@dataclass(frozen=True, slots=True)
class Blocker:
    """One op that has no form in JAX."""

    op: str
    """Its name with the dialect."""
    function: str
    """The function it stands in, without `@`."""
    reason: str
    excerpt: str
    """Its line with a caret; empty where the program is not text."""


@dataclass(slots=True)
class Replayed:
    """A function ready to be replayed, unless something blocks it."""

    block: Block
    blockers: tuple[Blocker, ...]
    uses_64_bits: bool
    """Whether a value inside has 64 bits: such are cut while `jax_enable_x64` is off."""


@without_collections()
def build(program: Program) -> Replayed:
    """Reads what a program's entry uses, those of its bindings included."""
    blockers: list[Blocker] = []
    reader = _Reader(program, blockers)
    declared = reader.declaration(program.entry)
    if declared is not None:
        reader.block(declared, program.entry, "it has no body and no meaning here")
    block = reader.block_of(program.entry) if declared is None else Block((), program.source)
    return Replayed(block, tuple(dict.fromkeys(blockers)), reader.uses_64_bits)


def _index(program: Program) -> SymbolIndex:
    index = scan(parse(program.source, new_context()))
    served = served_declarations(index, {binding.name for binding in program.bindings})
    if served:
        call_targets(index, served)
        index = scan(index.module)
    return lower(index, program.entry)


class _Reader:
    """Reads one module; functions when they are first called."""

    def __init__(self, program: Program, blockers: list[Blocker]) -> None:
        self._index = _index(program)
        self.source = program.source
        """Where locations point."""
        self._meanings = {binding.name: binding.program for binding in program.bindings}
        self._blockers = blockers
        self._functions: dict[str, Run] = {}
        self._blocks: dict[str, Block] = {}
        self._kinds: dict[ir.Type, Kind] = {}
        self._reading: list[str] = []
        self._others: dict[Program, _Reader] = {}
        self._callers: dict[tuple[str, int], Caller] = {}
        self._text = ""
        self.uses_64_bits = False

    def block_of(self, name: str) -> Block:
        """The body of a function."""
        known = self._blocks.get(name)
        if known is None:
            self._reading.append(name)
            block = self._index.by_name[name].operation.regions[0].blocks[0]
            known = self._blocks[name] = _BlockReader(self, name, block).read()[0]
            self._reading.pop()
        return known

    def declaration(self, name: str) -> ir.Operation | None:
        """A function of the module that has no body; None for one that has."""
        op = self._index.by_name[name]
        return op.operation if op.is_declaration else None

    def function(self, name: str) -> Run:
        """A function under `jax.jit`, so that it is traced once for each signature."""
        known = self._functions.get(name)
        if known is None:
            known = self._functions[name] = self._new_function(name)
        return known

    def _new_function(self, name: str) -> Run:
        if name in self._meanings:
            meaning = self._meanings[name]
            other = self._others.get(meaning)
            if other is None:
                other = self._others[meaning] = _Reader(meaning, self._blockers)
            function = other.function(meaning.entry)
            self.uses_64_bits |= other.uses_64_bits
            return function
        if name in self._reading:
            raise Blocked(f"`@{name}` calls itself, directly or not")
        if name not in self._index.by_name or self._index.by_name[name].is_declaration:
            raise Blocked(f"`@{name}` has no body and no meaning here")
        return jitted(self.block_of(name), name)

    def body(self, name: str) -> ir.Block | None:
        """The body of a function of the module; None where it has none there."""
        op = self._index.by_name.get(name)
        if op is None or op.is_declaration or name in self._meanings:
            return None
        return op.operation.regions[0].blocks[0]

    def resource(self, name: str) -> bytes:
        """The bytes that the end of the module gives for a `dense_resource`."""
        self._text = self._text or str(self._index.module)
        found = re.search(_RESOURCE.format(re.escape(name)), self._text)
        if found is None:
            raise Blocked(f"the module has no data for the resource `{name}`")
        return bytes.fromhex(found[1])[_ALIGNMENT_BYTES:]

    def kind(self, type_: ir.Type) -> Kind:
        """A type as rules see it."""
        known = self._kinds.get(type_)
        if known is None:
            tensor = tensor_type(type_)
            self.uses_64_bits |= tensor.needs_x64
            static = tensor.shape is not None and None not in tensor.shape
            shape = tuple(extent for extent in tensor.shape or () if extent is not None)
            dtype = tensor.dtype if static else None
            known = self._kinds[type_] = Kind(str(type_), shape if static else (), dtype)
        return known

    def caller(self, name: str, line: int) -> Caller:
        """What calls the rules' functions for a line, so that JAX takes it for the source's."""
        known = self._callers.get((name, line))
        if known is None:
            known = self._callers[name, line] = caller_at(self.source, name, line)
        return known

    def block(self, operation: ir.Operation, function: str, reason: str) -> None:
        """Notes an op that has no form in JAX."""
        excerpt = self.excerpt(operation)
        self._blockers.append(Blocker(operation.name, function, reason, excerpt))

    def excerpt(self, operation: ir.Operation) -> str:
        """The line of an op with a caret; empty where its location points elsewhere."""
        at = position(operation.location, self.source)
        return self.source.excerpt(*at) if at else ""


@dataclass(slots=True)
class _BlockReader:
    """Reads one block of MLIR."""

    reader: _Reader
    function: str
    source: ir.Block
    prefix: str = ""
    """The name scope that is there already."""
    block: Block = field(init=False)
    _places: dict[Any, int] = field(default_factory=dict["Any", int])
    _captured: dict[Any, int] = field(default_factory=dict["Any", int])

    def read(self) -> tuple[Block, list[Any]]:
        """The block, and the values that it takes from around it."""
        arguments = list(self.source.arguments)
        kinds = tuple(self.reader.kind(argument.type) for argument in arguments)
        self.block = Block(kinds, self.reader.source)
        for argument in arguments:
            self._places[argument] = len(self._places)
        for view in self.source.operations:
            operation = view.operation
            if operation.name in RETURNS:
                self.block.returned = tuple(map(self._slot, operation.operands))
            else:
                self._read_op(operation)
        self.block.size = len(self._places)
        self.block.captured = tuple(self._captured.values())
        return self.block, list(self._captured)

    def _read_op(self, operation: ir.Operation) -> None:
        kind = self.reader.kind
        operands = list(operation.operands)
        places = tuple(map(self._slot, operands))
        kinds = tuple(kind(result.type) for result in operation.results)
        scope = _scope(operation.location)
        op = Op(operation, tuple(kind(value.type) for value in operands), kinds, self.reader)
        regions = self._regions(operation, scope)
        op.regions = [region.block for region in regions]
        run: Run = _never
        try:
            run = rule_for(op)(op)
        except Blocked as blocked:
            self.reader.block(operation, self.function, str(blocked))
        results = tuple(map(self._new_slot, operation.results))
        place = _place(operation.location)
        caller = self.reader.caller(self.function, place[0] if place else 0)
        step = Step(run, places, results, kinds, tuple(regions), operation.name, place, caller)
        inner = scope.removeprefix(self.prefix).strip("/")
        groups = self.block.groups
        if not groups or groups[-1][0] != inner:
            groups.append((inner, []))
        groups[-1][1].append(step)

    def _regions(self, operation: ir.Operation, scope: str) -> list[Region]:
        found: list[Region] = []
        for region in operation.regions:
            if len(region.blocks) == 1:
                inner = _BlockReader(self.reader, self.function, region.blocks[0], scope)
                block, captured = inner.read()
                found.append(Region(block, tuple(map(self._slot, captured))))
        return found

    def _slot(self, value: Any) -> int:
        place = self._places.get(value)
        if place is None:
            place = self._captured[value] = self._new_slot(value)
        return place

    def _new_slot(self, value: Any) -> int:
        place = self._places[value] = len(self._places)
        return place


def rule_for(op: Op) -> Callable[[Op], Run]:
    """The rule of an op.

    Raises:
        Blocked: There is none, or it has values of types that JAX does not have.
    """
    rule = find_rule(op.name)
    if rule is None:
        raise Blocked("JAX has no such operation")
    for kind in (*op.operands, *op.results):
        if kind.dtype is None and not kind.text.startswith(("tuple<", "!")):
            if "?" in kind.text:
                raise Blocked(f"the shape of a `{kind.text}` is known at run time only")
            raise Blocked(f"JAX has no values of type `{kind.text}`")
    return rule


def jitted(block: Block, name: str) -> Run:
    """A function that runs a block, under its own name."""

    def function(*args: Any) -> tuple[Any, ...]:
        return tuple(block(args))

    function.__name__ = function.__qualname__ = name
    called = jax.jit(function)

    def call(*args: Any) -> Sequence[Any]:
        results = called(*args)
        return results[0] if len(results) == 1 else results

    return call


def _never(*_: Any) -> Any:
    raise AssertionError


def _place(location: ir.Location) -> tuple[int, int] | None:
    """Line and byte column of an op in the program's text, where its location is that."""
    if isinstance(location, ir.FileLineColLoc) and location.filename == "-":
        return location.start_line, location.start_col
    return None


def _scope(location: ir.Location) -> str:
    """The name scope of an op that JAX named, such as `layer` of `jit(f)/layer/dot_general`."""
    if not isinstance(location, ir.NameLoc):
        return ""
    parts = location.name_str.split("/")[:-1]
    return "/".join(part for part in parts if part and not part.startswith("jit("))
