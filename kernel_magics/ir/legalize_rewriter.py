"""Replaces ops one by one: scalars are followed as tensors of rank 0."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jax.extend.mlir import ir

CONSTANT = "arith.constant"

_ELEMENTS = frozenset(
    (
        *(f"{sign}i{width}" for sign in ("", "u") for width in (2, 4, 8, 16, 32, 64)),
        *("i1", "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"),
        *("f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ"),
    )
)

# The ends of regions go with the op around them.
_ENDS = frozenset((CONSTANT, "scf.yield", "scf.condition", "tensor.yield"))

Value: TypeAlias = ir.Value[Any]

Rule = Callable[["Site"], Sequence[Value]]
"""Writes one op anew before it; gives a value for each result, as tensors."""


class NoExactFormError(Exception):
    """The op means something that StableHLO cannot say exactly, so it stays. Never escapes."""


@dataclass(slots=True)
class Rewriter:
    """One pass over a module.

    The module is valid at every step: an op that makes scalars is erased only when nothing
    reads them any more, and those that a left op reads are kept.
    """

    module: ir.Module
    rules: Mapping[str, Rule]
    changed: bool = False
    _tensors: dict[Value, Value] = field(default_factory=dict[Value, Value])
    _types: dict[ir.Type, ir.RankedTensorType | None] = field(
        default_factory=dict[ir.Type, ir.RankedTensorType | None]
    )
    _retired: list[ir.Operation] = field(default_factory=list[ir.Operation])
    _constants: list[ir.Operation] = field(default_factory=list[ir.Operation])
    _unfit: set[ir.Operation] | None = None

    def rewrite_block(self, block: ir.Block) -> None:
        """Rewrites the ops of a block, and those in their regions."""
        for view in list(block.operations):
            self.rewrite(view.operation)

    def rewrite(self, operation: ir.Operation) -> None:
        """Replaces one op where its rule can; otherwise goes into its regions."""
        rule = self.rules.get(operation.name)
        if rule is None or not self._apply(rule, operation):
            for region in operation.regions:
                for block in region.blocks:
                    self.rewrite_block(block)

    def tensor(self, value: Value) -> Value:
        """A value as a tensor: itself, or what stands for a scalar.

        Raises:
            NoExactFormError: It is of another type, or a scalar of an op that was left.
        """
        if isinstance(value.type, ir.RankedTensorType):
            self.tensor_type(value.type)
            return value
        known = self._tensors.get(value)
        return self._constant(value) if known is None else known

    def tensor_type(self, kind: ir.Type) -> ir.RankedTensorType:
        """The type of the tensor that stands for a value of type `kind`.

        Raises:
            NoExactFormError: StableHLO has no such type.
        """
        if kind not in self._types:
            self._types[kind] = _tensor_type(kind)
        found = self._types[kind]
        if found is None:
            raise NoExactFormError
        return found

    def stand_in(self, old: Value, new: Value) -> None:
        """Lets the tensor `new` stand for `old` from here on."""
        if isinstance(old.type, ir.RankedTensorType):
            old.replace_all_uses_with(new)
        else:
            self._tensors[old] = new

    def retire(self, operation: ir.Operation) -> None:
        """Has an op erased in the end; the bodies of its regions have been moved away.

        To be called before the rewriting of those bodies: users are erased before their operands.
        """
        self._retired.append(operation)

    def move_body(self, old: ir.Block, new: ir.Block, into: Sequence[Value]) -> list[Value]:
        """Moves a block's ops to the end of another, rewritten; its end op is erased.

        Args:
            old: The only block of a region.
            new: Where its ops go.
            into: Tensors that stand for the arguments of `old`.

        Returns:
            The operands of the end op, as tensors.
        """
        for argument, value in zip(old.arguments, into, strict=True):
            self.stand_in(argument, value)
        *body, end = [view.operation for view in old.operations]
        for operation in body:
            new.append(operation)
        for operation in body:
            self.rewrite(operation)
        with ir.InsertionPoint(new), end.location:
            values = [self._tensor_or_bridge(operand) for operand in end.operands]
        end.erase()
        return values

    def can_move_bodies(self, operation: ir.Operation) -> bool:
        """Whether no op inside, at any depth, needs scalars that would become tensors."""
        if self._unfit is None:
            self._unfit = self._find_unfit()
        return operation not in self._unfit

    def finish(self) -> None:
        """Erases the old ops, the last first."""
        for operation in reversed(self._retired):
            if len(operation.regions):
                self._bridge_all(operation)
                operation.erase()
            elif not _is_used(operation):
                operation.erase()
        for operation in self._constants:
            if not _is_used(operation):
                operation.erase()

    def _apply(self, rule: Rule, operation: ir.Operation) -> bool:
        try:
            with ir.InsertionPoint(operation), operation.location:
                values = rule(Site(operation, self))
        except NoExactFormError:
            return False
        self.changed = True
        self._copy_attributes(operation, values)
        is_tensor = True
        for old, new in zip(operation.results, values, strict=True):
            self.stand_in(old, new)
            is_tensor = is_tensor and isinstance(old.type, ir.RankedTensorType)
        if operation.name.startswith("scf."):
            return True
        if is_tensor:
            operation.erase()
        else:
            self.retire(operation)
        return True

    def _copy_attributes(self, operation: ir.Operation, values: Sequence[Value]) -> None:
        """Copies what a dialect has hung on an op, such as `sdy.sharding`, to the op of `values`.

        Loops carry values that the old op did not have; what is said of its results is dropped.
        """
        names = [name for name in operation.attributes if "." in name]
        if not names or not values:
            return
        made = owner(values[-1])
        if made is None or len(made.results) != len(operation.results):
            return
        if values[-1] in {self._tensors.get(operand, operand) for operand in operation.operands}:
            return
        for name in names:
            made.attributes[name] = operation.attributes[name]

    def _constant(self, value: Value) -> Value:
        made = owner(value)
        if made is None or made.name != CONSTANT:
            raise NoExactFormError
        kind = self.tensor_type(value.type)
        attribute = made.attributes["value"]
        with ir.InsertionPoint(made), made.location:
            if isinstance(value.type, ir.IndexType):
                number = ir.IntegerAttr(attribute).value
                attribute = ir.IntegerAttr.get(kind.element_type, number)
            dense = ir.DenseElementsAttr.get_splat(kind, attribute)
            new = ir.Operation.create("stablehlo.constant", [kind], [], {"value": dense}).result
        self._constants.append(made)
        self._tensors[value] = new
        return new

    def _tensor_or_bridge(self, value: Value) -> Value:
        """As `tensor`; a scalar of an op that was left gets an op that XLA refuses."""
        try:
            return self.tensor(value)
        except NoExactFormError:
            kind = self.tensor_type(value.type)
            if isinstance(value.type, ir.IndexType):
                cast = ir.Operation.create("arith.index_cast", [kind.element_type], [value])
                value = cast.result
            return ir.Operation.create("tensor.from_elements", [kind], [value]).result

    def _bridge_all(self, operation: ir.Operation) -> None:
        """Gives back the scalars of a moved op to ops that were left and read them."""
        arguments = [a for region in operation.regions for b in region.blocks for a in b.arguments]
        for value in (*operation.results, *arguments):
            if next(iter(value.uses), None) is not None and value in self._tensors:
                value.replace_all_uses_with(_bridge(value, self._tensors[value], operation))

    def _find_unfit(self) -> set[ir.Operation]:
        """The ops around an op that has no rule and reads or makes scalars."""
        unfit: set[ir.Operation] = set()

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if inner.name not in self.rules and inner.name not in _ENDS and _has_scalars(inner):
                around = inner.parent
                while around is not None and around.operation not in unfit:
                    unfit.add(around.operation)
                    around = around.operation.parent
            return ir.WalkResult.ADVANCE

        self.module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        return unfit


@dataclass(frozen=True, slots=True)
class Site:
    """One op to be written anew; new ops go before it and bear its location."""

    operation: ir.Operation
    rewriter: Rewriter

    def operand(self, number: int) -> Value:
        """One operand as a tensor."""
        return self.rewriter.tensor(self.operation.operands[number])

    def operands(self, start: int = 0) -> list[Value]:
        """The operands from `start` on, as tensors."""
        return [self.rewriter.tensor(value) for value in list(self.operation.operands)[start:]]

    def result_type(self, number: int = 0) -> ir.RankedTensorType:
        """The type of the tensor that stands for one result."""
        return self.rewriter.tensor_type(self.operation.results[number].type)

    def result_types(self) -> list[ir.RankedTensorType]:
        """The types of the tensors that stand for the results."""
        return [self.rewriter.tensor_type(value.type) for value in self.operation.results]


def has_tensor_form(kind: ir.Type) -> bool:
    """Whether StableHLO has a tensor for values of this type."""
    return _tensor_type(kind) is not None


def owner(value: Value) -> ir.Operation | None:
    """The op that makes a value; None for an argument of a block."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _tensor_type(kind: ir.Type) -> ir.RankedTensorType | None:
    location = ir.Location.unknown(kind.context)
    if isinstance(kind, ir.RankedTensorType):
        is_plain = kind.encoding is None and str(kind.element_type) in _ELEMENTS
        return kind if is_plain else None
    if isinstance(kind, ir.IndexType):
        kind = ir.IntegerType.get_signless(64, kind.context)
    return ir.RankedTensorType.get([], kind, loc=location) if str(kind) in _ELEMENTS else None


def _has_scalars(operation: ir.Operation) -> bool:
    kinds = [value.type for value in (*operation.operands, *operation.results)]
    return any(isinstance(k, ir.IntegerType | ir.FloatType | ir.IndexType) for k in kinds)


def _is_used(operation: ir.Operation) -> bool:
    return any(next(iter(result.uses), None) is not None for result in operation.results)


def _bridge(value: Value, tensor: Value, old: ir.Operation) -> Value:
    """A scalar taken out of its tensor, where the tensor is made."""
    made = owner(tensor)
    if made is None:
        at = ir.InsertionPoint.at_block_begin(ir.BlockArgument(tensor).owner)
    else:
        at = ir.InsertionPoint(made)
    element = ir.RankedTensorType(tensor.type).element_type
    with at, old.location:
        out = ir.Operation.create("tensor.extract", [element], [tensor])
        if made is not None:
            out.move_after(made)
        if not isinstance(value.type, ir.IndexType):
            return out.result
        cast = ir.Operation.create("arith.index_cast", [value.type], [out.result])
        cast.move_after(out)
        return cast.result
