"""The types of arguments and results: MLIR's element types and JAX's dtypes."""

import re
from dataclasses import dataclass

import numpy as np
from jax import numpy as jnp
from jax.core import ShapedArray
from jax.extend.mlir import ir

_NAMED_TYPES = {
    "i1": "bool",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
_INTEGER = re.compile(r"(u?)i(\d+)")
_SMALL_FLOAT = re.compile(r"f(4|6|8)(E\d+M\d+\w*)")
_DOUBLE_TYPES = ("f64", "i64", "ui64", "complex<f64>")


@dataclass(frozen=True, slots=True)
class TensorType:
    """The type of one argument or result."""

    mlir_type: str
    """As MLIR prints it, such as `tensor<?x3xf32>`."""
    element_type: str
    """As MLIR prints it, such as `f32`; the whole type where it is no ranked tensor."""
    shape: tuple[int | None, ...] | None
    """None for a dimension that is only known when called; None for what is no ranked tensor."""
    dtype: np.dtype | None
    """None where JAX has no such dtype."""

    @property
    def is_dynamic(self) -> bool:
        """Whether a dimension is known only when called."""
        return self.shape is not None and None in self.shape

    @property
    def needs_x64(self) -> bool:
        """Whether JAX cuts it to 32 bits unless `jax_enable_x64` is on."""
        return self.element_type in _DOUBLE_TYPES

    @property
    def is_callable(self) -> bool:
        """Whether a JAX array can be it."""
        return self.shape is not None and self.dtype is not None

    def accepts(self, aval: ShapedArray) -> bool:
        """Whether a value of this abstract type may be given."""
        if self.shape is None or self.dtype != aval.dtype or len(self.shape) != len(aval.shape):
            return False
        # Symbolic dimensions of `jax.export` are no numbers, and fit nothing here.
        pairs = zip(self.shape, aval.shape, strict=True)
        return all(isinstance(g, int) and w in (None, g) for w, g in pairs)

    def __str__(self) -> str:
        if self.shape is None:
            return self.mlir_type
        dims = ",".join("?" if d is None else str(d) for d in self.shape)
        return f"{_short(self.element_type)}[{dims}]"


def tensor_type(kind: ir.Type) -> TensorType:
    """The type of an argument or result as we know it."""
    text = str(kind)
    if not isinstance(kind, ir.RankedTensorType):
        return TensorType(text, text, None, None)
    element = str(kind.element_type)
    shape = tuple(
        None if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank)
    )
    return TensorType(text, element, shape, element_dtype(element))


def element_dtype(element: str) -> np.dtype | None:
    """JAX's dtype for an MLIR element type such as `ui4` or `f8E4M3FN`; None if it has none."""
    name = _NAMED_TYPES.get(element)
    if integer := _INTEGER.fullmatch(element):
        name = name or f"{'u' if integer[1] else ''}int{integer[2]}"
    elif small := _SMALL_FLOAT.fullmatch(element):
        name = f"float{small[1]}_{small[2].lower()}"
    # By attribute: NumPy alone knows none of the small and brain floats by name.
    scalar = getattr(jnp, name, None) if name else None
    return None if scalar is None else np.dtype(scalar)


def aval_text(aval: ShapedArray) -> str:
    """JAX's short form, such as `f32[2,3]`."""
    return f"{_short(_element_text(aval.dtype))}[{','.join(map(str, aval.shape))}]"


def mlir_text(aval: ShapedArray) -> str:
    """MLIR's form, such as `tensor<2x3xf32>`."""
    return f"tensor<{''.join(f'{d}x' for d in aval.shape)}{_element_text(aval.dtype)}>"


def _element_text(dtype: np.dtype) -> str:
    """MLIR's word for a dtype, such as `ui8` for uint8."""
    for element, name in _NAMED_TYPES.items():
        if name == dtype.name:
            return element
    name = dtype.name.replace("uint", "ui").replace("int", "i").replace("float", "f")
    head, _, layout = name.partition("_")
    return head + layout.upper()


def _short(element: str) -> str:
    """JAX's short word for an MLIR element type, such as `c64` for complex<f32>."""
    short = {"i1": "bool", "complex<f32>": "c64", "complex<f64>": "c128"}.get(element)
    return short or element.replace("ui", "u")
