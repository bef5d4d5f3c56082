"""Where JAX and StableHLO differ, StableHLO's meaning holds, in derivatives too, or it is refused."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from kernel_magics.errors import PreflightError
from tests.replay.programs import assert_same, one, replayed
from tests.replay.samples import kind, program

DENORMAL = np.array([1e-40, -1e-40, 1e-45, 0.0, -0.0, 1.2e-38], np.float32)


@pytest.mark.parametrize(
    "op", ["abs", "exponential_minus_one", "log", "rsqrt", "sign", "sine", "sqrt", "tanh"]
)
def test_denormals_are_what_xla_takes_them_for(op):
    assert_same(program(f"stablehlo.{op}", [DENORMAL], [DENORMAL]), DENORMAL)


@pytest.mark.parametrize("op", ["divide", "maximum", "multiply", "remainder"])
def test_denormals_in_pairs(op):
    x, y = (a.ravel() for a in np.meshgrid(DENORMAL, [1.0, -2e-20, 1e20, 1e-40]))
    pair = x.astype(np.float32), y.astype(np.float32)
    assert_same(program(f"stablehlo.{op}", pair, [pair[0]]), *pair)


def test_the_derivative_of_the_logarithm_of_a_denormal_is_infinite_or_huge():
    text = program("stablehlo.log", [DENORMAL[:1]], [DENORMAL[:1]])
    slope = jax.grad(lambda x: replayed(text)(x)[0].sum())(DENORMAL[:1])
    assert slope[0] > 1e37


@pytest.mark.parametrize("op", ["maximum", "minimum"])
def test_extremes_of_complex_numbers_are_refused(op):
    x = np.array([1 + 2j], np.complex64)
    text = f"stablehlo.{op} %0, %1 : {kind(x)}"
    function = replayed(one(text, kind(x), kind(x), result=kind(x)))
    with pytest.raises(PreflightError) as error:
        function(x, x)
    assert str(error.value) == (
        f"`@main` has no form in JAX: `stablehlo.{op}`: there is no one order of complex numbers "
        "that JAX and XLA share\n"
        "  text:2:8\n"
        f"    %r = stablehlo.{op} %0, %1 : {kind(x)}\n"
        f"         {'^' * (len(op) + 10)} there is no one order of complex numbers that JAX and XLA "
        "share\n"
        "  It runs as it is; what JAX cannot see through are the ops named here."
    )


EDGES = np.array([-128, -127, -7, -1, 0, 1, 7, 127], np.int8)


@pytest.mark.parametrize("op", ["divide", "remainder"])
def test_integers_divide_towards_zero_and_by_zero(op):
    x, y = (a.ravel() for a in np.meshgrid(EDGES, EDGES))
    text = program(f"stablehlo.{op}", [x, y], [x])
    found = assert_same(text, x, y)
    rows = jax.vmap(replayed(program(f"stablehlo.{op}", [x[0], y[0]], [x[0]])))(x, y)
    np.testing.assert_array_equal(rows[0], found[0])


HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4999999], np.float32)


@pytest.mark.parametrize("op", ["round_nearest_afz", "round_nearest_even", "floor", "ceil"])
def test_halves_are_rounded_as_the_op_says_and_steps_have_no_slope(op):
    text = program(f"stablehlo.{op}", [HALVES], [HALVES])
    found = assert_same(text, HALVES)[0]
    away = np.sign(HALVES) * np.floor(np.abs(HALVES) + np.float32(0.5))
    known = {"round_nearest_afz": away, "round_nearest_even": np.round(HALVES)}
    np.testing.assert_array_equal(found, known.get(op, getattr(np, op, np.round)(HALVES)))
    assert not jax.grad(lambda x: replayed(text)(x)[0].sum())(HALVES).any()


def test_floats_become_integers_towards_zero_and_stay_within_their_range():
    x = np.array([-2.9, 2.9, 1e20, -1e20, np.nan, np.inf], np.float32)
    text = program("stablehlo.convert", [x], [np.zeros(6, np.int32)])
    found = assert_same(text, x)[0]
    assert found[:4].tolist() == [-2, 2, 2**31 - 1, -(2**31)]


def test_ties_of_reduced_precision_go_to_even():
    x = np.array([1 + 2**-11, 1 + 3 * 2**-11, 1e38], np.float32)
    attributes = "exponent_bits = 5 : i32, mantissa_bits = 10 : i32"
    found = assert_same(program("stablehlo.reduce_precision", [x], [x], attributes), x)[0]
    assert found.tolist() == [1, 1 + 2**-9, np.inf]


X = np.arange(1, 6, dtype=np.float32)


@pytest.mark.parametrize("start", [-3, 0, 2, 4, 99])
def test_a_slice_that_stands_out_is_moved_inside_with_its_derivative(start):
    attributes = "slice_sizes = array<i64: 2>"
    text = program("stablehlo.dynamic_slice", [X, np.int32(0)], [X[:2]], attributes)
    assert_same(text, X, np.int32(start))
    slope = jax.grad(lambda x: replayed(text)(x, np.int32(start))[0].sum())(X)
    place = min(max(start, 0), 3)
    assert np.flatnonzero(slope).tolist() == [place, place + 1]


@pytest.mark.parametrize("start", [-3, 0, 99])
def test_an_update_that_stands_out_is_moved_inside_with_its_derivative(start):
    update = np.array([10, 20], np.float32)
    text = program("stablehlo.dynamic_update_slice", [X, update, np.int32(0)], [X])
    assert_same(text, X, update, np.int32(start))
    slope = jax.grad(lambda x: replayed(text)(x, update, np.int32(start))[0].sum())(X)
    place = min(max(start, 0), 3)
    assert np.flatnonzero(slope == 0).tolist() == [place, place + 1]


SCATTER = """scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"""


@pytest.mark.parametrize("op", ["add", "multiply", "maximum"])
def test_scattered_values_outside_are_left_away_and_have_no_slope(op):
    places = np.array([[-1], [1], [5], [99], [3]], np.int32)
    updates = np.array([7, 8, 9, 10, 11], np.float32)
    t = "tensor<f32>"
    body = f"""{{ ^bb0(%a: {t}, %b: {t}):
      %c = stablehlo.{op} %a, %b : {t}
      stablehlo.return %c : {t} }}"""
    text = program("stablehlo.scatter", [X, places, updates], [X], SCATTER, body)
    found = assert_same(text, X, places, updates)[0]
    assert np.flatnonzero(found != X).tolist() == [1, 3]
    slope = jax.grad(lambda u: replayed(text)(X, places, u)[0].sum())(updates)
    assert np.flatnonzero(slope).tolist() == [1, 4]


def test_the_extreme_of_nothing_but_nan_is_nan_with_its_derivative():
    x = np.array([np.nan, 1.0], np.float32)
    text = program("stablehlo.maximum", [x, x], [x])
    assert_same(text, x, x[::-1].copy())


def test_bounds_in_the_wrong_order_give_the_upper_one_and_its_derivative():
    args = [np.array([v] * 3, np.float32) for v in (3, 0, 1)]
    args[1] = np.array([0, 2, 5], np.float32)
    text = program("stablehlo.clamp", args, [args[1]])
    assert assert_same(text, *args)[0].tolist() == [1, 1, 1]
    slopes = jax.grad(lambda *args: replayed(text)(*args)[0].sum(), (0, 1, 2))(*args)
    assert [s.tolist() for s in slopes] == [[0] * 3, [0] * 3, [1] * 3]


def test_equal_elements_share_the_derivative_of_an_extreme():
    text = one("stablehlo.maximum %0, %1 : tensor<2xf32>", *["tensor<2xf32>"] * 2,
               result="tensor<2xf32>")  # fmt: skip
    x, y = np.float32([1, 2]), np.float32([1, 3])
    slopes = jax.grad(lambda x, y: replayed(text)(x, y)[0].sum(), (0, 1))(x, y)
    assert [s.tolist() for s in slopes] == [[0.5, 0], [0.5, 1]]


def test_a_batch_of_random_states_gives_what_each_gives():
    key = np.array([1, 2], np.uint64)
    attributes = "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>"
    results = ["tensor<2xui64>", "tensor<3xui32>"]
    text = program("stablehlo.rng_bit_generator", [key], results, attributes)
    with jax.enable_x64(True):
        function, keys = replayed(text), np.stack([key, key + 5])
        rows = [function(row) for row in keys]
        for batch, *alone in zip(jax.vmap(function)(keys), *rows, strict=True):
            np.testing.assert_array_equal(batch, np.stack(alone))
        slope = jax.grad(lambda x: (function(key)[1] * x).sum())(1.0)
        assert slope == jnp.sum(function(key)[1] * 1.0)
