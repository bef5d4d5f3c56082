"""Collectives under `jax.shard_map`, on axes that the groups of devices are."""

import jax
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from kernel_magics.errors import PreflightError
from tests.replay.programs import replayed

CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
ALL = "dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>"
ROWS = "dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>"
COLUMNS = "dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>"
ODD = "dense<[[0, 5], [1, 4], [2, 6], [3, 7]]> : tensor<4x2xi64>"


EACH = P(("i", "j"))


def mesh():
    return jax.make_mesh((2, 4), ("i", "j"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def over_devices(function, *specs, out=EACH):
    mapped = jax.shard_map(function, mesh=mesh(), in_specs=specs, out_specs=out, check_vma=False)
    return jax.jit(mapped)


def all_reduce(groups, op="add"):
    return f"""
    func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {{
      %r = "stablehlo.all_reduce"(%x) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.{op} %a, %b : tensor<f32>
          stablehlo.return %c : tensor<f32>
      }}) {{replica_groups = {groups}, {CHANNEL}, use_global_device_ids}}
        : (tensor<1x4xf32>) -> tensor<1x4xf32>
      return %r : tensor<1x4xf32>
    }}"""


X = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.mark.parametrize(("groups", "axes"), [(ALL, ("i", "j")), (ROWS, ("j",)), (COLUMNS, ("i",))])
@pytest.mark.parametrize(
    ("op", "known"), [("add", jax.lax.psum), ("maximum", jax.lax.pmax), ("minimum", jax.lax.pmin)]
)
def test_reductions_over_devices(groups, axes, op, known):
    spec = P(("i", "j"))
    function = replayed(all_reduce(groups, op))
    found = over_devices(lambda x: function(x)[0], spec)(X)
    np.testing.assert_array_equal(found, over_devices(lambda x: known(x, axes), spec)(X))


def test_the_gradient_of_a_sum_over_devices():
    function, spec = replayed(all_reduce(ROWS)), P(("i", "j"))

    def loss(run):
        return lambda x: (over_devices(run, spec)(x) ** 3).sum()

    found = jax.grad(loss(lambda x: function(x)[0]))(X)
    np.testing.assert_allclose(found, jax.grad(loss(lambda x: jax.lax.psum(x, "j")))(X))


def simple(op, attributes, source, result):
    kinds = f"(tensor<{source}>) -> tensor<{result}>"
    return f"""
    func.func @main(%x: tensor<{source}>) -> tensor<{result}> {{
      %r = "stablehlo.{op}"(%x) {{{attributes}, {CHANNEL}}} : {kinds}
      return %r : tensor<{result}>
    }}"""


def test_gathering_from_devices():
    attributes = f"all_gather_dim = 0 : i64, replica_groups = {ROWS}, use_global_device_ids"
    function = replayed(simple("all_gather", attributes, "1x4xf32", "4x4xf32"))
    found = over_devices(lambda x: function(x)[0], P(("i", "j")), out=P("i"))(X)
    np.testing.assert_array_equal(found, X)


@pytest.mark.parametrize(("groups", "source"), [(ALL, [0] * 8), (ROWS, [0] * 4 + [4] * 4)])
def test_the_first_device_of_a_group_tells_the_others(groups, source):
    attributes = f"replica_groups = {groups}"
    function = replayed(simple("collective_broadcast", attributes, "1x4xf32", "1x4xf32"))
    x = X.copy()
    x[0, 0] = -0.0
    found = over_devices(lambda x: function(x)[0], P(("i", "j")))(x)
    np.testing.assert_array_equal(found, x[source])
    np.testing.assert_array_equal(np.signbit(found), np.signbit(x[source]))


def test_exchange_between_devices():
    attributes = f"""split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64,
      replica_groups = {ROWS}"""
    function = replayed(simple("all_to_all", attributes, "1x4xf32", "4x1xf32"))
    found = over_devices(lambda x: function(x)[0], P(("i", "j")), out=P("i", "j"))(X)
    np.testing.assert_array_equal(found, X)


def test_passing_on_to_other_devices():
    pairs = [[i, (i + 1) % 8] for i in range(7)]
    attributes = f"source_target_pairs = dense<{pairs}> : tensor<7x2xi64>"
    function = replayed(simple("collective_permute", attributes, "1x4xf32", "1x4xf32"))
    found = over_devices(lambda x: function(x)[0], P(("i", "j")))(X)
    expected = np.roll(X, 1, axis=0)
    expected[0] = 0
    np.testing.assert_array_equal(found, expected)


def test_each_device_knows_its_number():
    text = "func.func @main() -> tensor<ui32> { %r = stablehlo.partition_id : tensor<ui32> return %r : tensor<ui32> }"
    function = replayed(text.replace("} ", "}\n").replace("> return", ">\n return"))
    found = over_devices(lambda: function()[0][None])()
    np.testing.assert_array_equal(found, np.arange(8))


def test_groups_that_are_no_axes_are_refused():
    function = replayed(all_reduce(ODD))
    with pytest.raises(PreflightError, match="which are no axes of the mesh"):
        over_devices(lambda x: function(x)[0], P(("i", "j")))(X)


def test_without_an_axis_there_is_nobody_to_speak_to():
    with pytest.raises(PreflightError) as error:
        replayed(all_reduce(ALL))(X[:1])
    assert str(error.value) == (
        "`stablehlo.all_reduce` speaks to other devices, and no mesh axis is bound here\n"
        "  Call it inside `jax.shard_map` over as many devices as it is written for."
    )
