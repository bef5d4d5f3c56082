"""Calls over 8 devices: shardings pass through as through the inlined program."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import kernel_magics as km
from kernel_magics.errors import PreflightError
from tests.transforms.programs import assert_close, called, text_of

W = np.linspace(-1, 1, 8 * 16, dtype=np.float32).reshape(8, 16)
X = np.linspace(-2, 1, 16 * 8, dtype=np.float32).reshape(16, 8)


def layer(w, x):
    y = x @ w
    return jnp.tanh(y), y.sum(0), x.T


def loss(function):
    return lambda w, x: (function(w, x)[0] ** 2).sum()


call = called(layer, W, X)


def mesh(shape=(4, 2), names=("x", "y"), kind=AxisType.Auto):
    return jax.make_mesh(shape, names, axis_types=(kind,) * len(shape))


def put(array, *spec):
    return jax.device_put(array, NamedSharding(mesh(), P(*spec)))


def specs(tree):
    return [leaf.sharding.spec for leaf in jax.tree.leaves(tree)]


SHARDINGS = [
    ((None, "y"), ("x", None)),
    (("y", None), ("x", "y")),
    ((), (("x", "y"),)),
    (("x",), ()),
]


@pytest.mark.parametrize(("w", "x"), SHARDINGS)
def test_results_are_sharded_as_those_of_the_inlined_program(w, x):
    arguments = put(W, *w), put(X, *x)
    found, expected = jax.jit(call)(*arguments), jax.jit(layer)(*arguments)
    assert specs(found) == specs(expected)
    assert_close(found, expected)
    text = text_of(layer, W, X)
    assert_close(km.load(text)(*arguments), expected)


@pytest.mark.parametrize(("w", "x"), SHARDINGS)
def test_gradients_are_sharded_as_those_of_the_inlined_program(w, x):
    arguments = put(W, *w), put(X, *x)
    found, expected = (jax.jit(jax.grad(loss(f), (0, 1)))(*arguments) for f in (call, layer))
    assert specs(found) == specs(expected)
    assert_close(found, expected)


def test_batches_are_sharded_as_those_of_the_inlined_program():
    arguments = put(W, None, "y"), put(np.stack([X] * 4), "x")
    found, expected = (jax.jit(jax.vmap(f, (None, 0)))(*arguments) for f in (call, layer))
    assert specs(found) == specs(expected)
    assert_close(found, expected)


def test_no_value_is_gathered_for_a_call():
    arguments = put(W, None, "y"), put(X, "x")
    texts = [jax.jit(f).lower(*arguments).compile().as_text() for f in (call, layer)]
    for collective in ("all-gather", "all-reduce", "all-to-all", "collective-permute"):
        assert texts[0].count(f" {collective}(") == texts[1].count(f" {collective}(")


def test_shardings_in_types_are_those_of_jax():
    explicit = mesh(kind=AxisType.Explicit)
    with jax.set_mesh(explicit):
        w, x = jax.device_put(W, P(None, "y")), jax.device_put(X, P("x"))
        rows = jax.device_put(np.stack([X] * 4), P("x"))
        for make in (
            lambda f: jax.jit(f)(w, x),
            lambda f: jax.jit(jax.grad(loss(f), (0, 1)))(w, x),
            lambda f: jax.jit(jax.vmap(f, (None, 0)))(w, rows),
        ):
            found, expected = make(call), make(layer)
            assert list(map(jax.typeof, found)) == list(map(jax.typeof, expected))
            assert_close(found, expected)


@pytest.mark.parametrize("check_vma", [True, False])
def test_inside_shard_map(check_vma):
    part = X[:4]
    inner = called(layer, W, part)

    def over_devices(function):
        return jax.jit(
            jax.shard_map(
                lambda w, x: function(w, x)[:2],
                mesh=mesh(),
                in_specs=(P(), P("x")),
                out_specs=(P("x"), P("x")),
                check_vma=check_vma,
            )
        )

    found, expected = over_devices(inner)(W, X), over_devices(layer)(W, X)
    assert_close(found, expected)
    assert specs(found) == specs(expected)
    gradients = [jax.grad(loss(over_devices(f)), (0, 1))(W, X) for f in (inner, layer)]
    assert_close(*gradients)


COLLECTIVE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.sine %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


def test_collectives_of_a_unit_speak_to_the_devices_of_shard_map():
    x = np.arange(32, dtype=np.float32) / 10

    def summed(x):
        return jnp.sin(jax.lax.psum(x, ("x", "y")))

    def over_devices(function):
        return jax.shard_map(function, mesh=mesh(), in_specs=P(("x", "y")), out_specs=P())

    found = over_devices(lambda x: km.hlo_call(COLLECTIVE, x)[0])
    expected = over_devices(summed)
    assert_close(jax.jit(found)(x), jax.jit(expected)(x))
    gradients = [jax.grad(lambda x, f=f: (f(x) ** 2).sum())(x) for f in (found, expected)]
    assert_close(*gradients)


SHARDY = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = stablehlo.sine %a : tensor<16x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}"""
ARGUMENTS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<16x8xf32>)
    -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = stablehlo.sine %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}"""
GSPMD = """
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = stablehlo.sine %a : tensor<16x8xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,4]<=[4,2]T(1,0)}"} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}"""


