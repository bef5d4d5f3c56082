"""Ops of optimised HLO that speak of memory, as StableHLO ops that speak of values."""

from collections.abc import Sequence
from math import prod
from typing import Any

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

Value = Any
"""An `ir.Value`, which is generic in a type that the binding knows only while it runs."""

_BYTE = 8

_ELEMENTS = (ir.FloatType, ir.IntegerType)


class UntrueBitcastError(Exception):
    """A bitcast that StableHLO cannot say."""


def legalize(module: ir.Module) -> None:
    """Replaces every `mhlo.copy` and `mhlo.bitcast`, in place.

    A copy is its operand. A bitcast reads the operand's memory as another shape: it is a
    transpose to the order in which the operand lies, a reshape, and a transpose back.

    Raises:
        UntrueBitcastError: A bitcast between types whose bits do not line up.
    """
    found: list[ir.Operation] = []

    def visit(view: ir.Operation) -> ir.WalkResult:
        if view.name in ("mhlo.copy", "mhlo.bitcast"):
            found.append(view)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    for view in found:
        with view.location, ir.InsertionPoint(view):
            value = view.operands[0] if view.name == "mhlo.copy" else _value(view)
        view.results[0].replace_all_uses_with(value)
        view.erase()


def _value(bitcast: ir.Operation) -> Value:
    operand = bitcast.operands[0]
    given, made = (ir.RankedTensorType(v.type) for v in (operand, bitcast.results[0]))
    if not (given.has_static_shape and made.has_static_shape):
        raise UntrueBitcastError(f"`{given}` to `{made}` has dynamic dimensions")
    order = _major_to_minor(bitcast, "source_layout", given.rank)
    physical = _transpose(operand, order)
    physical = _with_elements(physical, given.element_type, made.element_type)
    order = _major_to_minor(bitcast, "result_layout", made.rank)
    lying = _reshape(physical, [made.shape[d] for d in order])
    return _transpose(lying, [order.index(d) for d in range(made.rank)])


def _major_to_minor(bitcast: ir.Operation, attribute: str, rank: int) -> list[int]:
    """The dimensions in the order in which they lie in memory, slowest first."""
    if attribute not in bitcast.attributes:
        return list(range(rank))
    layout = ir.DenseIntElementsAttr(bitcast.attributes[attribute])
    order = [layout[i] for i in range(len(layout))][::-1]
    if sorted(order) != list(range(rank)):
        raise UntrueBitcastError(f"`{attribute}` is {layout} for {rank} dimensions")
    return order


def _with_elements(value: Value, given: ir.Type, made: ir.Type) -> Value:
    """The same memory as elements of another type."""
    if given == made:
        return value
    narrow, wide = sorted((_bits(given), _bits(made)))
    if narrow % _BYTE:
        raise UntrueBitcastError(f"`{given}` to `{made}` has elements that are no whole bytes")
    shape = ir.RankedTensorType(value.type).shape
    ratio = wide // narrow
    if _bits(given) < _bits(made):
        if prod(shape) % ratio:
            raise UntrueBitcastError(f"`{given}` to `{made}` has a part of an element left over")
        value = _reshape(value, [prod(shape) // ratio, ratio])
        shape = [prod(shape) // ratio]
    elif _bits(given) > _bits(made):
        shape = [*shape, ratio]
    return stablehlo.bitcast_convert(ir.RankedTensorType.get(shape, made), value)


def _bits(element: ir.Type) -> int:
    for kind in _ELEMENTS:
        if isinstance(element, kind):
            return kind(element).width
    raise UntrueBitcastError(f"`{element}` is read as another type")


def _transpose(value: Value, order: Sequence[int]) -> Value:
    if list(order) == sorted(order):
        return value
    return stablehlo.transpose(value, ir.DenseI64ArrayAttr.get(list(order)))


def _reshape(value: Value, shape: Sequence[int]) -> Value:
    kind = ir.RankedTensorType(value.type)
    if list(shape) == list(kind.shape):
        return value
    return stablehlo.reshape(ir.RankedTensorType.get(list(shape), kind.element_type), value)
