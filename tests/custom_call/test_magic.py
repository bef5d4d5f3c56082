"""`%%custom_call` in shells and in real kernels: built, replaced live, refused in words."""

import re
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import BuildError, HandlerError, SignatureError, UsageError
from tests.cells import run
from tests.custom_call.builds import BODY, RMS, cache_of, doubling
from tests.custom_call.compilers import compile_c, needs, times
from tests.kernels import Kernel

X = np.arange(6, dtype=np.float32).reshape(2, 3)
NORMED = X / np.sqrt((X * X).mean(1, keepdims=True) + np.float32(1e-6))
IN_C = "%%custom_call lab.norm --language c\n"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    needs("g++")
    needs("gcc")
    yield from cache_of(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    yield
    km.custom_calls.reset()


@pytest.fixture(scope="module")
def kernel(cache) -> Iterator[Kernel]:
    """A real kernel, with the cache of the tests."""
    del cache
    kernel = Kernel()
    setup = kernel.run("import jax, jax.numpy as jnp, numpy as np, kernel_magics as km; import os")
    assert setup.status == "ok", setup
    yield kernel
    kernel.close()


def shown(shell, code: str) -> str:
    """What a cell says, durations left out."""
    value, captured = run(shell, code)
    assert value.lines[0] in captured.stdout
    return re.sub(r"in \d+\.\d s", "in some time", repr(value))


def refused(shell, code: str, error) -> str:
    with pytest.raises(error) as caught:
        run(shell, code)
    return str(caught.value)


def test_a_cell_becomes_a_target_that_jax_and_mlir_call(shell):
    assert shown(shell, IN_C + BODY) == (
        "lab.norm: built with gcc in some time · tried in a child process: (f32[3,5]) -> "
        "(f32[3,5]), eps = 9.999999974752427e-07\n"
        "  (x: f32[b, n], eps: f32 = 1e-06) -> y: f32[b, n]"
    )
    found = jax.jit(lambda x: km.custom_calls.call("lab.norm", x))(X)
    np.testing.assert_allclose(found, NORMED, rtol=1e-5)
    run(shell, """%%hlo norm
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @lab.norm(%x) {api_version = 4 : i32, backend_config = {eps = 1.0e-6 : f32}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}""")  # fmt: skip
    np.testing.assert_allclose(shell.user_ns["norm"](X)[0], NORMED, rtol=1e-5)


def test_an_edited_cell_replaces_what_compiled_functions_call(shell):
    run(shell, IN_C + BODY)
    function = jax.jit(lambda x: km.custom_calls.call("lab.norm", x))
    np.testing.assert_allclose(function(X), NORMED, rtol=1e-5)
    edited = shown(shell, IN_C + BODY.replace("y[i] = x", "y[i] = 3 * x"))
    assert edited.split("\n")[-1] == (
        "  replaces the handler before it, in functions compiled before, too"
    )
    np.testing.assert_allclose(function(X), 3 * NORMED, rtol=1e-5)
    again = shown(shell, IN_C + BODY.replace("y[i] = x", "y[i] = 3 * x"))
    assert again == (
        "lab.norm: built before · tried in a child process before\n"
        "  (x: f32[b, n], eps: f32 = 1e-06) -> y: f32[b, n]\n  is the handler that it was"
    )


def test_whole_functions_in_cpp_are_handlers(shell):
    code = "%%custom_call lab.norm\n// contract: (x: f32[b, n], eps: f32) -> f32[b, n]\n" + RMS
    assert "tried in a child process: (f32[3,5]) -> (f32[3,5]), eps = 1.0" in shown(shell, code)
    found = km.custom_calls.call("lab.norm", jnp.asarray(X), eps=1e-6)
    np.testing.assert_allclose(found, NORMED, rtol=1e-5)


def test_a_cell_that_fails_leaves_the_handler_that_was(shell):
    run(shell, IN_C + BODY)
    function = jax.jit(lambda x: km.custom_calls.call("lab.norm", x))
    function(X)
    broken = BODY.replace("y[i] = x", "y[i + n] = x")
    assert refused(shell, IN_C + broken, HandlerError).startswith(
        "`lab_norm` of cell `lab.norm` writes up to 20 bytes behind result 1\n"
    )
    assert refused(shell, IN_C + BODY.replace("y[i]", "z[i]"), BuildError) == (
        "`gcc` refused the source: 1 error\n"
        "  cell:6:53\n"
        "    for (int64_t i = row * n; i < (row + 1) * n; ++i) z[i] = x[i] / sqrtf(sum / n + eps);\n"
        "                                                      ^ `z` undeclared (first use in this "
        "function)\n"
        "  Correct the source and run it again."
    )
    np.testing.assert_allclose(function(X), NORMED, rtol=1e-5)


def test_no_trial_is_said(shell):
    crash = doubling("*(volatile int*)0 = 1;")
    assert shown(shell, f"%%custom_call lab.crash --language c --no-trial\n{crash}").startswith(
        "lab.crash: built with gcc in some time · not tried: --no-trial\n"
    )
    assert "not tried" in repr(km.custom_calls.table())


def test_warnings_stand_in_the_cell(shell):
    text = shown(shell, "%%custom_call t --language c\n" + doubling("int unused; y[0] = 1;"))
    assert text.endswith(
        "\ncell:3:5\n  int unused; y[0] = 1;\n      ^^^^^^ warning: unused variable `unused`"
    )


def test_symbols_are_chosen_or_asked_for(shell):
    two = RMS + RMS.replace("RmsNorm", "Other").replace("(rms_norm,", "(other,")
    assert refused(shell, f"%%custom_call third\n{two}", UsageError) == (
        "The cell has 2 handlers, and none is called `third`\n"
        "  handlers: rms_norm, other\n  `--symbol NAME` says which one is meant."
    )
    run(shell, f"%%custom_call third --symbol other\n{two}")
    run(shell, f"%%custom_call rms_norm\n{two}")
    served = [km.custom_calls.registration(t).served[0].handler.name for t in ("third", "rms_norm")]
    assert served == ["other in cell `third`", "rms_norm in cell `rms_norm`"]


def test_words_that_are_not_understood_are_refused(shell):
    assert refused(shell, "%%custom_call\n", UsageError).startswith(
        "`%%custom_call`: the following arguments are required: TARGET\n"
    )
    assert refused(shell, "%%custom_call t --language rust\nx", UsageError).startswith(
        "`%%custom_call`: argument --language: invalid choice: 'rust'"
    )
    assert refused(shell, "%%custom_call t\nint f;", UsageError).startswith(
        "There is no handler in the cell\n"
    )


def test_help_needs_no_body(shell):
    value, captured = run(shell, "%%custom_call --help")
    assert value is None
    assert "usage: %%custom_call" in captured.stdout


def test_calls_that_do_not_fit_are_refused_where_they_stand(shell):
    run(shell, IN_C + BODY)
    cell = """%%hlo
func.func @main(%x: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %0 = stablehlo.custom_call @lab.norm(%x) {api_version = 4 : i32, backend_config = {eps = 1.0e-6 : f32}} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}"""  # fmt: skip
    message = refused(shell, cell, SignatureError)
    assert message.startswith(
        "Custom call `lab.norm`: f32[1,3] is declared as its result; it gives f32[2,3]\n"
        "  cell:3:8\n    %0 = stablehlo.custom_call @lab.norm(%x) {"
    )
    message = refused(shell, cell.replace("1x3", "2x3").replace(" : f32}", " : f64}").replace("1.0e-6", "1.0e300"), SignatureError)  # fmt: skip
    assert message.startswith(
        "Custom call `lab.norm`: the attribute `eps: f32` does not fit: 1e+300 does not fit into f32\n"
        "  cell:3:8\n"
    )
    with pytest.raises(SignatureError) as error:
        jax.jit(lambda x: km.custom_calls.call("lab.norm", x))(X.astype(np.int32))
    assert error.value.what == "Custom call `lab.norm`: `x` is i32[2,3]; f32[b, n] is wanted"


def test_the_line_magic_shows_targets_libraries_and_builds(shell, tmp_path, cache):
    run(shell, IN_C + BODY)
    path = times(tmp_path / "libtimes.so")
    km.custom_calls.register_library("lab", path)
    value, _ = run(shell, "%hlo calls")
    *table, library, builds = repr(value).split("\n")
    assert repr(km.custom_calls.table()).split("\n") == table
    assert library == f"library lab: {path}"
    assert re.fullmatch(rf"builds: [\d,]+ of 1,024 MiB in {re.escape(str(cache))}", builds)


def test_libraries_and_builds_are_registered_from_python(tmp_path):
    path = times(tmp_path / "libtimes.so", 2)
    kind = km.custom_calls.contract("(f32[n]) -> f32[n]")
    km.custom_calls.register_library("lab", path)
    known = km.custom_calls.register("times", library="lab", contract=kind)
    assert known.is_tried
    function = jax.jit(lambda x: km.custom_calls.call("times", x))
    np.testing.assert_array_equal(function(X[0]), 2 * X[0])
    # Built again at the same place: the dynamic linker alone would give the old code.
    times(path, 5)
    km.custom_calls.register("times", library=path)
    np.testing.assert_array_equal(function(X[0]), 5 * X[0])
    built = km.custom_calls.build(doubling(), language="c", name="times")
    known = km.custom_calls.register("times", library=built, trial=False)
    assert not known.is_tried
    assert str(known.contract) == "(x: f32[n]) -> y: f32[n]"
    np.testing.assert_array_equal(function(X[0]), 2 * X[0])


BAD = [
    ("a missing file", 'km.custom_calls.register("t", library="/nosuch/lib.so")', "LibraryError"),
    ("a text", 'km.custom_calls.register("t", library="/etc/passwd")', "LibraryError"),
    ("another machine", 'km.custom_calls.register("t", library=arm)', "LibraryError"),
    ("no such symbol", 'km.custom_calls.register("t", library=plain, symbol="fa")', "LibraryError"),
    ("a plain function", 'km.custom_calls.register("t", library=plain, symbol="far")', "LibraryError"),
    ("a crash on loading", 'km.custom_calls.register("t", library=crash)', "LibraryError"),
    ("another version", 'km.custom_calls.register("t", library=major)', "LibraryError"),
    ("a segfault", "%%custom_call t --language c\n" + doubling("*(volatile int*)0 = 1;"), "HandlerError"),
    ("an abort", "%%custom_call t --language c\n" + doubling("abort();"), "HandlerError"),
    ("an overrun", "%%custom_call t --language c\n" + doubling("for (int i = 0; i < n + 9; ++i) y[i] = 1;"), "HandlerError"),
    ("an endless loop", "%%custom_call t --language c --timeout 4\n" + doubling("for (volatile int i = 0;;) i = 1;"), "HandlerError"),
    ("an error", "%%custom_call t --language c\n" + doubling('return "no";'), "HandlerError"),
    ("an exception", "%%custom_call t\n// contract: (f32[n]) -> f32[n]\n" + RMS.replace("  int64_t n =", '  throw std::runtime_error("boom");\n  int64_t n =').replace('.Attr<float>("eps")', "").replace("float eps, ", "").replace("+ eps", ""), "HandlerError"),
    ("another binding", "%%custom_call t\n// contract: (i32[n]) -> f32[n]\n" + RMS, "HandlerError"),
    ("a compiler error", "%%custom_call t --language c\n" + doubling("z = 1;"), "BuildError"),
    ("no handler", "%%custom_call t\nint f;", "UsageError"),
    ("wrong arity", "km.custom_calls.call('good', x, x)", "SignatureError"),
    ("wrong dtype", "km.custom_calls.call('good', x.astype(int))", "SignatureError"),
    ("wrong attributes", "km.custom_calls.call('good', x, k=1)", "SignatureError"),
    ("too small a result", "km.custom_calls.call('good', x, results=jax.ShapeDtypeStruct((1,), 'float32'))", "SignatureError"),
]  # fmt: skip


@pytest.fixture(scope="module")
def bad_libraries(kernel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    plain = compile_c(folder / "plain.so", "int far(int* a) { *(volatile int*)0 = *a; return 0; }")
    arm = bytearray(plain.read_bytes())
    arm[18] = 0xB7
    (folder / "arm.so").write_bytes(arm)
    times(folder / "major.so", version=(1, 0))
    head = "#include <signal.h>\n__attribute__((constructor)) static void f(void) "
    compile_c(folder / "crash.so", head + "{ raise(SIGSEGV); }")
    names = "; ".join(f'{name} = "{folder}/{name}.so"' for name in ("plain", "arm", "major", "crash"))  # fmt: skip
    reply = kernel.run(f"{names}; x = jnp.arange(4.)")
    assert reply.status == "ok", reply
    reply = kernel.run("%%custom_call good --language c\n" + doubling())
    assert reply.status == "ok", reply


@pytest.mark.usefixtures("bad_libraries")
@pytest.mark.parametrize(("code", "error"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_no_bad_input_ends_the_kernel(kernel, code, error):
    reply = kernel.run(code)
    assert (reply.status, reply.error) == ("error", error), reply
    alive = kernel.run("print(km.custom_calls.call('good', x), jnp.ones(2) + 1)")
    assert alive.status == "ok", alive
    assert alive.output == "[0. 2. 4. 6.] [2. 2.]\n"


def test_kernels_show_what_goes_on_and_stop_when_asked(kernel):
    """A source that takes minutes."""
    slow = "constexpr long count(long n) { return n < 2 ? 1 : count(n - 1) + count(n - 2); }\n"
    lines = "".join(f'static_assert(count(24 + {i} % 2) > 0, "");\n' for i in range(4000))
    sent = kernel.send(f"%%custom_call slow\n{slow}{lines}{doubling()}")
    interrupted_when_shown(kernel, sent)
    reply = kernel.run("print(jnp.ones(2) + 1)")
    assert reply.output == "[2. 2.]\n"
    work = "print([e for e in os.listdir(os.environ['KERNEL_MAGICS_CACHE']) if 'work-' in e])"
    assert kernel.run(work).output == "[]\n"


def test_what_goes_on_gives_way_to_what_came_of_it(kernel):
    reply = kernel.run("%%custom_call shown --language c\n" + doubling("y[0] = 5 + 0 * n;"))
    assert reply.status == "ok", reply
    texts = [data["text/plain"] for data in reply.data]
    assert texts[0] == "shown: compiling with gcc …"
    assert re.sub(r"\d+\.\d s", "some time", texts[-1]) == (
        "shown: built with gcc in some time · tried in a child process: (f32[3]) -> (f32[3])\n"
        "  (x: f32[n]) -> y: f32[n]"
    )
    # The value of the cell can be shown once more.
    again = kernel.run("_")
    assert [data["text/plain"] for data in again.data] == texts[-1:]


def interrupted_when_shown(kernel, sent: str) -> None:
    """Interrupts a cell once it says that it compiles; it ends as a cell that was interrupted."""
    said = ""
    while True:
        message = kernel._client.get_iopub_msg(timeout=120)
        if message["parent_header"].get("msg_id") != sent:
            continue
        content = message["content"]
        if message["msg_type"] in ("display_data", "update_display_data"):
            text = content["data"]["text/plain"]
            if text.startswith("slow: compiling with g++ …") and not said:
                said = text
                kernel.interrupt()
        if message["msg_type"] == "error":
            assert said
            assert content["ename"] == "CompileInterrupted"
            assert content["evalue"] == (
                "Interrupted while the handler of `slow` was made; nothing goes on in the "
                "background\n  The target keeps the handler that it had.\n  Run the cell again."
            )
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            assert said
            return
