"""Operations on whole arrays: shapes, reductions, products, indexing, factorisations."""

from typing import Any

import numpy as np

from kernel_magics.call.python.arithmetic import function
from kernel_magics.call.python.layout import ATOM, Code, call, group, pack
from kernel_magics.call.python.operand import Form, Operation, written

_EXACT_SUMS = ("float32", "float64", "complex64", "complex128")
"""Dtypes that `jnp.sum` sums as they are; narrower ones it widens."""
_PLANE = 2


def _full(op: Operation) -> Code:
    (x, *_) = op.operands
    shape = op.parameter("shape")
    if not x.shape:
        is_truth = x.dtype == np.bool_ and x.number is not None
        return call("lax.full", shape, Code(str(bool(x.number))) if is_truth else x.code)
    return call("lax.broadcast_in_dim", x.code, shape, op.parameter("broadcast_dimensions"))


def _iota(op: Operation) -> Code:
    shape, dtype = op.parameters["shape"], op.parameter("dtype")
    if len(shape) == 1:
        return call("lax.iota", dtype, Code(str(shape[0])))
    return call("lax.broadcasted_iota", dtype, op.parameter("shape"), op.parameter("dimension"))


def _slice(op: Operation) -> Code:
    (x,) = op.operands
    starts, limits = op.parameters["start_indices"], op.parameters["limit_indices"]
    strides = op.parameters["strides"] or (1,) * len(starts)
    if set(starts) == {0} and set(strides) == {1} and tuple(limits) == x.shape:
        return x.code
    if x.code.strength == ATOM and x.code.flat.isidentifier() and x.is_traced:
        ranges = [_range(*each) for each in zip(starts, limits, strides, x.shape, strict=True)]
        while ranges[-1] == ":" and len(ranges) > 1:
            ranges.pop()
        return Code(f"{x.code.flat}[{', '.join(ranges)}]")
    places = [op.parameter("start_indices"), op.parameter("limit_indices")]
    if set(strides) != {1}:
        places.append(written(strides, "its strides"))
    return call("lax.slice", x.code, *places)


def _range(start: int, limit: int, stride: int, size: int) -> str:
    text = f"{start or ''}:{'' if limit == size else limit}"
    return text if stride == 1 else f"{text}:{stride}"


def _positional(name: str, *parameters: str, **others: Any) -> Form:
    """A call with some parameters behind the operands, and others by name."""

    def form(op: Operation) -> Code:
        places = [op.parameter(parameter) for parameter in parameters]
        return call(name, *op.codes, *places, **op.others(**others))

    return form


def _reduction(short: str, otherwise: str, dtypes: tuple[str, ...]) -> Form:
    def form(op: Operation) -> Code:
        (x,), axes = op.operands, tuple(op.parameters["axes"])
        if x.dtype.name not in dtypes or not axes or not x.is_traced:
            return call(otherwise, x.code, op.parameter("axes"))
        if len(axes) == len(x.shape):
            return call(short, x.code)
        axis = axes[0] if len(axes) == 1 else axes
        return call(short, x.code, axis=written(axis, "its axes"))

    return form


def _place(name: str) -> Form:
    def form(op: Operation) -> Code:
        (axis,) = op.parameters["axes"]
        return call(name, *op.codes, Code(str(axis)), op.parameter("index_dtype"))

    return form


def _concatenate(op: Operation) -> Code:
    return call("lax.concatenate", group(op.codes, "[]"), op.parameter("dimension"))


def _dynamic_slice(op: Operation) -> Code:
    x, *starts = op.codes
    sizes = op.parameter("slice_sizes")
    return call("lax.dynamic_slice", x, group(starts), sizes, allow_negative_indices=Code("False"))


def _dynamic_update_slice(op: Operation) -> Code:
    x, update, *starts = op.codes
    never = Code("False")
    return call("lax.dynamic_update_slice", x, update, group(starts), allow_negative_indices=never)


def _sort(op: Operation) -> Code:
    operands = pack(op.codes)
    others = op.others(is_stable=True, num_keys=1)
    return call("lax.sort", operands, dimension=op.parameter("dimension"), **others)


def _dot(op: Operation) -> Code:
    lhs, rhs = op.operands
    dims = op.parameters["dimension_numbers"]
    wanted = op.parameters["preferred_element_type"]
    others = op.others("precision")
    is_usual = wanted is None or lhs.dtype == rhs.dtype == np.dtype(wanted)
    is_plane = len(lhs.shape) == len(rhs.shape) == _PLANE
    is_product = dims == (((1,), (0,)), ((), ())) and is_plane and not others
    if is_product and is_usual and lhs.dtype.name in _EXACT_SUMS and lhs.is_traced:
        product = lhs.code.within(ATOM)
        return Code(f"{product} @ {rhs.code.within(ATOM)}", ATOM - 3)
    if not is_usual:
        others["preferred_element_type"] = written(np.dtype(wanted), "its result type")
    return call("lax.dot_general", *op.codes, op.parameter("dimension_numbers"), **others)


