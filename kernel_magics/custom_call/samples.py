"""Arguments and attributes that a contract allows: small, and unlike each other."""

import base64
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from kernel_magics.custom_call.abi import ARRAY, SCALAR, STRING
from kernel_magics.custom_call.contract import Contract
from kernel_magics.custom_call.contract_parts import ContractParts, is_size
from kernel_magics.custom_call.contract_types import ArrayType, AttributeType, dtype_of, kind_of
from kernel_magics.custom_call.dtypes import xla_number
from kernel_magics.errors import SignatureError

_PRIMES = (3, 5, 7, 11, 13, 17)
_SIZES = (4, 8, 6, 16, 3, 2, 5, 1, 32, 64, 128, 256, 12, 7, 512, 1024)
_MOST_TRIES = 5000
_MOST_BYTES = 64 << 20
_MOST_LIGHT_BYTES = 1 << 20
_LEADING = (2,)


@dataclass(frozen=True, slots=True)
class Sample:
    """One call that a contract allows."""

    arguments: tuple[np.ndarray, ...]
    results: tuple[jax.ShapeDtypeStruct, ...]
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        arguments = ", ".join(str(kind_of(argument)) for argument in self.arguments)
        results = ", ".join(str(kind_of(result)) for result in self.results)
        attributes = "".join(f", {name} = {value}" for name, value in self.attributes.items())
        return f"({arguments}) -> ({results}){attributes}"


def sample_call(contract: Contract) -> Sample | None:
    """A call that a contract allows; None where no small one is found."""
    parts = contract.parts
    names = _free_names(parts)
    attributes = {n: _value(kind) for n, kind in parts.attributes.items() if n not in names}
    for sizes in _assignments(names):
        sample = _with_sizes(contract, dict(zip(names, sizes, strict=True)), attributes)
        if sample is not None:
            return sample
    return None


def _free_names(parts: ContractParts) -> list[str]:
    """Names in dimensions and conditions, but for attributes that have a default."""
    dims = [d for array in (*parts.arguments, *parts.results) for d in array.dims]
    names = {name for d in (*dims, *parts.conditions) for name in d.names()}
    fixed = {n for n, kind in parts.attributes.items() if kind.default is not None}
    # Integers that a call must give are chosen, too: they may stand in a condition.
    names |= {n for n, kind in parts.attributes.items() if is_size(kind)}
    return sorted(names - fixed)


def _assignments(names: Sequence[str]) -> Iterator[Sequence[int]]:
    """Different primes first: a handler that takes one size for another is found by them."""
    for shift in range(len(_PRIMES)):
        yield [_PRIMES[(shift + i) % len(_PRIMES)] for i in range(len(names))]
    yield from itertools.islice(itertools.product(_SIZES, repeat=len(names)), _MOST_TRIES)


def _with_sizes(
    contract: Contract, sizes: Mapping[str, int], attributes: Mapping[str, Any]
) -> Sample | None:
    parts = contract.parts
    chosen = {name: sizes[name] for name in parts.attributes if name in sizes}
    given: dict[str, Any] = {**attributes, **chosen}
    known = {**sizes, **{n: int(given[n]) for n, k in parts.attributes.items() if is_size(k)}}
    random = np.random.default_rng(0)
    arguments: list[np.ndarray] = []
    for array in parts.arguments:
        shape = _shape(array, known)
        dtype = _dtype(array, parts)
        if shape is None or math.prod(shape) * dtype.itemsize > _MOST_BYTES:
            return None
        arguments.append(_elements(shape, dtype, random))
    try:
        checked = contract.check("", arguments, given)
    except SignatureError:
        return None
    bytes_of = (math.prod(r.shape) * np.dtype(r.dtype).itemsize for r in checked.results)
    if sum(bytes_of) > _MOST_BYTES:
        return None
    return Sample(tuple(arguments), checked.results, checked.attributes)


def _shape(array: ArrayType, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    dims = [dimension.value(sizes) for dimension in array.dims]
    if any(d is None or d < 0 for d in dims):
        return None
    return (*(_LEADING if array.leading else ()), *dims)


def _dtype(array: ArrayType, parts: ContractParts) -> np.dtype:
    word = array.dtypes[0]
    found = dtype_of(word) or dtype_of(parts.kinds.get(word, ("f32",))[0])
    assert found is not None
    return found


def _elements(shape: tuple[int, ...], dtype: np.dtype, random: np.random.Generator) -> np.ndarray:
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if jnp.issubdtype(dtype, jnp.integer):
        # They may be indices: small ones are within most arrays.
        return random.integers(0, 2, shape).astype(dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return (random.uniform(0.5, 1.5, shape) + 1j * random.uniform(0.5, 1.5, shape)).astype(
            dtype
        )
    return random.uniform(0.5, 1.5, shape).astype(dtype)


def _value(kind: AttributeType) -> Any:
    if kind.default is not None:
        return kind.default
    if kind.word == "str":
        return ""
    one: Any = True if kind.word == "bool" else 1
    return kind.cast([one]) if kind.is_array else kind.cast(one)


def light_call(sample: Sample) -> dict[str, Any] | None:
    """A sample as `host_child.call` takes it; None where it is large, or XLA packs its types."""
    arrays = [*sample.arguments, *sample.results]
    numbers = [xla_number(np.dtype(array.dtype)) for array in arrays]
    sizes = [math.prod(array.shape) * np.dtype(array.dtype).itemsize for array in arrays]
    if None in numbers or sum(sizes) > _MOST_LIGHT_BYTES:
        return None
    kinds: list[dict[str, Any]] = [
        {"dtype": number, "dims": list(array.shape), "size": size}
        for array, number, size in zip(arrays, numbers, sizes, strict=True)
    ]
    count = len(sample.arguments)
    for kind, array in zip(kinds[:count], sample.arguments, strict=True):
        kind["data"] = base64.b64encode(array.tobytes()).decode()
    attributes = [_written(n, sample.attributes[n]) for n in sorted(sample.attributes)]
    if any(attribute["dtype"] is None for attribute in attributes):
        return None
    return {"arguments": kinds[:count], "results": kinds[count:], "attributes": attributes}


def _written(name: str, value: Any) -> dict[str, Any]:
    content = value.encode() if isinstance(value, str) else np.asarray(value).tobytes()
    found = {"name": name, "data": base64.b64encode(content).decode(), "size": len(content)}
    if isinstance(value, str):
        return {**found, "kind": STRING, "dtype": 0}
    array = np.asarray(value)
    kind = ARRAY if array.ndim else SCALAR
    return {**found, "kind": kind, "dtype": xla_number(array.dtype), "size": array.size}
