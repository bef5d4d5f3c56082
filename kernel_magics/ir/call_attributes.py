"""The named attributes of custom calls and composites, as NumPy has them, and back."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from jax.extend.mlir import ir
from jax.interpreters import mlir

from kernel_magics.ir.attribute_parts import names, text_of
from kernel_magics.ir.symbols import COMPOSITE
from kernel_magics.ir.types import element_dtype

_PLACES = ("backend_config", "mhlo.backend_config")
"""Where writers of custom calls put them."""


def read_attributes(operation: ir.Operation) -> dict[str, Any]:
    """The attributes that a handler gets: NumPy scalars and arrays, strings, dictionaries.

    Strings that are no text are bytes. What NumPy has no form for stays an MLIR attribute.
    """
    places = ("composite_attributes",) if operation.name == COMPOSITE else _PLACES
    for place in places:
        if place in operation.attributes:
            config = operation.attributes[place]
            if isinstance(config, ir.DictAttr):
                return _dictionary(config)
    return {}


def write_attributes(values: Mapping[str, Any], context: ir.Context) -> ir.DictAttr:
    """The other way round."""
    with context:
        return ir.DictAttr.get({name: _written(value) for name, value in values.items()})


def _dictionary(config: ir.DictAttr) -> dict[str, Any]:
    found: dict[str, Any] = {}
    # Constants of complex numbers and of small floats, and odd names: no handler can be given them.
    with suppress(TypeError):
        for name in names(config):
            with suppress(TypeError):
                found[name] = _value(config[name])
    return found


def _value(attribute: Any) -> Any:
    if isinstance(attribute, ir.BoolAttr):
        return np.bool_(attribute.value)
    if isinstance(attribute, ir.StringAttr):
        return text_of(attribute)
    if isinstance(attribute, ir.DictAttr):
        return _dictionary(attribute)
    if isinstance(attribute, ir.IntegerAttr | ir.FloatAttr):
        dtype = element_dtype(str(attribute.type))
        return attribute if dtype is None else dtype.type(attribute.value)
    if isinstance(attribute, ir.DenseElementsAttr):
        return np.array(attribute)
    return _array(attribute)


def _array(attribute: Any) -> Any:
    """Arrays of numbers, such as `array<i64: 1, 2>`."""
    kind = str(attribute).removeprefix("array<").partition(":")[0].rstrip(">")
    dtype = element_dtype(kind)
    try:
        return attribute if dtype is None else np.array(list(attribute), dtype)
    except (TypeError, ValueError):
        return attribute


def _written(value: Any) -> ir.Attribute:
    if isinstance(value, ir.Attribute):
        return value
    if isinstance(value, Mapping):
        return ir.DictAttr.get({name: _written(each) for name, each in value.items()})
    if isinstance(value, bytes):
        return ir.StringAttr.get(value)
    return mlir.ir_attribute(value)
