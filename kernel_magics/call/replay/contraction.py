"""Products of arrays: dot products and convolutions."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from kernel_magics.call.replay.operation import Blocked, Op, Run, Ternary, numbers
from kernel_magics.ir.types import element_dtype

_CONV = re.compile(r"<\[(.*?)\]x\[(.*?)\]->\[(.*?)\]>")


def _precision(op: Op) -> Any:
    words = op.words("precision_config")
    if not words or set(words) == {"DEFAULT"}:
        return None
    return tuple(lax.Precision[word] for word in words)


def _algorithm(fields: dict[str, str]) -> Any:
    types = [
        element_dtype(fields[name]) or fields[name]
        for name in ("lhs_precision_type", "rhs_precision_type", "accumulation_type")
    ]
    if fields["lhs_precision_type"] == "tf32":
        # NumPy has no such type; JAX knows it by name.
        preset = f"TF32_TF32_F32{'_X3' if fields['num_primitive_operations'] == '3' else ''}"
        return lax.DotAlgorithmPreset[preset]
    return lax.DotAlgorithm(
        *types,
        lhs_component_count=int(fields["lhs_component_count"]),
        rhs_component_count=int(fields["rhs_component_count"]),
        num_primitive_operations=int(fields["num_primitive_operations"]),
        allow_imprecise_accumulation=fields["allow_imprecise_accumulation"] == "true",
    )


def _dot_general(op: Op) -> Run:
    fields = op.fields("dot_dimension_numbers")
    contracting = tuple(numbers(fields.get(f"{s}_contracting_dimensions")) for s in ("lhs", "rhs"))
    batching = tuple(numbers(fields.get(f"{s}_batching_dimensions")) for s in ("lhs", "rhs"))
    plain = _product(op, (contracting, batching), _precision(op))
    algorithm = op.fields("algorithm")
    if not algorithm:
        return plain
    exact = _product(op, (contracting, batching), _algorithm(algorithm))
    # XLA's CPU takes no notice of algorithms, and JAX refuses most of them there.
    return partial(lax.platform_dependent, cpu=plain, default=exact)


def _dot(op: Op) -> Run:
    contracting = ((op.operands[0].rank - 1,), (0,))
    return _product(op, (contracting, ((), ())), _precision(op))


def _product(op: Op, dims: Any, precision: Any) -> Run:
    wanted = op.results[0].known
    if op.results[0].of("b"):
        raise Blocked("JAX has no products of arrays of Booleans")

    def dot_general(lhs: Any, rhs: Any) -> jax.Array:
        return lax.dot_general(lhs, rhs, dims, precision, preferred_element_type=wanted)

    return dot_general


def _einsum(op: Op) -> Run:
    form = op.text("einsum_config")
    precision = _precision(op)
    return lambda *args: jnp.einsum(form, *args, precision=precision)


def _convolution(op: Op) -> Run:
    padding = np.array(op.ints("padding", (0,) * (2 * (op.operands[0].rank - 2)))).reshape(-1, 2)
    return _convolved(op, [(int(low), int(high)) for low, high in padding])


def _dynamic_conv(op: Op) -> Ternary:
    margins = np.array(op.operand_ints(2)).reshape(-1, 2)
    run = _convolved(op, [(int(low), int(high)) for low, high in margins])
    return lambda lhs, rhs, _: run(lhs, rhs)


def _convolved(op: Op, padding: list[tuple[int, int]]) -> Run:
    spatial = op.operands[0].rank - 2
    ones = (1,) * spatial
    strides = op.ints("window_strides", ones)
    lhs_dilation, rhs_dilation = op.ints("lhs_dilation", ones), op.ints("rhs_dilation", ones)
    dims, kernel = _conv_dims(op)
    reversal = op.ints("window_reversal", (0,) * spatial)
    reversed_dims = [kernel[i] for i, flag in enumerate(reversal) if flag]
    features, batches = op.number("feature_group_count", 1), op.number("batch_group_count", 1)
    precision, wanted = _precision(op), op.results[0].known

    def convolution(lhs: Any, rhs: Any) -> jax.Array:
        return lax.conv_general_dilated(
            lhs,
            lax.rev(rhs, reversed_dims) if reversed_dims else rhs,
            strides,
            padding,
            lhs_dilation,
            rhs_dilation,
            dims,
            feature_group_count=features,
            batch_group_count=batches,
            precision=precision,
            preferred_element_type=wanted,
        )

    return convolution


def _conv_dims(op: Op) -> tuple[lax.ConvDimensionNumbers, tuple[int, ...]]:
    """JAX's form of the dimension numbers; where the kernel's spatial dimensions stand."""
    found = _CONV.search(str(op.attribute("dimension_numbers")))
    assert found
    lhs, rhs, out = ([word.strip() for word in part.split(",")] for part in found.groups())
    spatial = [str(i) for i in range(len(lhs) - 2)]
    specs = [
        tuple(part.index(word) for word in (*first, *spatial))
        for part, first in ((lhs, "bf"), (rhs, "oi"), (out, "bf"))
    ]
    return lax.ConvDimensionNumbers(*specs), specs[1][2:]


CONTRACTION: dict[str, Callable[[Op], Run]] = {
    "convolution": _convolution,
    "dot": _dot,
    "dot_general": _dot_general,
    "dynamic_conv": _dynamic_conv,
    "einsum": _einsum,
    "unary_einsum": _einsum,
}
