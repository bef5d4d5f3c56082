"""What stands at the top of a module: definitions, what each uses, and how big it is; in one pass."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from jax.extend.mlir import ir

from kernel_magics.ir.references import ReferenceReader

CALLS = "func.call"
COMPOSITE = "stablehlo.composite"
CUSTOM_CALL = "stablehlo.custom_call"
_CUSTOM_CALLS = (CUSTOM_CALL, "mhlo.custom_call")


@dataclass(frozen=True, slots=True)
class Use:
    """One attribute of one op that names symbols."""

    operation: ir.Operation
    attribute: str
    symbols: tuple[str, ...]


@dataclass(slots=True)
class TopLevelOp:
    """One op at the top of a module: a function, a global, a mesh, a nested module, or no symbol."""

    operation: ir.Operation
    kind: str
    """The op's name, such as `func.func`."""
    name: str | None
    """The symbol without `@`; None where the op defines no symbol."""
    is_private: bool
    is_declaration: bool
    """A `func.func` without a body."""
    op_count: int = 0
    """Ops inside, at any depth."""
    op_kinds: Counter[str] = field(default_factory=Counter[str])
    references: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """(symbol, name of the op that names it) to how often, in order of first use."""
    custom_calls: Counter[str] = field(default_factory=Counter[str])
    """Custom-call targets to how often."""
    uses: list[Use] = field(default_factory=list[Use])

    @property
    def is_function(self) -> bool:
        """Whether it is a `func.func`, with a body or without."""
        return self.kind == "func.func"


@dataclass(frozen=True, slots=True)
class SymbolIndex:
    """All top-level ops of a module, in order."""

    ops: tuple[TopLevelOp, ...]
    by_name: dict[str, TopLevelOp]

    def functions(self) -> Iterator[TopLevelOp]:
        """The functions, in module order."""
        return (op for op in self.ops if op.is_function)

    def public_functions(self) -> list[TopLevelOp]:
        """Functions with a body that their author did not hide."""
        return [op for op in self.functions() if not op.is_private and not op.is_declaration]

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


def scan(module: ir.Module) -> SymbolIndex:
    """Reads a module's top level; visits every op once.

    References inside a nested symbol table (`builtin.module`, `gpu.module`) belong to that
    table and are left alone; those on the nested op itself belong to the module.
    """
    reader = ReferenceReader()
    ops = tuple(_read(view.operation, reader) for view in module.body.operations)
    return SymbolIndex(ops, {op.name: op for op in ops if op.name is not None})


def _read(operation: ir.Operation, reader: ReferenceReader) -> TopLevelOp:
    attributes = operation.attributes
    name = attributes["sym_name"] if "sym_name" in attributes else None
    hidden = attributes["sym_visibility"] if "sym_visibility" in attributes else None
    kind = operation.name
    op = TopLevelOp(
        operation=operation,
        kind=kind,
        name=name.value if isinstance(name, ir.StringAttr) else None,
        is_private=isinstance(hidden, ir.StringAttr) and hidden.value != "public",
        is_declaration=kind == "func.func" and not operation.regions[0].blocks,
    )
    if op.is_function or not _is_symbol_table(operation):
        _walk(op, reader)
    else:
        _read_attributes(op, operation, kind, reader)
        _walk(op, None)
    op.op_count = op.op_kinds.total() - 1
    op.op_kinds[kind] -= 1
    return op


def _walk(op: TopLevelOp, reader: ReferenceReader | None) -> None:
    """Counts the op and all inside it; reads their attributes where a reader is given."""
    kinds: dict[str, int] = {}

    def visit(inner: ir.Operation) -> ir.WalkResult:
        kind = inner.name
        kinds[kind] = kinds.get(kind, 0) + 1
        if reader is not None and len(inner.attributes):
            _read_attributes(op, inner, kind, reader)
        return ir.WalkResult.ADVANCE

    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    op.op_kinds.update(kinds)


def _read_attributes(
    op: TopLevelOp, operation: ir.Operation, kind: str, reader: ReferenceReader
) -> None:
    attributes = operation.attributes
    for name in attributes:
        try:
            attribute = attributes[name]
        except TypeError:
            # The binding has no class for constants of complex numbers and of small floats.
            continue
        symbols = reader.read(attribute)
        if symbols:
            op.uses.append(Use(operation, name, symbols))
            for symbol in symbols:
                op.references[symbol, kind] += 1
        elif name == "call_target_name" and kind in _CUSTOM_CALLS:
            assert isinstance(attribute, ir.StringAttr)
            op.custom_calls[attribute.value] += 1


def _is_symbol_table(operation: ir.Operation) -> bool:
    try:
        ir.SymbolTable(operation)
    except (ValueError, RuntimeError, TypeError):
        return False
    return True
