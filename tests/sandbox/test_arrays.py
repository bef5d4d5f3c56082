"""Arrays on the pipe."""

import jax.numpy as jnp
import numpy as np
import pytest

from kernel_magics.sandbox.arrays import array_blobs, array_heads, read_arrays
from kernel_magics.sandbox.messages import MessageError

INTEGERS = ["int4", "uint4", "int8", "uint8", "int16", "int32", "int64", "uint64"]
FLOATS = ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_come_out_as_they_went_in(dtype):
    kind = np.dtype(getattr(jnp, dtype))
    given = [np.arange(6).reshape(2, 3).astype(kind), np.zeros((), kind), np.zeros((0, 3), kind)]
    given.append(given[0].T)
    for found, expected in zip(
        read_arrays(array_heads(given), array_blobs(given)), given, strict=True
    ):
        assert found.dtype == expected.dtype == kind
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("heads", "blobs", "words"),
    [
        (None, [], "A list of arrays was expected"),
        ([[]], [b""], "Dtype and shape of an array were expected"),
        ([{"dtype": "int8"}], [b""], "Dtype and shape of an array were expected"),
        ([{"dtype": "int8", "shape": [-1]}], [b""], "[-1] is no shape"),
        ([{"dtype": "int8", "shape": ["1"]}], [b""], "['1'] is no shape"),
        ([{"dtype": "dot", "shape": [1]}], [b"x"], "'dot' is no dtype"),
        ([{"dtype": "object_", "shape": [1]}], [b"x" * 8], "'object_' is no dtype"),
        ([{"dtype": None, "shape": [1]}], [b"x" * 8], "None is no dtype"),
        ([{"dtype": "int8", "shape": [3]}], [b"xx"], "2 bytes are no int8[3]"),
        ([{"dtype": "int8", "shape": [1]}], [], "1 arrays were announced, and 0 came"),
    ],
)
def test_arrays_that_are_none_are_an_error(heads, blobs, words):
    with pytest.raises(MessageError) as error:
        read_arrays(heads, blobs)
    assert str(error.value) == words
