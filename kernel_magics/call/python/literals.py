"""Values as Python: dtypes, numbers, small arrays, and the parameters of operations."""

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from kernel_magics.call.python.layout import UNARY, Code, call, group

STANDARD = frozenset((
    "bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "complex64", "complex128",
))  # fmt: skip
"""Dtypes whose arrays take part in arithmetic with Python's own numbers."""

_NUMPY = STANDARD - {"bfloat16"} | {"bool"}
_PYTHON_INTEGERS = 2**31


def dtype_code(dtype: Any) -> Code:
    """A dtype, as an argument."""
    name = np.dtype(dtype).name
    if name == "bool":
        return Code("np.bool_")
    return Code(f"{'np' if name in _NUMPY else 'jnp'}.{name}")


def python_number(value: Any) -> Code | None:
    """A number as a Python literal that an array of its dtype takes for the very same value."""
    dtype = value.dtype
    if dtype.name not in STANDARD or np.issubdtype(dtype, np.complexfloating):
        return None
    if np.issubdtype(dtype, np.integer):
        number = int(value)
        if abs(number) >= _PYTHON_INTEGERS:
            return None
        return Code(str(number), UNARY if number < 0 else Code("").strength)
    wide = float(value)
    if not math.isfinite(wide):
        return _infinite(value, wide)
    text = str(value) if dtype.name in ("float32", "float64") else repr(wide)
    text = text.replace("e+", "e")
    text = text if any(sign in text for sign in ".e") else f"{text}.0"
    return Code(text, UNARY if text.startswith("-") else Code("").strength)


def _infinite(value: Any, wide: float) -> Code | None:
    if math.isinf(wide):
        return Code("jnp.inf") if wide > 0 else Code("-jnp.inf", UNARY)
    return Code("jnp.nan") if value.tobytes() == np.array(np.nan, value.dtype).tobytes() else None


def scalar_code(value: Any) -> Code | None:
    """A number with its dtype, such as `np.float32(0.5)`; None where only its bits say it."""
    dtype = value.dtype
    if dtype == np.bool_:
        return Code(f"np.bool_({bool(value)})")
    if np.issubdtype(dtype, np.complexfloating):
        pair = (value.real, value.imag)
        if not all(math.isfinite(part) and not _is_minus_zero(part) for part in pair):
            return None
        sign = "-" if value.imag < 0 else "+"
        text = f"{float(value.real)!r} {sign} {abs(float(value.imag))!r}j".replace("e+", "e")
        return call(dtype_code(dtype).flat, Code(text))
    if jnp.issubdtype(dtype, np.integer):
        number = Code(str(int(value)))
    else:
        made = python_number(value) if dtype.name in STANDARD else _small_float(value)
        if made is None:
            return None
        number = made
    if dtype.name in _NUMPY:
        return call(dtype_code(dtype).flat, number)
    return call("np.array", number, Code(f"jnp.{dtype.name}"))


def _small_float(value: Any) -> Code | None:
    wide = float(value)
    return Code(repr(wide)) if math.isfinite(wide) else None


def _is_minus_zero(part: Any) -> bool:
    return part == 0 and bool(np.signbit(part))


def array_code(value: np.ndarray) -> Code | None:
    """A small array, element by element; None where only its bits say it."""
    is_plain = value.dtype.name in STANDARD or value.dtype == np.bool_
    if not is_plain or np.issubdtype(value.dtype, np.complexfloating) or not value.size:
        return None
    if value.dtype == np.bool_:
        return call("np.array", _nested([Code(str(bool(v))) for v in value.ravel()], value.shape))
    numbers = [_element(v) for v in value.ravel()]
    if any(number is None for number in numbers):
        return None
    inner = _nested([number for number in numbers if number is not None], value.shape)
    return call("np.array", inner, dtype_code(value.dtype))


def _element(value: Any) -> Code | None:
    if np.issubdtype(value.dtype, np.integer):
        return Code(str(int(value)))
    return python_number(value) if math.isfinite(float(value)) else None


def _nested(numbers: Sequence[Code], shape: tuple[int, ...]) -> Code:
    if not shape:
        return numbers[0]
    if len(shape) == 1:
        return group(numbers, "[]")
    size = len(numbers) // shape[0]
    rows = [numbers[i * size : (i + 1) * size] for i in range(shape[0])]
    return group([_nested(row, shape[1:]) for row in rows], "[]")


def value_code(value: Any) -> Code | None:
    """A parameter of an operation; None where it cannot be written."""
    if isinstance(value, enum.Enum):
        return Code(f"{_home(type(value))}.{type(value).__name__}.{value.name}")
    if isinstance(value, str):
        is_plain = value.isprintable() and not {'"', "\\"} & {*value}
        return Code(f'"{value}"' if is_plain else repr(value))
    if value is None or isinstance(value, bool | int):
        return Code(repr(value))
    if isinstance(value, float | np.generic | np.ndarray | np.dtype | type):
        return _number_code(value)
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        items = [value_code(item) for item in value]
        return None if None in items else group([item for item in items if item is not None])
    return _structure(value)


def _number_code(value: Any) -> Code | None:
    if isinstance(value, float):
        return Code(repr(value)) if math.isfinite(value) else Code(f'float("{value}")')
    if isinstance(value, np.generic):
        return scalar_code(value)
    if isinstance(value, np.ndarray):
        return array_code(value)
    is_dtype = isinstance(value, np.dtype) or issubclass(value, np.generic)
    return dtype_code(value) if is_dtype else None


def _structure(value: Any) -> Code | None:
    fields = getattr(value, "_fields", None) or tuple(getattr(value, "__dataclass_fields__", ()))
    name = type(value).__name__
    if not fields or not hasattr(lax, name):
        return None
    values = [value_code(getattr(value, field)) for field in fields]
    if any(v is None for v in values):
        return None
    defaults: dict[str, Any] = getattr(value, "_field_defaults", {})
    said = {
        field: code
        for field, code in zip(fields, values, strict=True)
        if code is not None and not (field in defaults and defaults[field] == getattr(value, field))
    }
    return call(f"lax.{name}", **said)


def _home(kind: type) -> str:
    return "lax" if hasattr(lax, kind.__name__) else "lax.linalg"