@pytest.mark.parametrize("text", [SHARDY, ARGUMENTS, GSPMD])
@pytest.mark.parametrize("names", [("x", "y"), ("a", "b")])
def test_annotations_of_a_unit_hold(text, names):
    there = mesh(names=names)
    x = jax.device_put(X, NamedSharding(there, P(names[0])))
    (found,) = jax.jit(lambda x: km.hlo_call(text, x))(x)
    assert found.sharding.is_equivalent_to(NamedSharding(there, P(names[1], names[0])), 2)
    assert_close(found, jnp.sin(X))


@pytest.mark.parametrize("text", [SHARDY, ARGUMENTS, GSPMD])
def test_annotations_say_nothing_on_one_device(text):
    assert_close(km.hlo_call(text, X)[0], jnp.sin(X))


def test_a_mesh_of_another_size_is_named():
    x = jax.device_put(X, NamedSharding(mesh((4,), ("x",)), P("x")))
    with pytest.raises(PreflightError) as error:
        jax.jit(lambda x: km.hlo_call(SHARDY, x))(x)
    assert str(error.value) == (
        "`@main` lays its values out over 8 devices, and the call is for 4\n"
        "  text:2:1\n"
        '    sdy.mesh @mesh = <["x"=4, "y"=2]>\n'
        "    ^^^^^^^^\n"
        "  Give it arguments that are sharded over as many devices as it says, or remove its "
        "annotations."
    )
    with pytest.raises(PreflightError, match="over 8 devices, and the call is for 4"):
        jax.jit(lambda x: km.hlo_call(GSPMD, x))(x)


def test_a_program_for_many_devices_is_not_called_on_one():
    text = f"module attributes {{mhlo.num_partitions = 8 : i32}} {{{SHARDY}\n}}"
    with pytest.raises(PreflightError, match="over 8 devices, and the call is for 1\n  text:2:1"):
        km.hlo_call(text, X)


@pytest.mark.parametrize("text", [SHARDY, GSPMD])
def test_annotations_inside_shard_map_are_named(text):
    def inside(x):
        return km.hlo_call(text, x)[0]

    with pytest.raises(PreflightError) as error:
        jax.shard_map(inside, mesh=mesh(), in_specs=P("x"), out_specs=P("x"))(np.tile(X, (4, 1)))
    assert str(error.value).startswith(
        "`@main` says how its values lie over devices, and `shard_map` has laid them out along "
        "'x', 'y'\n  text:"
    )
    assert str(error.value).endswith(
        "  Call it outside of `jax.shard_map`, or remove its annotations."
    )
