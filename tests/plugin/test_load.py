"""Real plugins are loaded after the first computation, forgotten, and loaded again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from kernel_magics import _jax_private
from kernel_magics.errors import PluginError
from kernel_magics.plugin.manager import PluginManager
from tests.plugin.conftest import PATIENCE_S, library


def doubled(manager, name) -> np.ndarray:
    """Two times 0, 1, 2, computed there."""
    with manager.using(name):
        found = jnp.arange(3.0) * 2
        assert manager.where(found) == name
        return np.asarray(found)


def test_a_plugin_comes_beside_what_is_there(manager, real):
    name, path = real
    before = jnp.arange(3.0) + 1
    run = jax.jit(lambda x: x * 3)
    first = run(before)
    found = manager.load(name, options={"cpu_device_count": 2}, timeout_s=PATIENCE_S)
    assert (found.state, found.path, found.reason) == ("loaded", path, "")
    assert found.options == (("cpu_device_count", 2),)
    assert [device.id for device in found.facts.devices] == [0, 1]
    assert found.facts.targets == {"lapack_spotrf_ffi": False, "xla_ffi_python_cpu_callback": False}
    assert "FFI" in found.facts.extensions
    assert found.facts.ffi_version[0] == 0
    assert manager.active == "cpu"
    np.testing.assert_array_equal(run(before), first)
    np.testing.assert_array_equal(doubled(manager, name), [0, 2, 4])
    assert jax.devices(name) == manager.devices(name)
    assert jax.devices() == jax.devices("cpu")


def test_it_is_forgotten_and_loaded_again(manager, real):
    name, _ = real
    manager.load(name, timeout_s=PATIENCE_S)
    kept = manager.move(jnp.arange(3.0), name)
    found = manager.forget(name)
    assert (found.state, found.reason) == ("forgotten", "its library stays in the process")
    with pytest.raises(RuntimeError, match=f"Unknown backend {name}"):
        jax.devices(name)
    with pytest.raises(PluginError) as error:
        manager.use(name)
    assert str(error.value) == (
        f"Plugin `{name}` is not loaded\n  it is forgotten: its library stays in the process\n"
        f'  loaded: `cpu`\n  `km.plugins.load("{name}")` loads it.'
    )
    assert manager.where(kept) == f"{name} (forgotten)"
    np.testing.assert_array_equal(kept, [0, 1, 2])
    again = manager.load(name, options={"cpu_device_count": 3}, timeout_s=PATIENCE_S)
    assert len(again.facts.devices) == 3
    np.testing.assert_array_equal(doubled(manager, name), [0, 2, 4])
    # The old array is where it was: on another client of the same plugin.
    assert manager.where(kept) == f"{name} (forgotten)"
    assert manager.where(manager.move(kept, name)) == name


def test_forgetting_lets_the_client_go_when_nothing_needs_it(manager):
    import gc
    import weakref

    manager.load("xla_cpu_pjrt", timeout_s=PATIENCE_S)
    client = weakref.ref(manager.clients["xla_cpu_pjrt"])
    kept = manager.move(jnp.arange(3.0), "xla_cpu_pjrt")
    manager.forget("xla_cpu_pjrt", clear_caches=True)
    gc.collect()
    assert client() is not None
    np.testing.assert_array_equal(kept, [0, 1, 2])
    del kept
    jax.clear_caches()
    gc.collect()
    assert client() is None


def test_what_is_in_use_or_built_in_is_not_forgotten(manager):
    manager.load("cpu2", devices=2)
    manager.use("cpu2")
    with pytest.raises(PluginError) as error:
        manager.forget("cpu2")
    assert str(error.value) == (
        "Plugin `cpu2` is in use\n  New work would go to it.\n"
        '  `km.plugins.use("cpu")` first, or another that is loaded.'
    )
    assert manager.active == "cpu2"
    with pytest.raises(PluginError, match="^The built-in CPU cannot be forgotten"):
        manager.forget("cpu")


def test_loading_twice_is_loading_once(manager):
    library("xla_cpu_pjrt")
    manager.load("xla_cpu_pjrt", timeout_s=PATIENCE_S)
    client = manager.clients["xla_cpu_pjrt"]
    manager.load("xla_cpu_pjrt")
    assert manager.clients["xla_cpu_pjrt"] is client
    with pytest.raises(PluginError) as error:
        manager.load("xla_cpu_pjrt", options={"cpu_device_count": 2})
    assert str(error.value) == (
        "Plugin `xla_cpu_pjrt` is loaded with other options\n  loaded with: {}\n"
        "  given: {'cpu_device_count': 2}\n"
        '  `km.plugins.forget("xla_cpu_pjrt")` first.'
    )


def test_one_library_under_two_names_is_two_clients(manager):
    path = library("xla_cpu_pjrt")
    manager.load("one", path, timeout_s=PATIENCE_S)
    manager.load("two", path, timeout_s=PATIENCE_S)
    assert manager.clients["one"] is not manager.clients["two"]
    np.testing.assert_array_equal(doubled(manager, "one"), doubled(manager, "two"))
    with pytest.raises(PluginError) as error:
        manager.load("one", Path("/elsewhere.so"))
    assert str(error.value) == (
        f"The name `one` is taken by a plugin that is loaded\n  loaded: {path}\n"
        '  given: /elsewhere.so\n  Choose another name, or `km.plugins.forget("one")` first.'
    )


def test_a_changed_file_is_another_plugin_under_the_same_name(manager, tmp_path):
    old, new = library("xla_cpu_pjrt"), library("fastatomstruct_xla_cpu")
    path = tmp_path / "plugin.so"
    path.symlink_to(old)
    assert manager.load("changing", path, timeout_s=PATIENCE_S).facts.pjrt_version == (0, 81)
    manager.forget("changing")
    path.unlink()
    path.symlink_to(new)
    found = manager.load("changing", path, timeout_s=PATIENCE_S)
    assert found.facts.pjrt_version == (0, 106)
    assert found.notes == ("JAX knows it as `changing@2`",)
    np.testing.assert_array_equal(doubled(manager, "changing"), [0, 2, 4])


def test_a_file_that_is_written_over_is_loaded_from_a_copy(manager, tmp_path):
    """The system would give what it has of the file; and nothing may be mapped from it then."""
    path = tmp_path / "plugin.so"
    shutil.copyfile(library("xla_cpu_pjrt"), path)
    manager.load("written", path, timeout_s=PATIENCE_S)
    manager.forget("written")
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))
    found = manager.load("written", path, timeout_s=PATIENCE_S)
    assert found.notes == ("JAX knows it as `written@2`",)
    np.testing.assert_array_equal(doubled(manager, "written"), [0, 2, 4])


def test_names_that_jax_has_are_given_to_plugins_all_the_same(manager):
    found = manager.load("tpu", library("xla_cpu_pjrt"), timeout_s=PATIENCE_S)
    assert found.notes[0].startswith("JAX knows it as `tpu@")
    np.testing.assert_array_equal(doubled(manager, "tpu"), [0, 2, 4])
    with pytest.raises(PluginError, match="^The name `cpu` is taken by a plugin that is loaded"):
        manager.load("cpu", library("xla_cpu_pjrt"))


def test_jax_keeps_nothing_of_what_we_load(manager):
    before = _jax_private.registered_platforms()
    manager.load("xla_cpu_pjrt", timeout_s=PATIENCE_S)
    assert _jax_private.registered_platforms() == before


def test_who_wants_to_know_is_told_of_each_load(manager):
    seen: list[str] = []
    manager.load("cpu2", devices=2)

    def observe(client, name):
        assert client is manager.clients[name]
        seen.append(name)

    end = manager.on_load(observe)
    assert seen == ["cpu", "cpu2"]
    manager.load("cpu3", devices=3)
    end()
    manager.load("cpu5", devices=5)
    assert seen == ["cpu", "cpu2", "cpu3"]


def test_observers_are_told_of_what_jax_starts_later_and_nothing_is_looked_for():
    code = """
