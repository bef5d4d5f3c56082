"""What is registered reaches plugins that are loaded before and after, through their own registry."""

import itertools
import subprocess
import sys

import jax
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.pjrt_ffi import PjrtFfi, api_of_library
from kernel_magics.errors import CustomCallError, PreflightError
from tests.custom_call import compilers
from tests.custom_call.places import client, device, library
from tests.kernels import Kernel

X = np.arange(4, dtype=np.float32)
_numbers = itertools.count()

EARLY_AND_LATE = """
import numpy as np, jax
import kernel_magics as km
x = np.arange(4, dtype=np.float32)
km.custom_calls.register("early", handler=lambda x: 2 * x, contract="(f32[n]) -> f32[n]")
call = jax.jit(lambda x: km.custom_calls.call("early", x))
print(np.asarray(call(x)))
kept = x + jax.numpy.ones(4)
km.plugins.load("plug", {path!r}, options={{"cpu_device_count": 1}}, force=True)
km.custom_calls.register("late", handler=lambda x: 3 * x, contract="(f32[n]) -> f32[n]")
with km.plugins.using("plug"):
    print(np.asarray(call(x)), np.asarray(km.custom_calls.call("late", x)))
    print(km.plugins.where(call(x)))
print(np.asarray(call(x)), np.asarray(kept))
print(km.custom_calls.table()["early"].plugins)
"""

TARGET = "hot"
PROGRAM = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.custom_call @{TARGET}(%x) {{api_version = 4 : i32}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""


@pytest.fixture
def target() -> str:
    return f"test.plugins{next(_numbers)}"


def plugin(name: str) -> str:
    path = library(name)
    if path is None:
        pytest.skip(f"the plugin {name} is not installed")
    return str(path)


@pytest.mark.parametrize("name", ["zml", "old"])
def test_handlers_reach_plugins_that_are_loaded_before_and_after(name):
    done = subprocess.run(
        [sys.executable, "-c", EARLY_AND_LATE.format(path=plugin(name))],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == [
        "[0. 2. 4. 6.]",
        "[0. 2. 4. 6.] [0. 3. 6. 9.]",
        "plug",
        "[0. 2. 4. 6.] [1. 2. 3. 4.]",
        "('cpu', 'plug')",
    ]


def test_handlers_of_newer_ffi_versions_serve_older_plugins(registered, target, tmp_path, at):
    x = jax.device_put(X, at(registered))
    made = compilers.times(tmp_path / "newer.so", 4, version=(0, 9))
    registered.register(target, library=made, symbol="times", contract="(f32[n]) -> f32[n]")
    np.testing.assert_array_equal(registered.call(target, x), 4 * X)


def test_a_plugin_keeps_the_trampoline_and_runs_what_replaced_it(registered, target, tmp_path):
    x = jax.device_put(X, device("old", registered))
    call = jax.jit(lambda x: registered.call(target, x))
    for factor in (2, 3, 5):
        made = compilers.times(tmp_path / "same.so", factor)
        registered.register(target, library=made, symbol="times", contract="(f32[n]) -> f32[n]")
        np.testing.assert_array_equal(call(x), factor * X)


def test_a_second_client_in_this_process_has_the_same_handlers(registered, target):
    registered.register(target, handler=lambda x: 2 * x, contract="(f32[n]) -> f32[n]")
    first, second = client("cpu2").local_devices()
    for place in (first, second):
        found = registered.call(target, jax.device_put(X, place))
        np.testing.assert_array_equal(found, 2 * X)
        assert found.devices() == {place}


def test_missing_on_one_plugin_is_said_for_that_plugin(registered, target):
    zml = jax.device_put(X, device("zml", registered))
    registered.register(
        target, handler=lambda x: 2 * x, plugins="cpu", contract="(f32[n]) -> f32[n]"
    )
    call = jax.jit(lambda x: registered.call(target, x))
    np.testing.assert_array_equal(call(X), 2 * X)
    with pytest.raises(CustomCallError) as caught:
        call(zml)
    assert (
        str(caught.value)
        == f"""Nobody serves the custom call `{target}` on the plugin `zml`
  it has no handler there, and no fallback
  `km.custom_calls.register("{target}", handler=…)` gives it one, `fallback=` what stands in for it."""
    )
    with pytest.raises(PreflightError, match=f"`{target}` on the plugin `zml`"):
        km.hlo_call(PROGRAM.replace(TARGET, target), zml)


def test_a_plugin_without_the_extension_says_so():
    class Api:
        """As PJRT's: a size, and no extensions."""

    import ctypes

    api = (ctypes.c_size_t * 16)()
    bare = PjrtFfi(ctypes.addressof(api), "bare")
    assert not bare.has_extension
    with pytest.raises(CustomCallError) as caught:
        bare.register("any", 0, "cpu")
    assert (
        str(caught.value)
        == """The plugin `bare` takes no handlers of custom calls
  its PJRT library has no FFI extension
  Use a fallback there, or another plugin."""
    )


def test_real_plugins_have_the_extension():
    for name in ("zml", "old"):
        client(name)
        assert PjrtFfi(api_of_library(plugin(name)), name).has_extension


def test_handlers_for_other_memory_do_not_serve_the_cpu(registered, target):
    code = Handler("kernel", "native", 1, target, "test")
    registered.register(target, handler=code, platform="cuda", fallback=lambda x: -x, trial=False)
    np.testing.assert_array_equal(registered.call(target, X), -X)
    assert registered.table()[target].plugins == ()


@pytest.mark.parametrize("name", [None, "zml", "old"])
def test_an_edited_cell_replaces_a_handler_in_a_real_kernel(name):
    """Register, jit, run, edit, run again: compiled functions follow; then unregister."""
    kernel = Kernel()
    try:
        if name is not None:
            load = f'km.plugins.load("plug", {plugin(name)!r}, options={{"cpu_device_count": 1}}, force=True)'
            reply = kernel.run(f'import kernel_magics as km\n{load}\nkm.plugins.use("plug")')
            assert reply.status == "ok", reply
        setup = f"""
import jax, numpy as np, kernel_magics as km
x = np.arange(4, dtype="f4")
def work(x): return 2 * x
km.custom_calls.register("{TARGET}", handler=work, contract="(f32[n]) -> f32[n]")
traced = []
def body(x):
    traced.append(1)
    return km.custom_calls.call("{TARGET}", x)
call = jax.jit(body)
program = km.load('''{PROGRAM}''')
print(np.asarray(call(x)), np.asarray(program(x)[0]), len(traced))
"""
        reply = kernel.run(setup)
        assert reply.output.strip() == "[0. 2. 4. 6.] [0. 2. 4. 6.] 1", reply
        edited = f"""
def work(x): return 5 * x
km.custom_calls.register("{TARGET}", handler=work, contract="(f32[n]) -> f32[n]")
print(np.asarray(call(x)), np.asarray(program(x)[0]), len(traced))
"""
        reply = kernel.run(edited)
        assert reply.output.strip() == "[ 0.  5. 10. 15.] [ 0.  5. 10. 15.] 1", reply
        reply = kernel.run(
            f'km.custom_calls.unregister("{TARGET}")\nprogram(x)[0].block_until_ready()'
        )
        assert reply.error == "CompileError", reply
        assert f"`{TARGET}` has no handler here any more" in reply.message
        reply = kernel.run(edited)
        assert reply.output.strip() == "[ 0.  5. 10. 15.] [ 0.  5. 10. 15.] 1", reply
    finally:
        kernel.close()
