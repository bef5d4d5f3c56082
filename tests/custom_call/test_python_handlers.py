"""Python functions as handlers, callbacks and prints, within compiled programs on every plugin."""

import gc
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kernel_magics.custom_call import callback as callbacks
from kernel_magics.custom_call.callback import callback, debug_print
from kernel_magics.errors import CustomCallError, UsageError
from tests.custom_call.places import device

X = np.arange(4, dtype=np.float32)
S = jax.ShapeDtypeStruct
_numbers = itertools.count()


@pytest.fixture
def target() -> str:
    return f"test.python{next(_numbers)}"


def same(x):
    return S(x.shape, x.dtype)


DTYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32",
          "complex64", "bfloat16", "float8_e5m2", "float8_e4m3fn")  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_each_type_come_and_go(registered, target, dtype, at):
    x = jnp.asarray(np.arange(6).reshape(2, 3)).astype(dtype)
    seen = []

    def twice(x):
        seen.append((x.dtype, x.shape))
        return np.stack([x, x])

    registered.register(target, handler=twice)
    wanted = S((2, 2, 3), dtype)
    found = registered.call(target, jax.device_put(x, at(registered)), results=wanted)
    np.testing.assert_array_equal(np.asarray(found), np.stack([x, x]))
    assert seen == [(np.dtype(dtype), (2, 3))]


def test_arrays_without_dimensions_or_elements(registered, target):
    registered.register(target, handler=lambda x, y: (x + 1, y))
    kinds = [S((), "f4"), S((0, 3), "i4")]
    one, none = registered.call(target, np.float32(2), np.zeros((0, 3), "i4"), results=kinds)
    assert one == 3
    assert none.shape == (0, 3)


def test_attributes_come_as_numpy_has_them(registered, target, at):
    seen = {}

    def work(x, **attributes):
        seen.update(attributes)
        return x

    registered.register(target, handler=work)
    given = {
        "one": np.float32(1.5),
        "two": 2,
        "yes": True,
        "word": "some text",
        "axes": np.array([3, 1, 2]),
        "more": {"inner": np.int32(7), "name": "deep"},
    }
    x = jax.device_put(X, at(registered))
    jax.block_until_ready(registered.call(target, x, results=same(X), **given))
    assert seen["one"] == np.float32(1.5)
    assert seen["one"].dtype == np.float32
    assert (seen["two"], seen["two"].dtype) == (2, np.int64)
    assert seen["yes"]
    assert seen["word"] == "some text"
    np.testing.assert_array_equal(seen["axes"], [3, 1, 2])
    assert seen["more"] == {"inner": 7, "name": "deep"}


def test_what_a_handler_is_given_stays_valid(registered, target):
    kept = []

    def keep(x):
        kept.append(x)
        return x

    registered.register(target, handler=keep)
    for i in range(20):
        jax.block_until_ready(registered.call(target, np.full(4, i, "f4"), results=same(X)))
    gc.collect()
    np.testing.assert_array_equal(np.stack(kept)[:, 0], np.arange(20))


def test_exceptions_come_out_with_text_and_traceback(calls, target, at):
    def fails(x):
        raise KeyError(f"no row {int(x[1])}")

    calls.register(target, handler=fails)
    x = jax.device_put(X, at(calls))
    with pytest.raises(Exception, match="INTERNAL: .*fails failed: KeyError: 'no row 1'") as caught:
        jax.block_until_ready(calls.call(target, x, results=same(X)))
    shown = str(caught.value)
    assert 'raise KeyError(f"no row {int(x[1])}")' in shown
    assert __file__ in shown
    assert "python_handler.py" not in shown
    calls.register(target, handler=lambda x: x)
    np.testing.assert_array_equal(calls.call(target, x, results=same(X)), X)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (X[:2], r"gave float32\[2\] as result 0, and float32\[4\] is wanted"),
        (X.astype("c8"), r"gave complex64\[4\] as result 0, and float32\[4\] is wanted"),
        ((X, X), "gave 2 arrays, and the call has 1 results"),
        (None, r"gave object\[\] as result 0, and float32\[4\] is wanted"),
    ],
)
def test_results_that_do_not_fit(registered, target, given, words):
    registered.register(target, handler=lambda x: given)
    with pytest.raises(Exception, match=words):
        jax.block_until_ready(registered.call(target, X, results=same(X)))


@pytest.mark.parametrize(
    "work",
    [
        lambda x: jnp.sin(x),
        lambda x: jax.jit(lambda x: x + 1)(x),
        lambda x: jax.device_put(x),
        lambda x: compiled(x),
    ],
)
def test_a_handler_that_calls_jax_is_refused_and_does_not_hang(registered, target, work, at):
    compiled(X)
    registered.register(target, handler=work)
    x = jax.device_put(X, at(registered))
    with pytest.raises(
        Exception, match="A handler called JAX (.*), which can wait for the handler"
    ):
        jax.block_until_ready(registered.call(target, x, results=same(X)))
    np.testing.assert_array_equal(jnp.asarray(X) + 1, X + 1)


@jax.jit
def compiled(x):
    return x + 1


