"""What a contract says of arrays and attributes: dtypes, shapes, casts to declared types."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.core import ShapedArray

from kernel_magics.custom_call.contract_dims import Dimension
from kernel_magics.ir.types import aval_text, element_dtype

_WORDS = {"bool": "i1", "pred": "i1", "c64": "complex<f32>", "c128": "complex<f64>"}
_LETTERS = {"s": "i", "u": "ui"}
ELLIPSIS = "..."


@cache
def dtype_of(word: str) -> np.dtype | None:
    """The dtype for a word such as `f32`, `u8`, `s4`, `bool`, `c64`, `f8e4m3fn`."""
    text = _WORDS.get(word, word)
    if text[0] in _LETTERS and text[1:].isdigit():
        text = _LETTERS[text[0]] + text[1:]
    if text[:2] in ("f4", "f6", "f8"):
        text = text[:2] + text[2:].replace("_", "").upper()
    return element_dtype(text)


@cache
def word_of(dtype: np.dtype) -> str:
    """The word for a dtype, such as `f32`."""
    return aval_text(ShapedArray((), dtype)).removesuffix("[]")


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """Shape and dtype of an array that is given, or that a call gives."""

    shape: tuple[Any, ...]
    """Numbers, symbolic dimensions of `jax.export`, None where a text leaves it open."""
    dtype: np.dtype

    def __str__(self) -> str:
        dims = ",".join("?" if d is None else str(d) for d in self.shape)
        return f"{word_of(self.dtype)}[{dims}]"


def kind_of(value: Any) -> ArrayKind:
    """Of an array, or of anything with a shape and a dtype."""
    return ArrayKind(tuple(value.shape), np.dtype(value.dtype))


@dataclass(frozen=True, slots=True)
class ArrayType:
    """What a contract says of one argument or result."""

    dtypes: tuple[str, ...]
    """Words that it may be, or the one variable that stands for several."""
    dims: tuple[Dimension, ...]
    leading: bool = False
    """Whether `...` stands before `dims`: any number of dimensions, everywhere the same."""
    name: str = ""

    @property
    def type_text(self) -> str:
        """Without the name: `f32[b, n]`."""
        dims = [ELLIPSIS] * self.leading + [str(dimension) for dimension in self.dims]
        return f"{' | '.join(self.dtypes)}[{', '.join(dims)}]"

    def __str__(self) -> str:
        return f"{self.name}: {self.type_text}" if self.name else self.type_text


class CastError(ValueError):
    """A value cannot be what an attribute is declared as; the message is half a sentence."""


@dataclass(frozen=True, slots=True)
class AttributeType:
    """What a contract says of one attribute."""

    word: str
    """`str`, or a dtype's word such as `f32`, `i64`, `bool`."""
    is_array: bool = False
    default: Any = None
    """As the FFI takes it; None where a call must give it."""

    def cast(self, value: Any) -> Any:
        """The value as this type, ready for `jax.ffi.ffi_call`; nothing is lost but digits.

        Raises:
            CastError: It is of another kind, or too large.
        """
        if self.word == "str":
            if not isinstance(value, str):
                raise CastError(f"text is wanted, and {_shown(value)} is given")
            return value
        return self._cast_array(value) if self.is_array else self._cast_number(value)

    def _cast_number(self, value: Any) -> Any:
        found = np.asarray(value) if isinstance(value, _NUMBERS) else None
        if found is None or found.ndim:
            raise CastError(f"one number is wanted, and {_shown(value)} is given")
        return _same(found, self._dtype())[()]

    def _cast_array(self, value: Any) -> Any:
        found = np.asarray(value) if isinstance(value, _LISTS) else np.zeros(())
        if found.ndim != 1 or found.dtype.kind in "OSU":
            raise CastError(f"a list of numbers is wanted, and {_shown(value)} is given")
        return _same(found, self._dtype()) if found.size else np.zeros(0, self._dtype())

    def _dtype(self) -> np.dtype:
        dtype = dtype_of(self.word)
        assert dtype is not None
        return dtype

    @property
    def type_text(self) -> str:
        """Without the default."""
        return f"[{self.word}]" if self.is_array else self.word

    def __str__(self) -> str:
        if self.default is None:
            return self.type_text
        value = self.default
        if self.word == "bool":
            return f"{self.type_text} = {str(value.tolist()).lower()}"
        # NumPy's own words are the shortest that mean the same number of this width.
        shown = repr(value) if self.word == "str" else str(value)
        shown = f"[{', '.join(map(str, value))}]" if self.is_array else shown
        return f"{self.type_text} = {shown}"


_LISTS = (list, tuple, np.ndarray, jax.Array)
_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray, jax.Array)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"a `{type(value).__name__}`"  # noqa: PLR2004 - a line


def _same(found: np.ndarray, wanted: np.dtype) -> np.ndarray:
    """Casts where that says the same; a float may lose digits, nothing else may be lost."""
    given, word = found.dtype, word_of(wanted)
    if (given == np.bool_) != (wanted == np.bool_):
        raise CastError(f"{word} is wanted, and {_shown(found.tolist())} is given")
    narrows = np.iscomplexobj(found) and not jnp.issubdtype(wanted, jnp.complexfloating)
    if given.kind == "O" or (narrows and np.any(np.imag(found))):
        raise CastError(f"{_shown(found.tolist())} does not fit into {word}")
    with np.errstate(all="ignore"):
        found = np.real(found) if narrows else found
        cast = found.astype(wanted)
        # In 64 bits: NumPy compares no small float with an int.
        before, after = found.astype(_wide(found)), cast.astype(_wide(cast))
    if jnp.issubdtype(wanted, jnp.inexact):
        fits = np.isfinite(after) == np.isfinite(before)
    else:
        fits = before == after
    if not np.all(fits):
        raise CastError(f"{_shown(found.tolist())} does not fit into {word}")
    return cast


def _wide(array: np.ndarray) -> type:
    if np.iscomplexobj(array):
        return np.complex128
    if jnp.issubdtype(array.dtype, jnp.floating):
        return np.float64
    return np.uint64 if array.dtype.kind == "u" else np.int64 if array.dtype.kind == "i" else object


def attribute_type(value: Any) -> AttributeType:
    """The type that a keyword of `contract` declares: by a type, or by a default.

    A Python `float` is f64 and an `int` is i64, as everywhere in the FFI.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(value, AttributeType):
        return value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], type):
        return AttributeType(_type_word(value[0]), is_array=True)
    if isinstance(value, type):
        return AttributeType(_type_word(value))
    if isinstance(value, str):
        return AttributeType("str", default=value)
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1:
        found = np.asarray(value)
        kind = AttributeType(word_of(found.dtype), is_array=True)
    elif isinstance(value, _NUMBERS) and np.ndim(value) == 0:
        found = np.asarray(value)
        kind = AttributeType(word_of(found.dtype))
    else:
        raise ValueError("a type, a number, text, or a list of numbers is wanted")
    return AttributeType(kind.word, kind.is_array, kind.cast(value))


def _type_word(kind: type) -> str:
    if kind is str:
        return "str"
    try:
        word = word_of(np.dtype(kind))
    except TypeError:
        word = ""
    if dtype_of(word or "?") is None:
        raise ValueError(f"`{kind.__name__}` is no type of an attribute")
    return word
