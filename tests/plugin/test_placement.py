"""Work goes where it is sent, arrays follow or are named, and the way back is open."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.errors import PlacementError, PluginError
from tests.plugin.conftest import PATIENCE_S, library

DOUBLE = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
X = np.arange(3, dtype=np.float32)


@pytest.fixture
def plugins(kernel_plugins):
    kernel_plugins.load("cpu4", devices=4)
    return kernel_plugins


@contextmanager
def compiles() -> Iterator[list[str]]:
    """Notes each compile of XLA in the block."""
    counted: list[str] = []

    def note(event: str, *_: object, **__: object) -> None:
        if "backend_compile" in event:
            counted.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield counted
    jax.monitoring.unregister_event_duration_listener(note)


def test_compiles_are_noticed():
    with compiles() as counted:
        jax.jit(lambda x: x * 17 + 3)(X)
    assert len(counted) == 1


def test_everything_follows_the_plugin_in_use(plugins, real):
    name, _ = real
    plugins.load(name, timeout_s=PATIENCE_S)
    function = km.load(DOUBLE)
    before = jnp.arange(3, dtype=jnp.float32)
    assert plugins.use(name).state == "in use"
    assert plugins.active == name
    found = [
        function(X),
        function(before),
        km.hlo_call(DOUBLE, X),
        jnp.sin(before),
        jax.jit(lambda x: x * 2)(before),
        jax.random.normal(jax.random.key(0), (3,)),
    ]
    assert [plugins.where(one) for one in found] == [name] * 6
    np.testing.assert_array_equal(found[0][0], X * 2)
    assert plugins.use("cpu").name == "cpu"
    assert plugins.where(function(found[0][0])) == "cpu"
    assert plugins.use(None).name == "cpu"
    assert jax.config.jax_default_device is None


def test_a_block_uses_a_plugin_in_its_thread_alone(plugins):
    seen: list[str] = []
    with plugins.using("cpu4", device=2):
        assert plugins.active == "cpu4"
        assert plugins.label(next(iter(jnp.arange(3).devices()))) == "cpu4:2"
        thread = threading.Thread(target=lambda: seen.append(plugins.active))
        thread.start()
        thread.join()
        with plugins.using("cpu"):
            assert plugins.active == "cpu"
    assert seen == ["cpu"]
    assert plugins.active == "cpu"


def test_switching_keeps_what_was_compiled(plugins, real):
    name, _ = real
    plugins.load(name, timeout_s=PATIENCE_S)
    traces: list[str] = []

    @jax.jit
    def run(x):
        traces.append("traced")
        return x * 2 + 1

    function = km.load(DOUBLE)
    arrays = {"cpu": plugins.move(X, "cpu"), name: plugins.move(X, name)}
    for plugin, array in arrays.items():
        with plugins.using(plugin):
            run(array)
            function(array)
    before = len(traces)
    with compiles() as counted:
        for i in range(200):
            plugin = (name, "cpu")[i % 2]
            plugins.use(plugin)
            found, ours = run(arrays[plugin]), function(arrays[plugin])
            assert plugins.where([found, *ours]) == plugin
    np.testing.assert_array_equal(found, X * 2 + 1)
    assert counted == []
    assert len(traces) == before
    for plugin, array in arrays.items():
        assert plugins.where(array) == plugin
        np.testing.assert_array_equal(array, X)


def test_a_switch_during_a_computation_is_safe(plugins):
    run = jax.jit(lambda x: jax.lax.fori_loop(0, 60, lambda _, y: jnp.sin(y @ y), x))
    x = jnp.ones((300, 300)) / 300
    wanted = np.asarray(run(x))
    plugins.use("cpu4")
    moved = run(x)
    plugins.use("cpu")
    back = run(x)
    plugins.forget("cpu4")
    np.testing.assert_allclose(np.asarray(moved), wanted, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(back), wanted, rtol=1e-6)


def test_an_array_that_is_bound_elsewhere_is_named_with_the_way_to_move_it(plugins):
    function = km.load(DOUBLE)
    bound = plugins.move(X, "cpu4", device=1)
    plugins.use("cpu")
    with pytest.raises(PlacementError) as error:
        function(bound)
    assert str(error.value) == (
        "Argument 0 (`%x`) of `@main` is bound to `cpu4:1`, and `cpu:0` is in use\n"
        "  given: f32[3] on `cpu4:1`\n  in use: cpu:0\n"
        '  `km.plugins.move(array, "cpu")` copies it to the plugin in use; '
        '`with km.plugins.using("cpu4"):` calls where it is.'
    )
    np.testing.assert_array_equal(function(plugins.move(bound, "cpu"))[0], X * 2)
    with plugins.using("cpu4", device=1):
        assert plugins.where(function(bound)) == "cpu4"


def test_another_device_of_the_same_plugin_is_named_too(plugins):
    function = km.load(DOUBLE)
    bound = plugins.move(X, "cpu4", device=0)
    plugins.use("cpu4", device=3)
    with pytest.raises(PlacementError) as error:
        function(bound)
    lines = str(error.value).split("\n")
    assert lines[0] == ("Argument 0 (`%x`) of `@main` is bound to `cpu4:0`, and `cpu4:3` is in use")
    assert 'km.plugins.move(array, "cpu4", device=3)' in lines[-1]
    np.testing.assert_array_equal(bound, X)


def test_arrays_over_several_devices_of_the_plugin_in_use_are_where_they_should_be(plugins):
    mesh = jax.sharding.Mesh(np.array(plugins.devices("cpu4")[1:]).reshape(3), "x")
    spread = jax.device_put(X, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
    function = km.load(DOUBLE)
    plugins.use("cpu4")
    np.testing.assert_array_equal(function(spread)[0], X * 2)
    plugins.use("cpu")
    with pytest.raises(PlacementError, match="is bound to `cpu4:1` and 2 more devices, and"):
        function(spread)


def test_arrays_of_a_forgotten_plugin_are_named_and_can_be_moved(plugins):
    function = km.load(DOUBLE)
    bound = plugins.move(X, "cpu4")
    plugins.forget("cpu4")
    with pytest.raises(PlacementError) as error:
        function(bound)
    assert str(error.value) == (
        "Argument 0 (`%x`) of `@main` is bound to `cpu4:0`, which was forgotten\n"
        "  given: f32[3] on `cpu4:0`\n  in use: cpu:0\n"
        '  `km.plugins.move(array, "cpu")` copies it: its values are still there.'
    )
    np.testing.assert_array_equal(function(plugins.move(bound, "cpu"))[0], X * 2)


def test_trees_are_moved_whole(plugins):
    tree = {"a": X, "b": [jnp.arange(2), 3.0], "key": jax.random.key(1)}
    moved = plugins.move(tree, "cpu4")
    assert plugins.where(moved) == "cpu4"
    np.testing.assert_array_equal(moved["a"], X)
    assert plugins.where([moved["a"], jnp.arange(2)]) == "cpu, cpu4"
    assert plugins.where({}) == ""


def test_names_and_devices_that_are_not_there_change_nothing(plugins):
    plugins.use("cpu4")
    with pytest.raises(PluginError, match="^There is no plugin `nope`"):
        plugins.use("nope")
    with pytest.raises(PluginError) as error:
        plugins.use("cpu4", device=9)
    assert str(error.value) == (
        "Plugin `cpu4` has no device 9\n  devices: 0, 1, 2, 3\n"
        '  `km.plugins.use("cpu4")` takes the first.'
    )
    assert plugins.active == "cpu4"
    plugins.use("cpu")


def test_active_tells_the_truth_whoever_switches(plugins):
    jax.config.update("jax_default_device", plugins.device("cpu4", 1))
    assert plugins.active == "cpu4"
    jax.config.update("jax_default_device", "cpu")
    assert plugins.active == "cpu"
    jax.config.update("jax_default_device", None)
    before = jax.config.jax_platforms
    jax.config.update("jax_platforms", "nope")
    try:
        assert plugins.active == "cpu"
        assert plugins.table()["cpu"].state == "in use"
    finally:
        jax.config.update("jax_platforms", before)


def test_jax_that_makes_its_clients_anew_is_followed(plugins):
    from jax.extend.backend import clear_backends

    kept = plugins.move(X, "cpu4")
    clear_backends()
    assert plugins.active == "cpu"
    assert plugins.where(jnp.arange(3)) == "cpu"
    np.testing.assert_array_equal(kept, X)
    assert plugins.where(kept) == "cpu4"
    with plugins.using("cpu4"):
        np.testing.assert_array_equal(jnp.arange(3) + 1, [1, 2, 3])


def test_labels_tell_plugins_apart_that_all_say_cpu(plugins):
    library("xla_cpu_pjrt")
    plugins.load("xla_cpu_pjrt", timeout_s=PATIENCE_S)
    labels = [plugins.label(plugins.device(name)) for name in ("cpu", "cpu4", "xla_cpu_pjrt")]
    assert labels == ["cpu:0", "cpu4:0", "xla_cpu_pjrt:0"]


SHARDED = """module attributes {mhlo.num_partitions = 12 : i32} {
  func.func @main(%x: tensor<12xf32>) -> tensor<12xf32> {
    %0 = stablehlo.add %x, %x : tensor<12xf32>
    return %0 : tensor<12xf32>
  }
}"""


def test_programs_for_more_devices_than_the_cpu_has_are_taken_where_a_plugin_has_them(plugins):
    many = jax.device_count() + 4
    text = SHARDED.replace("12", str(many))
    x = np.ones(many, np.float32)
    with pytest.raises(km.KernelMagicsError, match=f"{many}"):
        km.hlo_call(text, x)
    plugins.load("many", devices=many)
    mesh = jax.sharding.Mesh(np.array(plugins.devices("many")), "x")
    spread = jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
    (found,) = km.hlo_call(text, spread)
    assert plugins.where(found) == "many"
    np.testing.assert_array_equal(found, x * 2)
