"""Custom calls: annotations pass their value on, targets are called as JAX calls them."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.mlir import ir

from kernel_magics import _jax_private
from kernel_magics.call.replay.lapack import differentiable
from kernel_magics.call.replay.operation import FIELD, Blocked, Op, Run, numbers
from kernel_magics.call.serving import CallUse, call_resolver
from kernel_magics.ir.attribute_parts import entries, text_of
from kernel_magics.ir.call_attributes import read_attributes
from kernel_magics.ir.types import element_dtype

ANNOTATIONS = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
    "MoveToDevice",
    "MoveToHost",
    "LayoutConstraint",
)
"""Targets that say where or how a value is kept, and not what it is."""

_TYPED = 4
"""XLA's calling convention with named attributes."""
LAPACK = "lapack_"


def _custom_call(op: Op) -> Run:
    target = op.text("call_target_name")
    if target in ANNOTATIONS and op.operands[0].shape == op.results[0].shape:
        return _same
    if op.words("called_computations"):
        raise Blocked("a custom call that calls functions of the program has no form in JAX")
    if any(kind.dtype is None for kind in (*op.operands, *op.results)):
        raise Blocked("its operands or results are no arrays")
    if target.startswith(LAPACK):
        _jax_private.initialize_lapack()
    call = _ffi_call(op, target)
    if target.startswith(LAPACK):
        return differentiable(target, attributes(op), call)
    return _registered_or(op, target, call)


def _registered_or(op: Op, target: str, other: Run) -> Run:
    """A call of a registered target, which knows its derivative and what stands in for it.

    Asked when it is called: what was read is kept longer than what is registered.
    """
    kinds = [
        tuple(jax.ShapeDtypeStruct(kind.shape, kind.known) for kind in group)
        for group in (op.operands, op.results)
    ]
    use = CallUse(
        target,
        is_block=False,
        arguments=kinds[0],
        results=kinds[1],
        attributes=read_attributes(op.operation),
        where=op.callees.excerpt(op.operation),
    )

    def call(*args: Any) -> Any:
        resolver = call_resolver()
        registered = None if resolver is None else resolver.traced(use)
        if registered is None:
            return other(*args)
        made = registered(*args)
        return made[0] if len(use.results) == 1 else made

    return call


def _same(x: Any) -> Any:
    return x


def _ffi_call(op: Op, target: str) -> Run:
    # Where JAX gives named attributes in a dictionary of MHLO, the version is left unsaid.
    is_typed = isinstance(op.attribute("mhlo.backend_config"), ir.DictAttr)
    version = _TYPED if is_typed else op.number("api_version", 1)
    named = attributes(op) if version >= _TYPED else {}
    opaque = op.text("backend_config") if version < _TYPED else None
    results = [jax.ShapeDtypeStruct(kind.shape, kind.known) for kind in op.results]
    call = jax.ffi.ffi_call(
        target,
        results,
        has_side_effect=op.flag("has_side_effect"),
        # Handlers of LAPACK take any number of leading dimensions; of others nothing is known.
        vmap_method="broadcast_all" if target.startswith(LAPACK) else "sequential",
        input_layouts=_layouts(op, "operand_layouts"),
        output_layouts=_layouts(op, "result_layouts"),
        input_output_aliases=_aliases(op),
        custom_call_api_version=version,
        legacy_backend_config=opaque,
    )
    count = len(results)

    def custom_call(*args: Any) -> Any:
        made = call(*args, **named)
        return made[0] if count == 1 else made

    return custom_call


def _layouts(op: Op, name: str) -> list[tuple[int, ...]] | None:
    attribute = op.attribute(name)
    if not isinstance(attribute, ir.ArrayAttr):
        return None
    # XLA counts from the dimension that changes fastest, JAX from the slowest.
    found = [np.asarray(each).ravel().tolist() for each in attribute]
    return [tuple(reversed([int(n) for n in layout])) for layout in found]


def _aliases(op: Op) -> dict[int, int]:
    """Operands to the results that may take their memory."""
    attribute = op.attribute("output_operand_aliases")
    aliases: dict[int, int] = {}
    if isinstance(attribute, ir.ArrayAttr):
        for each in attribute:
            fields = dict(FIELD.findall(str(each)))
            place = numbers(fields["output_tuple_indices"]) or (0,)
            aliases[int(fields["operand_index"])] = place[0]
    return aliases


def attributes(op: Op) -> dict[str, Any]:
    """The named attributes that a handler gets; writers differ in where they put them."""
    for name in ("backend_config", "mhlo.backend_config"):
        config = op.attribute(name)
        if isinstance(config, ir.DictAttr):
            return _dictionary(config)
    return {}


def _dictionary(config: ir.DictAttr) -> dict[str, Any]:
    try:
        return {name: _value(value) for name, value in entries(config)}
    except TypeError as error:
        raise Blocked(f"JAX has no attributes `{config}`") from error


def _value(attribute: Any) -> Any:
    if isinstance(attribute, ir.StringAttr):
        text = text_of(attribute)
        if isinstance(text, bytes):
            raise Blocked("JAX has no attributes of bytes that are no text")
        return text
    if isinstance(attribute, ir.BoolAttr):
        return attribute.value
    if isinstance(attribute, ir.IntegerAttr | ir.FloatAttr):
        dtype = element_dtype(str(attribute.type))
        if dtype is None:
            raise Blocked(f"JAX has no attribute `{attribute}`")
        return dtype.type(attribute.value)
    if isinstance(attribute, ir.DictAttr):
        return _dictionary(attribute)
    try:
        return np.asarray(list(attribute))
    except TypeError as error:
        raise Blocked(f"JAX has no attribute `{attribute}`") from error


CUSTOM_CALLS: dict[str, Callable[[Op], Run]] = {"custom_call": _custom_call}
