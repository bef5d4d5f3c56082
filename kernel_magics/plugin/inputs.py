"""Arguments for a function, made from its signature and a number."""

import jax
import numpy as np
from jax import numpy as jnp

from kernel_magics.call.function import HloFunction
from kernel_magics.errors import SignatureError
from kernel_magics.ir.arguments import check_callable
from kernel_magics.ir.types import TensorType

_MOST = 10
"""Integers are from 0 up to this: indices and loop counts stay within reason."""


def random_arguments(function: HloFunction, seed: int) -> list[np.ndarray]:
    """Random arrays that fit: floats as normal numbers, integers from 0 to 9.

    Args:
        function: With static shapes.
        seed: The same gives the same.

    Raises:
        SignatureError: A dimension is known only when it is called.
        PrecisionError: It takes 64-bit types while `jax_enable_x64` is off.
    """
    signature = function.signature
    if signature.is_dynamic:
        raise SignatureError(
            f"No arguments can be made up for `@{signature.name}`",
            details=[f"its dimensions are known only when it is called: {signature}"],
            advice="Give arguments: `km.plugins.compare(function, x, …)`.",
        )
    check_callable(signature, function.program.source)
    random = np.random.default_rng(seed)
    return [_array(random, a.type) for a in signature.arguments]


def _array(random: np.random.Generator, wanted: TensorType) -> np.ndarray:
    shape = tuple(size for size in wanted.shape or () if size is not None)
    kind = jax.dtypes.canonicalize_dtype(wanted.dtype)
    if jnp.issubdtype(kind, jnp.complexfloating):
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(kind)
    if jnp.issubdtype(kind, jnp.floating):
        return random.normal(size=shape).astype(kind)
    if kind == np.bool_:
        return random.integers(0, 2, shape).astype(kind)
    most = min(_MOST, int(jnp.iinfo(kind).max) + 1)
    return random.integers(0, most, shape).astype(kind)
