"""What the checks of a preflight look at, and what they have to say."""

from collections.abc import Callable, Collection, Container, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from jax.extend.mlir import ir

from kernel_magics.ir.attribute_parts import word_of
from kernel_magics.ir.forms import CALCULATIONS, Form, TypeReader, exact_form
from kernel_magics.ir.symbols import CUSTOM_CALLS, SymbolIndex, TopLevelOp


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a program cannot be compiled."""

    check: str
    """Stable name of the check, such as `call-cycle`."""
    sentence: str
    location: ir.Location | None
    advice: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """One form that no program with known values has shown to compile and to run."""

    check: str
    """Stable name, such as `unproven-form`."""
    form: str
    """In words, such as "`stablehlo.iota` on `i4`"."""
    location: ir.Location | None
    """Its first use."""


@dataclass(frozen=True)
class Scope:
    """The part of a module that an entry uses, and the place where it would run."""

    index: SymbolIndex
    entry: str
    bound: Container[str] = ()
    """Declarations that mean a function elsewhere."""
    on_offer: Collection[str] = ()
    """Functions that a declaration could have meant."""
    device_count: int | None = None
    """None where it is not known."""
    targets: Container[str] | None = None
    """Custom-call targets that have a handler; None where that is not known."""
    memory_bytes: int | None = None
    """None: that of this machine."""
    types: TypeReader = field(default_factory=TypeReader)

    @cached_property
    def ops(self) -> list[TopLevelOp]:
        """The top-level ops that the entry uses, and those that are no symbols."""
        names = self.index.reachable([self.entry])
        return [op for op in self.index.ops if op.name is None or op.name in names]

    @cached_property
    def kinds(self) -> dict[str, TopLevelOp]:
        """Kinds of ops to the first top-level op that holds one, or is one."""
        found: dict[str, TopLevelOp] = {}
        for op in self.ops:
            found.setdefault(op.kind, op)
            for kind in op.op_kinds:
                if kind not in found:
                    found[kind] = op
        return found

    @cached_property
    def forms(self) -> dict[tuple[str | ir.Type, ...], ir.Location]:
        """(kind, types) of the ops that can bring in a type, to where each is met first."""
        found: dict[tuple[str | ir.Type, ...], ir.Location] = {}
        for op in self.ops:
            if op.typed_ops:
                for key, location in op.typed_ops.items():
                    found.setdefault(key, location)
        return found

    @cached_property
    def read_forms(self) -> list[tuple[Form, tuple[ir.Type, ...], ir.Location]]:
        """Those, with the names of their element types."""
        known: dict[tuple[ir.Type, ...], tuple[str, ...]] = {}
        found: list[tuple[Form, tuple[ir.Type, ...], ir.Location]] = []
        for (kind, *types), location in self.forms.items():
            group: tuple[ir.Type, ...] = tuple(types)  # pyright: ignore[reportAssignmentType]
            if group not in known:
                known[group] = self.types.elements(group)
            found.append(((str(kind), known[group]), group, location))
        return found

    @cached_property
    def signatures(self) -> list[tuple[tuple[ir.Type, ...], ir.Location]]:
        """Types that functions take and give, each set once."""
        found: dict[ir.Attribute, tuple[tuple[ir.Type, ...], ir.Location]] = {}
        for op in self.ops:
            kind = op.function_type
            if kind is not None and kind not in found:
                function = ir.FunctionType(kind.value)
                found[kind] = (*function.inputs, *function.results), op.location
        return list(found.values())

    @cached_property
    def elements(self) -> set[str]:
        """The element types of all values."""
        found = {e for (_, elements), _, _ in self.read_forms for e in elements}
        for kinds, _ in self.signatures:
            found.update(e for kind in kinds for e in self.types.read(kind).elements)
        return found

    def find_form(
        self, kind: str, wanted: Callable[[tuple[str, ...]], object]
    ) -> ir.Operation | None:
        """The first op of a kind whose element types are wanted."""
        if kind not in self.kinds:
            return None
        if kind in CALCULATIONS and not any(wanted((element,)) for element in self.elements):
            return None
        for op in self.ops:
            if kind in op.op_kinds:
                found = _find(
                    op, lambda o: o.name == kind and bool(wanted(exact_form(o, self.types)[1]))
                )
                if found is not None:
                    return found
        return None

    def watched(self, kind: str) -> Iterator[ir.Operation]:
        """The ops of a kind that the scan keeps."""
        if kind in self.kinds:
            for op in self.ops:
                yield from op.watched.get(kind, ())


Check = Callable[[Scope], Iterator[Problem]]


def first(op: TopLevelOp, kind: str) -> ir.Location | None:
    """Where an op of a kind stands first inside."""
    if kind not in op.op_kinds:
        return op.location
    found = _find(op, lambda operation: operation.name == kind)
    return found.location if found is not None else None


def custom_call(op: TopLevelOp, target: str) -> ir.Location | None:
    """Where a custom-call target is called first inside."""
    for kind in CUSTOM_CALLS:
        for operation in op.watched.get(kind, ()):
            if target_of(operation) == target:
                return operation.location
    return None


def target_of(operation: ir.Operation) -> str:
    """The target of a custom call."""
    return word_of(operation.attributes["call_target_name"])


def _find(op: TopLevelOp, wanted: Callable[[ir.Operation], bool]) -> ir.Operation | None:
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if not wanted(inner):
            return ir.WalkResult.ADVANCE
        found.append(inner)
        return ir.WalkResult.INTERRUPT

    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else None
