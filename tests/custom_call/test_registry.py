"""Targets are registered, replaced, unregistered; compiled functions follow, on every plugin."""

import ctypes
import itertools

import jax
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import CustomCallError, PreflightError, SignatureError, UsageError
from tests.custom_call import compilers
from tests.custom_call.places import device

X = np.arange(4, dtype=np.float32)
CONTRACT = "(f32[n], k: f32) -> f32[n]"
_numbers = itertools.count()


@pytest.fixture
def target() -> str:
    """A name of its own: XLA keeps what it was given for the life of the process."""
    return f"test.registry{next(_numbers)}"


def times(x, *, k):
    return x * k


def plus(x, *, k):
    return x + k


def text(target: str, attribute: str = "k = 3.0 : f32") -> str:
    return f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.custom_call @{target}(%x) {{api_version = 4 : i32, backend_config = {{{attribute}}}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""


def test_compiled_functions_follow_what_is_registered(calls, target, at):
    x = jax.device_put(X, at(calls))
    calls.register(target, handler=times, contract=CONTRACT)
    function = jax.jit(lambda x: calls.call(target, x, k=3.0))
    np.testing.assert_array_equal(function(x), 3 * X)
    traces = function._cache_size()
    calls.register(target, handler=plus)
    np.testing.assert_array_equal(function(x), X + 3)
    calls.unregister(target)
    with pytest.raises(Exception, match=f"the custom call `{target}` has no handler here any more"):
        jax.block_until_ready(function(x))
    calls.register(target, handler=times, contract=CONTRACT)
    np.testing.assert_array_equal(function(x), 3 * X)
    assert function._cache_size() == traces == 1


def test_programs_follow_what_is_registered(calls, target, at):
    x = jax.device_put(X, at(calls))
    calls.register(target, handler=times, contract=CONTRACT)
    function = km.load(text(target))
    np.testing.assert_array_equal(function(x)[0], 3 * X)
    calls.register(target, handler=plus)
    np.testing.assert_array_equal(function(x)[0], X + 3)


def test_attributes_of_a_program_are_cast_to_what_the_contract_declares(registered, target):
    registered.register(target, handler=times, contract=CONTRACT)
    np.testing.assert_array_equal(km.hlo_call(text(target, "k = 3.0 : f64"), X)[0], 3 * X)
    with pytest.raises(SignatureError) as caught:
        km.hlo_call(text(target, 'k = "three"'), X)
    shown = str(caught.value)
    assert "text:2:8" in shown
    assert "^^^" in shown
    assert "one number is wanted, and 'three' is given" in shown


@pytest.mark.parametrize("form", ["", '{api_version = 1 : i32, backend_config = ""}'])
def test_untyped_calls_of_a_typed_handler_are_told_so(registered, target, form):
    registered.register(target, handler=lambda x: 2 * x)
    untyped = text(target).replace(
        "{api_version = 4 : i32, backend_config = {k = 3.0 : f32}}", form
    )
    with pytest.raises(PreflightError) as caught:
        km.hlo_call(untyped, X)
    shown = str(caught.value)
    assert shown.startswith(
        f"`@main` cannot be compiled: `{target}` is registered as a handler of the typed FFI, and "
        "the text asks for the untyped form\n  text:2:8\n"
    )
    assert shown.endswith(
        "Write `api_version = 4 : i32`, and a dictionary as in `backend_config = {}`: without them "
        "a custom call is an untyped one."
    )


def test_the_same_again_is_nothing(registered, target):
    first = registered.register(target, handler=times, contract=CONTRACT, fallback=times)
    function = jax.jit(lambda x: registered.call(target, x, k=2.0))
    function(X)
    assert registered.register(target, handler=times, contract=CONTRACT, fallback=times) is first
    assert function._cache_size() == 1


def test_what_is_left_out_stays(registered, target):
    registered.register(target, handler=times, contract=CONTRACT, fallback=times)
    known = registered.register(target, handler=plus)
    assert str(known.contract) == CONTRACT
    assert known.fallback is times
    assert [served.handler.function for served in known.served] == [plus]


def test_missing_targets_are_named_with_line_and_remedy_before_the_compile(registered, at, place):
    x = jax.device_put(X, at(registered))
    registered.register("test.mangle", handler=times)
    with pytest.raises(PreflightError) as caught:
        km.hlo_call(text("test.mingle"), x)
    assert (
        str(caught.value)
        == f"""`@main` cannot be compiled: no handler serves the custom call `test.mingle` on the plugin `{place}`
  text:2:8
    %0 = stablehlo.custom_call @test.mingle(%x) {{api_version = 4 : i32, backend_config = {{k = 3.0 : f32}} …
         ^^^^^^^^^^^^^^^^^^^^^
  Did you mean `test.mangle`? `km.custom_calls.register("test.mingle", handler=…)` serves it, `fallback=` says what stands in for it. Registered: `test.mangle`."""
    )


def test_a_fallback_stands_in_where_no_handler_serves(registered, target):
    cpu, zml = device("cpu", registered), device("zml", registered)
    registered.register(target, fallback=lambda x, *, k: x * k + 100, contract=CONTRACT)
    traced = jax.jit(lambda x: registered.call(target, x, k=3.0))
    program = jax.jit(lambda x: km.hlo_call(text(target), x)[0])
    for function in (traced, program):
        np.testing.assert_array_equal(function(jax.device_put(X, cpu)), 3 * X + 100)
        np.testing.assert_array_equal(function(jax.device_put(X, zml)), 3 * X + 100)
    registered.register(target, handler=times, plugins="zml")
    for function in (traced, program):
        np.testing.assert_array_equal(function(jax.device_put(X, cpu)), 3 * X + 100)
        np.testing.assert_array_equal(function(jax.device_put(X, zml)), 3 * X)
    registered.register(target, handler=times)
    for function in (traced, program):
        np.testing.assert_array_equal(function(jax.device_put(X, cpu)), 3 * X)


def test_each_plugin_can_have_a_handler_of_its_own(registered, target):
    cpu, zml = device("cpu", registered), device("zml", registered)
    registered.register(target, handler=times, plugins="cpu", contract=CONTRACT)
    registered.register(target, handler=plus, plugins=["zml"])
    function = jax.jit(lambda x: registered.call(target, x, k=3.0))
    np.testing.assert_array_equal(function(jax.device_put(X, cpu)), 3 * X)
    np.testing.assert_array_equal(function(jax.device_put(X, zml)), X + 3)


def test_supports_may_say_no(registered, target):
    asked = []

    def supports(plugin, avals, attributes):
        asked.append((plugin, avals[0].shape, attributes["k"]))
        return avals[0].shape[0] % 2 == 0

    registered.register(
        target, handler=times, contract=CONTRACT, fallback=lambda x, *, k: -x, supports=supports
    )
    np.testing.assert_array_equal(registered.call(target, X, k=2.0), 2 * X)
    np.testing.assert_array_equal(registered.call(target, X[:3], k=2.0), -X[:3])
    assert asked[0] == ("cpu", (4,), np.float32(2))


def test_a_function_of_a_program_stands_in(registered, target):
    twice = km.load("""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}""")
    registered.register(target, fallback=twice)
    np.testing.assert_array_equal(km.hlo_call(text(target), X)[0], 2 * X)
    np.testing.assert_array_equal(registered.call(target, X), 2 * X)


def test_a_fallback_that_needs_itself_is_refused(registered, target):
    registered.register(target, fallback=lambda x, *, k: km.hlo_call(text(target), x)[0])
    with pytest.raises(PreflightError) as caught:
        km.hlo_call(text(target), X)
    assert str(caught.value).startswith(f"The fallback of `{target}` calls `{target}` itself\n")


def test_a_fallback_gives_what_the_call_gives(registered, target):
    registered.register(target, fallback=lambda x, *, k: x[:2])
    with pytest.raises(PreflightError) as caught:
        km.hlo_call(text(target), X)
    assert "call: float32[4]\n  fallback: float32[2]" in str(caught.value)


def test_declarations_mean_registered_targets(registered, target):
    registered.register(target, handler=lambda x: 9 * x)
    program = f"""func.func private @{target}(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = call @{target}(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
    np.testing.assert_array_equal(km.hlo_call(program, X)[0], 9 * X)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "'' cannot be the name of a custom call: a name has characters that can be seen"),
        ("a\0b", r"'a\\x00b' cannot be the name of a custom call: a name has characters"),
        ("kernel_magics.x", "names that begin with `kernel_magics.` are those of Kernel Magics"),
        ("x" * 300, "a name has 200 bytes at most"),
        ("lapack_sgeqrf_ffi", "The target `lapack_sgeqrf_ffi` is taken: JAX and XLA have"),
        ("Sharding", "The target `Sharding` is taken: JAX and XLA have a handler for it"),
    ],
)
def test_names_that_cannot_be_registered(registered, name, words):
    with pytest.raises(CustomCallError, match=words):
        registered.register(name, handler=times)
    assert not registered.table()


def test_a_target_that_jax_was_given_is_taken_and_the_backend_lives(registered):
    from kernel_magics.custom_call.python_handler import python_handler

    mine = python_handler(lambda x: x + 1)
    jax.ffi.register_ffi_target("test.taken", jax.ffi.pycapsule(mine.address))
    with pytest.raises(CustomCallError) as caught:
        registered.register("test.taken", handler=times)
    assert (
        str(caught.value)
        == """The target `test.taken` is taken: `jax.ffi` was given a handler for it
  XLA keeps the first handler of a target for the life of the process
  Choose another name; one with a prefix, such as `mine.rms_norm`, is safe."""
    )
    call = jax.ffi.ffi_call("test.taken", jax.ShapeDtypeStruct(X.shape, X.dtype))
    np.testing.assert_array_equal(jax.jit(call)(X), X + 1)


def test_unknown_plugins_are_refused(registered, target):
    with pytest.raises(CustomCallError, match="^No plugin `nosuch` is known here\n  known: .*cpu"):
        registered.register(target, handler=times, plugins="nosuch")
    with pytest.raises(CustomCallError, match="^A handler that serves on no plugin was given"):
        registered.register(target, handler=times, plugins=[])
    assert not registered.table()


def test_what_is_no_handler_is_refused(registered, target, tmp_path):
    with pytest.raises(CustomCallError, match="^There is no machine code at address 0x1000"):
        registered.register(target, handler=jax.ffi.pycapsule(4096))
    with pytest.raises(CustomCallError, match="^42 cannot be a handler"):
        registered.register(target, handler=42)
    with pytest.raises(CustomCallError, match="was given neither a handler nor a fallback"):
        registered.register(target)
    with pytest.raises(UsageError, match="was given both a library and a handler"):
        registered.register(target, library="x.so", handler=times)
    with pytest.raises(UsageError, match="was given the symbol `f` and no library"):
        registered.register(target, symbol="f")
    plain = compilers.compile_c(tmp_path / "plain.so", "int add(int a, int b) { return a + b; }")
    # A segfault when jax.ffi is given it.
    with pytest.raises(km.KernelMagicsError, match="`add` of `plain.so`"):
        registered.register(target, handler=ctypes.CDLL(str(plain)).add)
    assert not registered.table()


def test_functions_of_libraries_and_capsules(registered, target, tmp_path, at):
    x = jax.device_put(X, at(registered))
    call = jax.jit(lambda x: registered.call(target, x, results=jax.ShapeDtypeStruct((4,), "f4")))
    twice = compilers.times(tmp_path / "twice.so", 2)
    registered.register(target, library=twice, symbol="times")
    np.testing.assert_array_equal(call(x), 2 * X)
    five = ctypes.CDLL(str(compilers.times(tmp_path / "five.so", 5)))
    registered.register(target, handler=five.times)
    np.testing.assert_array_equal(call(x), 5 * X)
    # Newer than any host: the trampoline answers for it.
    newer = compilers.times(tmp_path / "newer.so", 7, version=(0, 99))
    registered.register(target, handler=jax.ffi.pycapsule(ctypes.CDLL(str(newer)).times))
    np.testing.assert_array_equal(call(x), 7 * X)


def test_the_table_tells_who_serves_what(calls, target):
    calls.register(target, handler=times, contract=CONTRACT, fallback=times)
    calls.register(f"{target}.other", fallback=lambda x: x)
    calls.serve({"norm": target})
    for _ in range(3):
        jax.block_until_ready(calls.call(target, X, k=2.0))
    row = calls.table()[target]
    assert (row.handlers, row.calls, row.errors, row.state) == (("times",), 3, 0, "served")
    assert row.mean_us is not None
    assert row.mean_us > 0
    assert row.blocks == ("norm",)
    assert calls.table()[f"{target}.other"].state == "fallback"
    shown = repr(calls.table())
    assert target in shown
    assert CONTRACT in shown
    assert "<td>times</td>" in calls.table()._repr_html_()
    calls.register("test.<b>", handler=times)
    assert "<b>" not in calls.table()._repr_html_()
    calls.reset()
    assert repr(calls.table()) == "no custom calls are registered"


def test_unknown_targets_are_told_with_near_names(registered):
    registered.register("test.norm", handler=times)
    with pytest.raises(CustomCallError) as caught:
        registered.unregister("test.nrm")
    assert (
        str(caught.value)
        == """No custom call `test.nrm` is registered; did you mean `test.norm`?
  registered: test.norm
  `km.custom_calls.register("test.nrm", …)` registers it."""
    )
    with pytest.raises(CustomCallError, match="Nobody serves the custom call `test.nobody`"):
        registered.call("test.nobody", X, results=jax.ShapeDtypeStruct((4,), "f4"))
    with pytest.raises(SignatureError, match="Nothing says what the custom call"):
        registered.call("test.nobody", X)