def test_a_cfunc_of_numba_is_a_handler(registered, target, at):
    import numba
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def pointer(typing_context, address):
        del typing_context

        def made(context, builder, signature, args):
            del context, signature
            return builder.inttoptr(args[0], cgutils.voidptr_t)

        return types.voidptr(address), made

    @numba.cfunc("intp(intp)")
    def tripled(frame):
        # In words of 8 bytes: the values of the arguments are the 9th, of the results the 14th.
        words = numba.carray(pointer(frame), 15, np.int64)
        source = numba.carray(pointer(numba.carray(pointer(words[9]), 1, np.int64)[0]), 6, np.int64)
        drain = numba.carray(pointer(numba.carray(pointer(words[14]), 1, np.int64)[0]), 6, np.int64)
        count = numba.carray(pointer(source[5]), 1, np.int64)[0]
        x = numba.carray(pointer(source[3]), count, np.float32)
        y = numba.carray(pointer(drain[3]), count, np.float32)
        for i in range(count):
            y[i] = 3 * x[i]
        return 0

    registered.register(target, handler=tripled)
    x = jax.device_put(X, at(registered))
    np.testing.assert_array_equal(registered.call(target, x, results=same(X)), 3 * X)
    row = registered.table()[target]
    assert (row.calls, row.errors) == (1, 0)
    assert row.handlers[0].endswith("tripled")


def test_a_cfunc_of_another_signature_is_refused(registered, target):
    class Other:
        """As numba makes it."""

        address, native_name, __name__ = 4096, "other", "other"
        ctypes = None

    with pytest.raises(CustomCallError) as caught:
        registered.register(target, handler=Other())
    assert (
        str(caught.value)
        == """`other` cannot be the handler of a custom call
  wanted: `intp(intp)`, the address of a call frame to that of an error or 0
  Declare it as `@numba.cfunc("intp(intp)")`."""
    )


def test_callbacks_on_every_plugin(registered, at):
    x = jax.device_put(X, at(registered))

    def work(a, b):
        return {"sum": a["x"] + b[0], "count": np.int32(a["x"].size)}

    kinds = {"sum": same(X), "count": S((), "i4")}

    @jax.jit
    def function(x):
        found = callback(work, kinds, {"x": x}, (x,), registry=registered)
        return found["sum"] + found["count"]

    np.testing.assert_array_equal(function(x), 2 * X + 4)
    np.testing.assert_array_equal(callback(lambda v: 5 * v, same(X), x, registry=registered), 5 * X)


def test_callbacks_in_batches(registered):
    shapes = []

    def work(x):
        shapes.append(x.shape)
        return 2 * x

    def call(method):
        return jax.vmap(
            lambda x: callback(work, same(x), x, vmap_method=method, registry=registered)
        )

    batch = np.stack([X, X + 1, X + 2])
    np.testing.assert_array_equal(call("sequential")(batch), 2 * batch)
    np.testing.assert_array_equal(call("broadcast_all")(batch), 2 * batch)
    assert shapes == [(4,)] * 3 + [(3, 4)]
    with pytest.raises(CustomCallError, match="cannot be batched"):
        call(None)(batch)


def test_callbacks_go_with_what_carries_them(registered):
    def run() -> None:
        function = jax.jit(lambda x: callback(lambda v: v + 1, same(x), x, registry=registered))
        np.testing.assert_array_equal(function(X), X + 1)

    gc.collect()
    before = len(callbacks._carried)
    run()
    assert len(callbacks._carried) == before + 1
    jax.clear_caches()
    gc.collect()
    assert len(callbacks._carried) <= before


def test_prints_on_every_plugin(registered, at, capsys):
    x = jax.device_put(X, at(registered))

    @jax.jit
    def function(x):
        debug_print("{} has sum {total:.2f}", x, total=x.sum(), registry=registered)
        return jax.lax.fori_loop(
            0, 2, lambda i, c: (debug_print("i={}", i, registry=registered), c + 1)[1], x
        )

    np.testing.assert_array_equal(jax.block_until_ready(function(x)), X + 2)
    jax.effects_barrier()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == ["[0. 1. 2. 3.] has sum 6.00", "i=0", "i=1"]
    jax.vmap(lambda x: debug_print("one {}", x, registry=registered))(x[:2])
    jax.effects_barrier()
    assert sorted(capsys.readouterr().out.splitlines()) == ["one 0.0", "one 1.0"]
    jax.grad(lambda x: (debug_print("under grad", registry=registered), x.sum())[1])(x)
    jax.effects_barrier()
    assert capsys.readouterr().out == "under grad\n"


@pytest.mark.parametrize(
    ("text", "args", "problem"),
    [
        ("{} {}", (1,), "it takes 2 values, and 1 are given"),
        ("{x}", (), "it has no value for `{x}`"),
        ("{", (), "Single '{' encountered in format string"),
        ("nothing", (1,), "it takes 0 values, and 1 are given"),
    ],
)
def test_formats_that_do_not_fit(text, args, problem):
    with pytest.raises(UsageError) as caught:
        debug_print(text, *args)
    assert str(caught.value) == (
        f"The format {text!r} cannot be printed: {problem}\n"
        "  Give a value for each `{}`, and braces that are meant as such twice."
    )


@pytest.mark.parametrize(
    ("use", "name", "remedy"),
    [
        (lambda x: jax.pure_callback(lambda v: v, same(x), x), "jax.pure_callback", "callback(fn"),
        (lambda x: jax.debug.print("{}", x), "jax.debug.print", "debug_print(format"),
        (lambda x: jax.debug.callback(print, x), "jax.debug.callback", "debug_print(format"),
    ],
)
def test_callbacks_of_jax_are_refused_on_plugins_before_the_compile(registered, use, name, remedy):
    zml = jax.device_put(X, device("zml", registered))
    with pytest.raises(CustomCallError) as caught:
        jax.jit(use).lower(zml)
    shown = str(caught.value)
    assert shown.startswith(f"`{name}` does not work on the plugin `zml`\n")
    assert remedy in shown
    jax.block_until_ready(jax.jit(use)(X))
    jax.effects_barrier()
