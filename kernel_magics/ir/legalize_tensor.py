"""`tensor` in StableHLO: elements, slices and shapes, where sizes are known."""

import math
from collections.abc import Sequence

import numpy as np
from jax.extend.mlir import ir

from kernel_magics.ir.legalize_build import (
    bitcast,
    full,
    like,
    make,
    reshape,
    select,
    signless,
    tensor_type,
)
from kernel_magics.ir.legalize_rewriter import CONSTANT, NoExactFormError, Rule, Site, Value, owner

_LARGEST_MASK = 1 << 24


def _extract(site: Site) -> list[Value]:
    source, *indices = site.operands()
    if not indices:
        return [source]
    return [reshape(_slice_at(source, indices, [1] * len(indices)), site.result_type())]


def _insert(site: Site) -> list[Value]:
    value, target, *indices = site.operands()
    if not indices:
        return [value]
    return [_update(target, reshape(value, _of_ones(tensor_type(value), len(indices))), indices)]


def _from_elements(site: Site) -> list[Value]:
    kind, elements = site.result_type(), site.operands()
    if not elements:
        raise NoExactFormError
    if len(elements) == 1:
        return [reshape(elements[0], kind)]
    ones = [reshape(value, _of_ones(tensor_type(value), 1)) for value in elements]
    row = ir.RankedTensorType.get([len(ones)], kind.element_type)
    return [reshape(_concatenate(ones, 0, row), kind)]


def _splat(site: Site) -> list[Value]:
    kind = _static(site.result_type())
    dimensions = ir.DenseI64ArrayAttr.get([])
    broadcast = "stablehlo.broadcast_in_dim"
    return [make(broadcast, [site.operand(0)], kind, {"broadcast_dimensions": dimensions})]


def _reshape(site: Site) -> list[Value]:
    return [reshape(site.operand(0), site.result_type())]


def _bitcast(site: Site) -> list[Value]:
    return [bitcast(site.operand(0), site.result_type().element_type)]


def _concat(site: Site) -> list[Value]:
    dimension = ir.IntegerAttr(site.operation.attributes["dim"]).value
    return [_concatenate(site.operands(), dimension, site.result_type())]


def _dim(site: Site) -> list[Value]:
    kind = tensor_type(site.operand(0))
    made = owner(site.operation.operands[1])
    if made is None or made.name != CONSTANT:
        raise NoExactFormError
    number = ir.IntegerAttr(made.attributes["value"]).value
    if not 0 <= number < kind.rank or kind.is_dynamic_dim(number):
        raise NoExactFormError
    return [full(site.result_type(), kind.get_dim_size(number))]


def _rank(site: Site) -> list[Value]:
    return [full(site.result_type(), tensor_type(site.operand(0)).rank)]


def _extract_slice(site: Site) -> list[Value]:
    source = site.operand(0)
    offsets, sizes, strides = _window(site, 1, tensor_type(source))
    kind = ir.RankedTensorType.get(sizes, tensor_type(source).element_type)
    starts = _constants(offsets)
    if starts is None:
        if any(stride != 1 for stride in strides):
            raise NoExactFormError
        return [reshape(_slice_at(source, _indices(offsets), sizes), site.result_type())]
    ends = [
        start + (size - 1) * stride + 1 if size else start
        for start, size, stride in zip(starts, sizes, strides, strict=True)
    ]
    attributes = {
        "start_indices": ir.DenseI64ArrayAttr.get(starts),
        "limit_indices": ir.DenseI64ArrayAttr.get(ends),
        "strides": ir.DenseI64ArrayAttr.get(strides),
    }
    return [reshape(make("stablehlo.slice", [source], kind, attributes), site.result_type())]


def _insert_slice(site: Site) -> list[Value]:
    target = site.operand(1)
    kind = _static(tensor_type(target))
    offsets, sizes, strides = _window(site, 2, kind)
    source = reshape(site.operand(0), ir.RankedTensorType.get(sizes, kind.element_type))
    if all(stride == 1 for stride in strides):
        return [_update(target, source, _indices(offsets))]
    starts = _constants(offsets)
    if starts is None or 0 in sizes:
        raise NoExactFormError
    ends = [
        bound - start - (size - 1) * stride - 1
        for bound, start, size, stride in zip(kind.shape, starts, sizes, strides, strict=True)
    ]
    gaps = [stride - 1 for stride in strides]
    is_there = full(like(tensor_type(source), signless(1)), 1)
    nowhere = full(ir.RankedTensorType.get([], signless(1)), 0)
    where = _padded(is_there, nowhere, (starts, ends, gaps), like(kind, signless(1)))
    # What fills the gaps is not selected: any value will do.
    filler = reshape(_slice_at(target, _indices([0] * kind.rank), [1] * kind.rank), _scalar(kind))
    return [select(where, _padded(source, filler, (starts, ends, gaps), kind), target)]


def _pad(site: Site) -> list[Value]:
    """Padded with one value; a value that depends on where it stands has no form here."""
    low, high = (_numbers(site, name) for name in ("static_low", "static_high"))
    dynamic = ir.ShapedType.get_dynamic_size()
    if dynamic in low or dynamic in high:
        raise NoExactFormError
    block = site.operation.regions[0].blocks[0]
    value = list(block.operations)[-1].operation.operands[0]
    made = owner(value)
    if value.owner == block:
        raise NoExactFormError
    if made is not None and made.block == block:
        if made.name != CONSTANT:
            raise NoExactFormError
        made.move_before(site.operation)
    source = site.operand(0)
    gaps = [0] * len(low)
    return [_padded(source, site.rewriter.tensor(value), (low, high, gaps), site.result_type())]


