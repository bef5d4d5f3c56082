"""What stands at the top of a module: definitions, what each uses, how big it is; one pass."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import cast

from jax.extend.mlir import ir

from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.forms import BRANCHES, MAKERS, QUIET, REDUCERS
from kernel_magics.ir.references import ReferenceReader

CALLS = "func.call"
COMPOSITE = "stablehlo.composite"
CUSTOM_CALL = "stablehlo.custom_call"
CUSTOM_CALLS = (CUSTOM_CALL, "mhlo.custom_call")

_WATCHED = ("stablehlo.divide", "stablehlo.remainder", *CUSTOM_CALLS)
_REGIONS = BRANCHES | REDUCERS
_SILENT = QUIET.difference(_WATCHED)
"""Kinds whose types the scan passes over."""

_VALUE_ATTRIBUTES = ("arg_attrs", "res_attrs")
_READ_TEXTS = ("sym_name", "sym_visibility", "call_target_name")

_ADVANCE = ir.WalkResult.ADVANCE
_PRE_ORDER = ir.WalkOrder.PRE_ORDER


# Not frozen, like the ops it points at: modules have as many of these as calls.
@dataclass(slots=True)
class Use:
    """One attribute of one op that names symbols."""

    operation: ir.Operation
    attribute: str
    value: ir.Attribute
    symbols: tuple[str, ...]


@dataclass(slots=True)
class _Around:
    """An op with regions that a walk is inside of."""

    regions_left: int
    """Each ends with a `stablehlo.return`."""
    kinds: dict[str, ir.Location] | None
    """Kinds met directly inside, where that is to be noted."""


@dataclass(slots=True)
class TopLevelOp:
    """One op at the top of a module: function, global, mesh, nested module, or no symbol."""

    operation: ir.Operation
    kind: str
    """The op's name, such as `func.func`."""
    location: ir.Location
    """Valid as long as the context is, also when the op has been erased."""
    name: str | None = None
    """The symbol without `@`; None where the op defines no symbol."""
    is_private: bool = False
    is_declaration: bool = False
    """A `func.func` without a body."""
    op_count: int = 0
    """Ops inside, at any depth."""
    op_kinds: dict[str, int] = field(default_factory=dict)
    """Names of the ops inside to how often."""
    references: dict[tuple[str, str], int] = field(default_factory=dict)
    """(symbol, name of the op that names it) to how often, in order of first use."""
    custom_calls: dict[str, int] = field(default_factory=dict)
    """Custom-call targets to how often."""
    uses: list[Use] = field(default_factory=list)
    function_type: ir.TypeAttr | None = None
    typed_ops: dict[tuple[str | ir.Type, ...], ir.Location] = field(default_factory=dict)
    """(kind, types) of the ops that can bring a type into the module, to the first of each."""
    watched: dict[str, list[ir.Operation]] = field(default_factory=dict)
    """The ops of the kinds that are looked at one by one."""
    bodies: dict[str, dict[str, ir.Location]] = field(default_factory=dict)
    """Kind to the kinds of the ops in its function of scalars, to the first of each."""
    depth: int = 0
    """How many regions stand inside one another, at most."""
    annotations: dict[str, ir.Location] = field(default_factory=dict)
    """Attributes of other dialects, such as `mhlo.sharding`, to the first op that has one."""
    is_copy: bool = False
    """Whether it says what an op before it says, and was not walked: what was read there is
    shared with it, uses included."""

    @property
    def is_function(self) -> bool:
        """Whether it is a `func.func`, with a body or without."""
        return self.kind == "func.func"


_content = attrgetter(*[part.name for part in fields(TopLevelOp)[5:-1]])
"""All that is the same for functions that say the same; `dataclasses.replace` takes ten times
as long."""


@dataclass(frozen=True, slots=True)
class SymbolIndex:
    """All top-level ops of a module, in order."""

    module: ir.Module
    """Held because its ops are gone when it goes, whoever refers to them."""
    ops: tuple[TopLevelOp, ...]
    by_name: dict[str, TopLevelOp]

    def functions(self) -> Iterator[TopLevelOp]:
        """The functions, in module order."""
        return (op for op in self.ops if op.is_function)

    def public_functions(self) -> list[TopLevelOp]:
        """Functions with a body that their author did not hide."""
        return [op for op in self.functions() if not op.is_private and not op.is_declaration]

    def undefined(self) -> list[str]:
        """Names that something refers to and that the module does not define."""
        used = (symbol for op in self.ops for symbol, _ in op.references)
        return [symbol for symbol in dict.fromkeys(used) if symbol not in self.by_name]

    def count_uses(self) -> dict[str, int]:
        """How many references the module holds to each of its symbols."""
        counts = dict.fromkeys(self.by_name, 0)
        for op in self.ops:
            for (symbol, _), uses in op.references.items():
                if symbol in counts:
                    counts[symbol] += uses
        return counts

    def reachable(self, roots: Iterable[str]) -> set[str]:
        """The symbols that `roots` use, directly or not, themselves included."""
        found = {root for root in roots if root in self.by_name}
        pending = list(found)
        while pending:
            for symbol, _ in self.by_name[pending.pop()].references:
                if symbol in self.by_name and symbol not in found:
                    found.add(symbol)
                    pending.append(symbol)
        return found


