"""Short words for the StableHLO ops that many rewrites need."""

from collections.abc import Mapping, Sequence

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

from kernel_magics.ir.legalize_rewriter import NoExactFormError, Rule, Site, Value


def make(
    name: str,
    operands: Sequence[Value],
    kind: ir.Type,
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> Value:
    """A new op of one result, at the current place."""
    return ir.Operation.create(name, [kind], list(operands), dict(attributes or {})).result


def elementwise(name: str) -> Rule:
    """The rule of an op that StableHLO has under another name, with the same operands."""

    def rule(site: Site) -> list[Value]:
        return [make(name, site.operands(), site.result_type())]

    return rule


def tensor_type(value: Value) -> ir.RankedTensorType:
    """The type of a value that is a tensor."""
    return ir.RankedTensorType(value.type)


def element(kind: ir.RankedTensorType) -> str:
    """A tensor's element type as MLIR prints it, such as `i1`."""
    return str(kind.element_type)


def width(kind: ir.RankedTensorType) -> int:
    """Bits of an element, integer or float."""
    inner = kind.element_type
    if isinstance(inner, ir.IntegerType):
        return ir.IntegerType(inner).width
    return ir.FloatType(inner).width


def is_bool(kind: ir.RankedTensorType) -> bool:
    """Whether elements are `i1`, which StableHLO takes for truth values and arith for numbers."""
    return element(kind) == "i1"


def signless(bits: int) -> ir.Type:
    """An integer type of arith; to StableHLO it is signed."""
    return ir.IntegerType.get_signless(bits)


def like(kind: ir.RankedTensorType, inner: ir.Type) -> ir.RankedTensorType:
    """The type of the same shape with other elements."""
    return ir.RankedTensorType.get(kind.shape, inner)


def can_be_full(kind: ir.RankedTensorType) -> bool:
    """Whether `full` can make it."""
    return kind.has_static_shape and not isinstance(kind.element_type, ir.ComplexType)


def full(kind: ir.RankedTensorType, number: float) -> Value:
    """A constant with one number everywhere.

    Raises:
        NoExactFormError: The shape is not known, or the numbers are complex.
    """
    if not can_be_full(kind):
        raise NoExactFormError
    inner = kind.element_type
    if isinstance(inner, ir.IntegerType):
        attribute = ir.IntegerAttr.get(inner, int(number))
    else:
        attribute = ir.FloatAttr.get(inner, number)
    dense = ir.DenseElementsAttr.get_splat(kind, attribute)
    return make("stablehlo.constant", [], kind, {"value": dense})


def compare(direction: str, left: Value, right: Value, ordering: str = "") -> Value:
    """A comparison, such as `LT`; `ordering` is `UNSIGNED` where bits count as natural numbers."""
    kind = tensor_type(left)
    if ordering == "UNSIGNED" and not is_bool(kind):
        left, right = unsigned(left), unsigned(right)
    if not ordering:
        is_integer = isinstance(kind.element_type, ir.IntegerType)
        ordering = "FLOAT" if not is_integer else "UNSIGNED" if is_bool(kind) else "SIGNED"
    attributes = {
        "comparison_direction": stablehlo.ComparisonDirectionAttr.get(direction),
        "compare_type": stablehlo.ComparisonTypeAttr.get(ordering),
    }
    return make("stablehlo.compare", [left, right], like(kind, signless(1)), attributes)


def convert(value: Value, inner: ir.Type) -> Value:
    """The same numbers as elements of another type."""
    kind = tensor_type(value)
    return (
        value
        if kind.element_type == inner
        else make("stablehlo.convert", [value], like(kind, inner))
    )


def bitcast(value: Value, inner: ir.Type) -> Value:
    """The same bits as elements of another type of the same width."""
    kind = tensor_type(value)
    return (
        value
        if kind.element_type == inner
        else make("stablehlo.bitcast_convert", [value], like(kind, inner))
    )


def unsigned(value: Value) -> Value:
    """The same bits as natural numbers."""
    return bitcast(value, ir.IntegerType.get_unsigned(width(tensor_type(value))))


def same_bits(value: Value) -> Value:
    """The same bits as an integer of arith."""
    return bitcast(value, signless(width(tensor_type(value))))


def sign_extend(value: Value, inner: ir.Type) -> Value:
    """Wider integers; the one bit of `i1` is its sign."""
    wide = convert(value, inner)
    kind = tensor_type(value)
    return make("stablehlo.negate", [wide], wide.type) if is_bool(kind) else wide


def zero_extend(value: Value, inner: ir.Type) -> Value:
    """Wider integers, filled up with zeros."""
    if is_bool(tensor_type(value)):
        return convert(value, inner)
    wide = ir.IntegerType.get_unsigned(ir.IntegerType(inner).width)
    return bitcast(convert(unsigned(value), wide), inner)


def truncate(value: Value, inner: ir.Type) -> Value:
    """Narrower integers: the low bits."""
    if str(inner) == "i1":
        value = make("stablehlo.and", [value, full(tensor_type(value), 1)], value.type)
    return convert(value, inner)


def reshape(value: Value, kind: ir.RankedTensorType) -> Value:
    """The same elements in row-major order, in another shape.

    Raises:
        NoExactFormError: A shape is not known.
    """
    if value.type == kind:
        return value
    if not (kind.has_static_shape and tensor_type(value).has_static_shape):
        raise NoExactFormError
    return make("stablehlo.reshape", [value], kind)


def logical(name: str, *operands: Value) -> Value:
    """`and`, `or`, `xor`, `not`, and other ops whose result is of the type of the operands."""
    return make(f"stablehlo.{name}", operands, operands[0].type)


def select(where: Value, then: Value, other: Value) -> Value:
    """`then` where it holds, `other` elsewhere."""
    return make("stablehlo.select", [where, then, other], then.type)