def _empty(site: Site) -> list[Value]:
    """Any content will do where slices cover all of it before anything else reads it."""
    kind = _static(site.result_type())
    if math.prod(kind.shape) > _LARGEST_MASK:
        raise NoExactFormError
    is_written = np.zeros(kind.shape, bool)
    value: Value = site.operation.results[0]
    while (use := _only_use(value)) is not None and use.name == "tensor.insert_slice":
        if use.operands[1] != value:
            break
        starts = _constants(_window(Site(use, site.rewriter), 2, kind)[0])
        if starts is None:
            break
        _, sizes, strides = _window(Site(use, site.rewriter), 2, kind)
        window = zip(starts, sizes, strides, strict=True)
        is_written[tuple(slice(o, o + (n - 1) * s + 1 if n else o, s) for o, n, s in window)] = True
        value = use.results[0]
    if not is_written.all():
        raise NoExactFormError
    return [full(kind, 0)]


def _only_use(value: Value) -> ir.Operation | None:
    uses = iter(value.uses)
    first = next(uses, None)
    return first.owner.operation if first is not None and next(uses, None) is None else None


def _window(
    site: Site, first: int, kind: ir.RankedTensorType
) -> tuple[list[Value | int], list[int], list[int]]:
    """Offsets, sizes and strides of a slice of a tensor; offsets may be values."""
    dynamic = ir.ShapedType.get_dynamic_size()
    offsets, sizes, strides = (
        _numbers(site, f"static_{name}") for name in ("offsets", "sizes", "strides")
    )
    if dynamic in sizes or dynamic in strides or any(stride < 1 for stride in strides):
        raise NoExactFormError
    values = iter(list(site.operation.operands)[first:])
    mixed = [site.rewriter.tensor(next(values)) if n == dynamic else n for n in offsets]
    for number, (offset, size, stride) in enumerate(zip(mixed, sizes, strides, strict=True)):
        # StableHLO moves a window that sticks out, and `tensor` has no meaning for it.
        is_inside = not isinstance(offset, int) or (
            not kind.is_dynamic_dim(number)
            and 0 <= offset <= kind.get_dim_size(number) - max(size - 1, 0) * stride - min(size, 1)
        )
        if not is_inside:
            raise NoExactFormError
    return mixed, sizes, strides


def _numbers(site: Site, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(site.operation.attributes[name]))


def _constants(offsets: Sequence[Value | int]) -> list[int] | None:
    numbers = [offset for offset in offsets if isinstance(offset, int)]
    return numbers if len(numbers) == len(offsets) else None


def _indices(offsets: Sequence[Value | int]) -> list[Value]:
    """Offsets as tensors of rank 0; StableHLO wants them all of one type."""
    word = ir.RankedTensorType.get([], signless(64))
    return [full(word, offset) if isinstance(offset, int) else offset for offset in offsets]


def _slice_at(source: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
    kind = ir.RankedTensorType.get(sizes, tensor_type(source).element_type)
    attributes = {"slice_sizes": ir.DenseI64ArrayAttr.get(sizes)}
    return make("stablehlo.dynamic_slice", [source, *starts], kind, attributes)


def _update(target: Value, source: Value, starts: Sequence[Value]) -> Value:
    return make("stablehlo.dynamic_update_slice", [target, source, *starts], target.type)


def _concatenate(values: Sequence[Value], dimension: int, kind: ir.Type) -> Value:
    number = ir.IntegerAttr.get(signless(64), dimension)
    return make("stablehlo.concatenate", values, kind, {"dimension": number})


def _padded(
    value: Value,
    filler: Value,
    edges: tuple[Sequence[int], Sequence[int], Sequence[int]],
    kind: ir.Type,
) -> Value:
    """Padded below, above and between, by so many elements in each dimension."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    attributes = {
        name: ir.DenseI64ArrayAttr.get(edge) for name, edge in zip(names, edges, strict=True)
    }
    return make("stablehlo.pad", [value, filler], kind, attributes)


def _of_ones(kind: ir.RankedTensorType, rank: int) -> ir.RankedTensorType:
    return ir.RankedTensorType.get([1] * rank, kind.element_type)


def _scalar(kind: ir.RankedTensorType) -> ir.RankedTensorType:
    return ir.RankedTensorType.get([], kind.element_type)


def _static(kind: ir.RankedTensorType) -> ir.RankedTensorType:
    if not kind.has_static_shape:
        raise NoExactFormError
    return kind


TENSOR: dict[str, Rule] = {
    "tensor.bitcast": _bitcast,
    "tensor.collapse_shape": _reshape,
    "tensor.concat": _concat,
    "tensor.dim": _dim,
    "tensor.empty": _empty,
    "tensor.expand_shape": _reshape,
    "tensor.extract": _extract,
    "tensor.extract_slice": _extract_slice,
    "tensor.from_elements": _from_elements,
    "tensor.insert": _insert,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.rank": _rank,
    "tensor.reshape": _reshape,
    "tensor.splat": _splat,
}
"""All ops of tensor that have a rule. `tensor.cast` has none: XLA takes it."""
