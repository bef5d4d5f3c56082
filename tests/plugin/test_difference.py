"""Differences are counted in values and in units of the last place."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_magics.plugin.difference import Difference, difference, special_values

F32 = np.float32


def one(found, wanted, dtype=F32) -> Difference:
    return difference([np.asarray(found, dtype)], [np.asarray(wanted, dtype)])


def test_equal_arrays_do_not_differ():
    found = one([1.0, np.nan, np.inf, -0.0], [1.0, np.nan, np.inf, 0.0])
    assert found == Difference()
    assert found.is_zero


def test_the_largest_difference_is_told_with_its_place():
    found = one([[1.0, 2.0], [3.0, 4.5]], [[1.0, 2.0], [3.5, 4.0]])
    assert (found.max_absolute, found.max_relative) == (
        0.5,
        max(0.125, 0.5 / 3.5),
    )
    assert found.place == "result 0 [1, 0]: 3.0, not 3.5"
    assert found.max_ulp == 2**21


@pytest.mark.parametrize(
    "dtype",
    [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2],
)  # fmt: skip
def test_neighbours_are_one_unit_apart(dtype):
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    value = np.ones(1, dtype)
    after = (value.view(unsigned) + 1).astype(unsigned).view(dtype)
    assert difference([after], [value]).max_ulp == 1
    assert difference([-after], [-value]).max_ulp == 1


def test_units_are_counted_across_zero():
    tiny = np.nextafter(F32(0), F32(1))
    assert one([tiny], [-tiny]).max_ulp == 2
    largest = np.finfo(np.float64).max
    assert one([largest], [-largest], np.float64).max_ulp == 2 * int(
        np.float64(largest).view(np.int64)
    )


@given(st.floats(-(2.0**100), 2.0**100, width=32), st.integers(0, 1000))
def test_units_are_steps_of_nextafter(start, steps):
    value = F32(start)
    for _ in range(min(steps, 20)):
        value = np.nextafter(value, F32(np.inf))
    assert one([value], [start]).max_ulp == min(steps, 20)


def test_nan_and_infinity_on_one_side_are_counted_apart():
    found = one([np.nan, 1.0, np.inf, np.inf], [1.0, 1.0, -np.inf, np.inf])
    assert (found.unlike, found.max_absolute, found.is_zero) == (2, 0.0, False)
    assert found.place == "result 0 [0]: nan, not 1.0"


def test_complex_numbers_differ_by_their_parts():
    found = one([1 + 2j], [1 + 2.5j], np.complex64)
    assert (found.max_absolute, found.place) == (0.5, "result 0 [0, 1]: 2.0, not 2.5")


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8, np.bool_, ml_dtypes.int4])
def test_integers_differ_by_whole_numbers(dtype):
    assert one([0, 1], [0, 1], dtype) == Difference(max_ulp=None)
    found = one([0, 1], [0, 0], dtype)
    assert (found.max_absolute, found.max_ulp) == (1.0, None)
    assert found.place.startswith("result 0 [1]: ")


def test_integers_of_64_bits_are_not_rounded():
    found = one([2**63], [2**63 - 1], np.uint64)
    assert found.max_absolute == 1.0


def test_floats_smaller_than_a_byte_have_no_units():
    found = one([1.0], [1.5], ml_dtypes.float4_e2m1fn)
    assert (found.max_absolute, found.max_ulp) == (0.5, None)


def test_several_results_are_taken_together():
    found = difference(
        [np.zeros(2, F32), np.array([5], np.int32)], [np.ones(2, F32), np.array([2], np.int32)]
    )
    assert (found.max_absolute, found.max_relative) == (3.0, 1.5)
    assert found.place == "result 1 [0]: 5, not 2"
    assert difference([np.zeros((0, 3), F32)], [np.zeros((0, 3), F32)]).is_zero


def test_nan_and_infinite_values_are_counted():
    arrays = [np.array([np.nan, np.inf, 1], F32), np.array([1, 2]), np.array([-np.inf + 1j])]
    assert special_values(arrays) == (1, 2)