@without_collections()
def scan(module: ir.Module, texts: Sequence[str] = ()) -> SymbolIndex:
    """Reads a module's top level; visits every op once.

    References inside a nested symbol table (`builtin.module`, `gpu.module`) belong to that
    table and are left alone; those on the nested op itself belong to the module.

    Args:
        module: A verified module.
        texts: What each op at its top says, but for its own name: functions that say the same
            are walked once. Without them every op is walked.
    """
    reader = ReferenceReader()
    walked: dict[str, TopLevelOp] = {}
    ops: list[TopLevelOp] = []
    for number, view in enumerate(module.body.operations):
        text = texts[number] if texts else ""
        equal = walked.get(text)
        op = _copy(equal, view.operation) if equal else _read(view.operation, reader)
        if text and op.is_function:
            walked.setdefault(text, op)
        ops.append(op)
    return SymbolIndex(module, tuple(ops), {op.name: op for op in ops if op.name is not None})


def rescan(op: TopLevelOp) -> None:
    """Walks a copy itself: the uses in its own body are wanted."""
    op.uses, op.is_copy = _read(op.operation, ReferenceReader()).uses, False


def _read(operation: ir.Operation, reader: ReferenceReader) -> TopLevelOp:
    op = TopLevelOp(operation, operation.name, operation.location)
    texts = _read_attributes(op, operation, op.kind, reader)
    op.name = texts.get("sym_name")
    op.is_private = texts.get("sym_visibility", "public") != "public"
    _walk(op, reader if op.is_function or not _is_symbol_table(operation) else None)
    op.is_declaration = op.is_function and not op.op_count and not len(operation.regions[0].blocks)
    return op


def _copy(equal: TopLevelOp, operation: ir.Operation) -> TopLevelOp:
    """What a function says that says the same as another, but for name and visibility."""
    attributes = operation.attributes
    name = cast("ir.StringAttr", attributes["sym_name"]).value
    is_private = "sym_visibility" in attributes and str(attributes["sym_visibility"]) != '"public"'
    own = (operation, equal.kind, operation.location, name, is_private)
    return TopLevelOp(*own, *_content(equal), is_copy=True)


def _walk(op: TopLevelOp, reader: ReferenceReader | None) -> None:
    """Counts the ops inside; reads their attributes where a reader is given."""
    kinds = op.op_kinds
    # A walk begins with the op itself, which does not count and has been read.
    kinds[op.kind] = -1
    around: list[_Around] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        kind = inner.name
        kinds[kind] = count = kinds.get(kind, 0) + 1
        if count or kind != op.kind:
            if reader is not None and len(inner.attributes):
                _read_attributes(op, inner, kind, reader)
            if around or kind not in _SILENT:
                _read_types(op, inner, kind, around)
        return _ADVANCE

    op.operation.walk(visit, _PRE_ORDER)
    if not kinds[op.kind]:
        del kinds[op.kind]
    op.op_count = sum(kinds.values())


def _read_types(op: TopLevelOp, inner: ir.Operation, kind: str, around: list[_Around]) -> None:
    """Notes types that an op may bring in, and what stands around it."""
    if around:
        inside = around[-1].kinds
        if inside is not None and kind not in inside:
            inside[kind] = inner.location
        if kind == "stablehlo.return":
            around[-1].regions_left -= 1
            if not around[-1].regions_left:
                around.pop()
            return
    if kind in _WATCHED:
        op.watched.setdefault(kind, []).append(inner)
    if kind not in QUIET:
        key = (kind, *inner.results.types)
        if kind not in MAKERS:
            key += tuple([value.type for value in inner.operands])
        if key not in op.typed_ops:
            op.typed_ops[key] = inner.location
        if kind in _REGIONS:
            inside = op.bodies.setdefault(kind, {}) if kind in REDUCERS else None
            around.append(_Around(len(inner.regions), inside))
            op.depth = max(op.depth, len(around))


def _read_attributes(
    op: TopLevelOp, operation: ir.Operation, kind: str, reader: ReferenceReader
) -> dict[str, str]:
    """Notes what an op's attributes refer to; gives the names among them."""
    texts: dict[str, str] = {}
    references = op.references
    for name, attribute in _attributes(operation):
        if "." in name or name in _VALUE_ATTRIBUTES:
            _annotate(op, operation, name, attribute)
        if type(attribute) is ir.StringAttr:
            # Others may hold bytes that are no text, such as a kernel's own program.
            if name in _READ_TEXTS:
                texts[name] = attribute.value
        elif name == "function_type":
            op.function_type = cast("ir.TypeAttr", attribute)
        elif symbols := reader.read(attribute):
            op.uses.append(Use(operation, name, attribute, symbols))
            for symbol in symbols:
                references[symbol, kind] = references.get((symbol, kind), 0) + 1
    if kind in CUSTOM_CALLS:
        target = texts.get("call_target_name", "")
        op.custom_calls[target] = op.custom_calls.get(target, 0) + 1
    return texts


def _annotate(op: TopLevelOp, operation: ir.Operation, name: str, attribute: ir.Attribute) -> None:
    """Notes an attribute of another dialect, or those of a function's arguments or results."""
    names = [name]
    if name in _VALUE_ATTRIBUTES and isinstance(attribute, ir.ArrayAttr):
        names = [part.name for e in attribute if isinstance(e, ir.DictAttr) for part in e]
    for each in names:
        if each not in op.annotations:
            op.annotations[each] = operation.location


def _attributes(operation: ir.Operation) -> list[tuple[str, ir.Attribute]]:
    """Names and values; without constants of complex numbers and of small floats.

    The binding has no class for those, and raises where it meets one.
    """
    attributes = operation.attributes
    try:
        return list(attributes.items())
    except TypeError:
        found: list[tuple[str, ir.Attribute]] = []
        for name in attributes:
            with suppress(TypeError):
                found.append((name, attributes[name]))
        return found


def _is_symbol_table(operation: ir.Operation) -> bool:
    try:
        ir.SymbolTable(operation)
    except (ValueError, RuntimeError, TypeError):
        return False
    return True