import kernel_magics as km
from kernel_magics.plugin.manager import PluginManager
manager, seen = PluginManager(), []
manager.on_load(lambda client, name: seen.append((name, client.platform)))
print(seen, list(manager._catalogue._entries))
import jax.numpy as jnp
jnp.arange(3)
print(manager.table()[0].source, seen)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[] []", "built in [('cpu', 'cpu')]"]


def test_an_observer_that_fails_is_told_and_stops_no_load(manager):
    changes: list[str] = []

    def fail(_, name):
        if name != "cpu":
            raise ValueError("nothing for this one")

    manager.on_load(fail)
    manager.on_change(lambda: changes.append("changed"))
    found = manager.load("cpu2", devices=2)
    assert (found.state, found.notes) == ("loaded", ("ValueError: nothing for this one",))
    assert changes


def test_more_devices_of_the_cpu_take_sharded_programs(manager):
    found = manager.load("cpu4", devices=4)
    assert [device.id for device in found.facts.devices] == [0, 1, 2, 3]
    mesh = jax.sharding.Mesh(np.array(manager.devices("cpu4")).reshape(4), "x")
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    x = jax.device_put(np.arange(8.0), rows)
    assert len(x.devices()) == 4
    assert manager.where(x) == "cpu4"

    @jax.jit
    def total(x):
        return jax.shard_map(
            lambda part: jax.lax.psum(part.sum(), "x"),
            mesh=mesh,
            in_specs=jax.sharding.PartitionSpec("x"),
            out_specs=jax.sharding.PartitionSpec(),
        )(x)

    assert float(total(x)) == 28.0
    assert manager.load("cpu4", devices=4).name == "cpu4"


@pytest.mark.parametrize("devices", [0, -1, 1.5, "4", True, 10**6])
def test_numbers_of_devices_that_cannot_be_are_refused(manager, devices):
    with pytest.raises(PluginError) as error:
        manager.load("many", devices=devices)
    assert str(error.value) == (
        f"A CPU cannot have {devices!r} devices\n  expected: a whole number from 1 to 256\n"
        '  For example `km.plugins.load("cpu4", devices=4)`.'
    )
    assert "many" not in [row.name for row in manager.table()]


def test_devices_and_a_path_exclude_each_other(manager):
    with pytest.raises(PluginError) as error:
        manager.load("cpu4", "/x.so", devices=4)
    assert str(error.value) == (
        "`devices` makes another client of the built-in CPU, which has no path or options\n"
        "  given: path='/x.so', options=None, devices=4\n"
        '  A plugin\'s own option may be `options={"cpu_device_count": 4}`.'
    )
    manager.load("cpu4", devices=4)
    with pytest.raises(PluginError, match="^The name `cpu4` is taken"):
        manager.load("cpu4", devices=2)


def test_a_manager_that_is_reset_knows_nothing_of_before():
    manager = PluginManager()
    manager.load("cpu4", devices=4)
    manager.use("cpu4")
    manager.reset()
    assert manager.active == "cpu"
    with pytest.raises(PluginError, match="^There is no plugin `cpu4`"):
        manager.info("cpu4")