def _conv(op: Operation) -> Code:
    ones = (1,) * len(op.parameters["window_strides"])
    others = op.others(
        "precision",
        lhs_dilation=ones,
        rhs_dilation=ones,
        feature_group_count=1,
        batch_group_count=1,
    )
    wanted = op.parameters["preferred_element_type"]
    if wanted is not None and np.dtype(wanted) != op.operands[0].dtype:
        others["preferred_element_type"] = written(np.dtype(wanted), "its result type")
    places = [op.parameter("window_strides"), op.parameter("padding")]
    dims = op.parameter("dimension_numbers")
    return call("lax.conv_general_dilated", *op.codes, *places, dimension_numbers=dims, **others)


def _gather(op: Operation) -> Code:
    others = op.others("mode", "fill_value", indices_are_sorted=False, unique_indices=False)
    places = [op.parameter("dimension_numbers"), op.parameter("slice_sizes")]
    return call("lax.gather", *op.codes, *places, **others)


def _scatter(name: str) -> Form:
    return _positional(
        name, "dimension_numbers", mode=None, indices_are_sorted=False, unique_indices=False
    )


def _fft(op: Operation) -> Code:
    kind = Code(repr(op.parameters["fft_type"].name))
    return call(
        "lax.fft", *op.codes, Code(kind.flat.replace("'", '"')), op.parameter("fft_lengths")
    )


def _random_bits(op: Operation) -> Code:
    return call(
        "lax.rng_bit_generator",
        *op.codes,
        op.parameter("shape"),
        dtype=op.parameter("dtype"),
        algorithm=op.parameter("algorithm"),
    )


def _barrier(op: Operation) -> Code:
    return call("lax.optimization_barrier", pack(op.codes))


def _select_and_scatter(op: Operation) -> Code:
    places = ("window_dimensions", "window_strides", "padding")
    return call(
        "lax.select_and_scatter_add_p.bind",
        *op.codes,
        select_prim=Code(f"lax.{op.parameters['select_prim'].name}_p"),
        **{name: op.parameter(name) for name in places},
    )


def _eigh(op: Operation) -> Code:
    others = op.others(lower=True, sort_eigenvalues=True, subset_by_index=None)
    return call("lax.linalg.eigh", *op.codes, symmetrize_input=Code("False"), **others)


def _cumulative(name: str) -> Form:
    return _positional(f"lax.{name}", "axis", reverse=False)


_SYSTEM = dict.fromkeys(("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"))

ARRAYS: dict[str, Form] = {
    "after_all": function("lax.after_all"),
    "argmax": _place("lax.argmax"),
    "argmin": _place("lax.argmin"),
    "broadcast_in_dim": _full,
    "cholesky": lambda op: call("lax.linalg.cholesky", *op.codes, symmetrize_input=Code("False")),
    "concatenate": _concatenate,
    "conv_general_dilated": _conv,
    "copy": function("jnp.copy"),
    "create_token": function("lax.create_token"),
    "dot_general": _dot,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "eigh": _eigh,
    "fft": _fft,
    "gather": _gather,
    "iota": _iota,
    "lu": function("lax.linalg.lu"),
    "optimization_barrier": _barrier,
    "pad": _positional("lax.pad", "padding_config"),
    "reduce_and": _positional("lax.reduce_and", "axes"),
    "reduce_max": _reduction("jnp.max", "lax.reduce_max", ("float32", "float64", "int32")),
    "reduce_min": _reduction("jnp.min", "lax.reduce_min", ("float32", "float64", "int32")),
    "reduce_or": _positional("lax.reduce_or", "axes"),
    "reduce_prod": _reduction("jnp.prod", "lax.reduce_prod", _EXACT_SUMS),
    "reduce_sum": _reduction("jnp.sum", "lax.reduce_sum", _EXACT_SUMS),
    "reduce_xor": _positional("lax.reduce_xor", "axes"),
    "reshape": _positional("lax.reshape", "new_sizes"),
    "rev": _positional("lax.rev", "dimensions"),
    "rng_bit_generator": _random_bits,
    "scatter": _scatter("lax.scatter"),
    "scatter-add": _scatter("lax.scatter_add"),
    "scatter-max": _scatter("lax.scatter_max"),
    "scatter-min": _scatter("lax.scatter_min"),
    "scatter-mul": _scatter("lax.scatter_mul"),
    "select_and_scatter_add": _select_and_scatter,
    "slice": _slice,
    "sort": _sort,
    "squeeze": _positional("lax.squeeze", "dimensions"),
    "top_k": _positional("lax.top_k", "k", axis=-1, is_stable=True),
    "transpose": _positional("lax.transpose", "permutation"),
    "triangular_solve": _positional("lax.linalg.triangular_solve", **_SYSTEM),
    **{
        name: _cumulative(name)
        for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
    },
}
