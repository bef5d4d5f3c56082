"""Calls of registered targets under JAX's transformations, in exports, in threads, with limits."""

import itertools
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import CompileError, CustomCallError, SignatureError
from tests.custom_call.test_registry import CONTRACT, plus, text, times

X = np.arange(4, dtype=np.float32)
_numbers = itertools.count()


@pytest.fixture
def target() -> str:
    return f"test.calls{next(_numbers)}"


def test_batches_and_derivatives(registered, target):
    registered.register(target, handler=times, contract=CONTRACT, fallback=times)
    call = jax.jit(lambda x: registered.call(target, x, k=3.0))
    np.testing.assert_array_equal(jax.grad(lambda x: call(x).sum())(X), np.full(4, 3, "f4"))
    batch = np.stack([X, X + 1])
    np.testing.assert_array_equal(jax.vmap(call)(batch), 3 * batch)
    for method in ("sequential", "sequential_unrolled"):
        registered.register(target, vmap_method=method)
        np.testing.assert_array_equal(jax.vmap(call)(batch), 3 * batch)
    for method in ("broadcast_all", "expand_dims"):
        registered.register(target, vmap_method=method)
        with pytest.raises(SignatureError, match=f"batched by `vmap_method='{method}'`"):
            jax.vmap(call)(batch)
    registered.register(target, contract="(f32[..., n], k: f32) -> f32[..., n]")
    np.testing.assert_array_equal(jax.vmap(call)(batch), 3 * batch)
    # A program that calls it has the same derivative.
    program = km.load(text(target))
    np.testing.assert_array_equal(jax.grad(lambda x: program(x)[0].sum())(X), np.full(4, 3, "f4"))


def test_a_rule_is_the_derivative(registered, target):
    def vjp(arguments, results, cotangents, *, k):
        assert len(arguments) == len(results) == 1
        return (7 * k * cotangents[0],)

    registered.register(target, handler=times, contract=CONTRACT, vjp=vjp)
    call = jax.jit(lambda x: registered.call(target, x, k=3.0))
    np.testing.assert_array_equal(jax.grad(lambda x: call(x).sum())(X), np.full(4, 21, "f4"))


def test_neither_fallback_nor_rule(registered, target):
    registered.register(target, handler=times, contract=CONTRACT)
    with pytest.raises(CustomCallError) as caught:
        jax.grad(lambda x: registered.call(target, x, k=3.0).sum())(X)
    assert (
        str(caught.value)
        == f"""The custom call `{target}` cannot be differentiated
  it was registered with neither a fallback nor a derivative
  Register it with `fallback=`, whose derivative is taken, or with `vjp=`."""
    )
    with pytest.raises(CustomCallError) as caught:
        jax.vmap(lambda x: registered.call(target, x, k=3.0))(np.stack([X, X]))
    assert (
        str(caught.value)
        == f"""The custom call `{target}` cannot be batched
  it was registered with neither a fallback nor a `vmap_method`
  `vmap_method="sequential"` calls it once for each element of a batch."""
    )


def test_an_export_leaves_it_open_who_serves(registered, target):
    registered.register(target, handler=times, contract=CONTRACT, fallback=times)
    check = jax.export.DisabledSafetyCheck.custom_call(target)
    function = jax.jit(lambda x: registered.call(target, x, k=2.0))
    exported = jax.export.export(function, disabled_checks=[check])(jnp.asarray(X))
    assert f"@{target}" in exported.mlir_module()
    np.testing.assert_array_equal(exported.call(X), 2 * X)


def test_two_threads_register_at_once(registered, target):
    registered.register(target, handler=times, contract=CONTRACT)
    function = jax.jit(lambda x: registered.call(target, x, k=2.0))
    start, problems = threading.Barrier(5), []

    def run(number: int) -> None:
        try:
            start.wait(60)
            for i in range(20):
                registered.register(f"{target}.{number}.{i}", handler=times)
                registered.register(target, handler=times if i % 2 else plus)
                function(X)
        except Exception as error:  # noqa: BLE001 - told by the thread that waits
            problems.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    start.wait(60)
    for thread in threads:
        thread.join(120)
    assert not problems
    assert len(registered.table()) == 81
    registered.register(target, handler=times)
    np.testing.assert_array_equal(function(X), 2 * X)


def test_reads_at_trace_time_take_no_lock(registered, target):
    registered.register(target, handler=times, contract=CONTRACT, fallback=times)
    registered.call(target, X, k=1.0)  # a client is met once
    done = threading.Event()

    def trace() -> None:
        jax.jit(lambda x: registered.call(target, x, k=4.0)).lower(X)
        km.load(text(target)).lower(X)
        done.set()

    with registered.serving._lock:
        thread = threading.Thread(target=trace)
        thread.start()
        assert done.wait(60)
    thread.join(60)


def test_a_call_within_a_time_limit_needs_no_handler_of_the_kernel(registered, target):
    registered.register(target, handler=times, contract=CONTRACT)
    function = km.load(text(target))
    function.limit_s = 120
    with pytest.raises(CompileError) as caught:
        function(X)
    assert (
        str(caught.value)
        == """`@main` cannot run within a time limit
  it calls handlers of this kernel, and would run in a child process
  Set `limit_s` to None."""
    )
    function.limit_s = None
    np.testing.assert_array_equal(function(X)[0], 3 * X)
