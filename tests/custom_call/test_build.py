"""Sources of handlers become libraries, or errors that point into the source."""

import shutil
import threading
from pathlib import Path

import jax
import numpy as np
import pytest

from kernel_magics.custom_call import build as building
from kernel_magics.custom_call.build import build
from kernel_magics.custom_call.diagnostics import errors_of, read_messages
from kernel_magics.custom_call.probe import ffi_version
from kernel_magics.errors import BuildError, UsageError
from kernel_magics.ir.source import Source
from kernel_magics.sandbox.arrays import read_arrays
from kernel_magics.sandbox.handlers import HandlerCall
from kernel_magics.sandbox.kernel import kernel_sandbox
from tests.custom_call.builds import BODY, RMS, cache_of, doubling
from tests.custom_call.compilers import needs


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    needs("g++")
    needs("gcc")
    yield from cache_of(tmp_path_factory.mktemp("cache"))


def refused(error, source, **options) -> str:
    with pytest.raises(error) as caught:
        build(source, **options)
    return str(caught.value)


def called(made, arguments, results, **attributes) -> list[np.ndarray]:
    """What the one handler of a build gives, called in the sandbox."""
    kinds = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results]
    call = HandlerCall(made.library.file, made.library.symbols[0], arguments, kinds, attributes)
    found = kernel_sandbox().request("call_handler", *call.message(), timeout_s=120)
    assert getattr(found, "text", "") == ""
    assert found.head["findings"] == []
    return read_arrays(found.head["results"], found.blobs)


X = np.arange(6, dtype=np.float32).reshape(2, 3)
NORMED = X / np.sqrt((X * X).mean(1, keepdims=True) + np.float32(1e-6))


@pytest.mark.parametrize(
    ("source", "language"), [(RMS, "c++"), (BODY, "c++"), (BODY, "c")], ids=["whole", "body", "c"]
)
def test_sources_become_handlers_that_work(source, language, cache):
    made = build(source, language=language, name="rms_norm")
    assert made.library.symbols == ("rms_norm",)
    assert not made.is_cached
    assert made.warnings == ()
    (found,) = called(made, [X], [(X.shape, X.dtype)], eps=np.float32(1e-6))
    np.testing.assert_allclose(found, NORMED, rtol=1e-6)
    again = build(source, language=language, name="rms_norm")
    assert again.is_cached
    assert again.library == made.library
    assert build(source + "\n// more", language=language, name="rms_norm").library.file != made.library.file  # fmt: skip
    left = [entry.name for entry in cache.iterdir() if entry.name.startswith("work-")]
    assert left == []


def test_whole_c_sources_are_handlers_too():
    made = build(
        """XLA_FFI_Error* nothing(XLA_FFI_CallFrame* frame) {
  XLA_FFI_Metadata_Extension* asked = (XLA_FFI_Metadata_Extension*)frame->extension_start;
  if (asked && asked->extension_base.type == XLA_FFI_Extension_Metadata) {
    asked->metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    asked->metadata->api_version.minor_version = XLA_FFI_API_MINOR;
  }
  return NULL;
}
static int helper(void) { return 1; }
int other(void) { return helper(); }
""",
        language="c",
    )
    assert made.library.symbols == ("nothing",)
    assert made.library.handler().ffi_version == ffi_version()


def test_bodies_have_arguments_attributes_and_sizes_of_every_kind():
    made = build(
        """#include <stdio.h>
static double half(double x) { return x / 2; }
// contract: (x: f64[..., n], i32[n], flag: bool[], z: c64[2], k: i64, w: f32 = 0.5,
//            axes: [i32] = [1, 2], mode: str = "abc", on: bool = true)
//            -> (y: f64[..., n*k], i8[3], c: c64[2]) where n % 2 == 1
#include <assert.h>
for (int64_t i = 0; i < leading; ++i)
  for (int64_t j = 0; j < n * k; ++j)
    y[i * n * k + j] = half(x[i * n + j % n]) + arg1[j % n] + w;
out1[0] = axes_size + axes[1];
out1[1] = mode_size + (mode[2] == 'c');
out1[2] = *flag + on;
c[0] = z[0], c[1] = z[1];
""",
        language="c",
        name="every kind",
    )
    assert made.library.symbols == ("every_kind",)
    x = np.arange(12, dtype=np.float64).reshape(2, 2, 3)
    i = np.array([1, 2, 3], np.int32)
    z = np.array([1 + 2j, 3 - 1j], np.complex64)
    checked = made.unit.contract.check("t", [x, i, np.array(True), z], {"k": 2})
    kinds = [(r.shape, r.dtype) for r in checked.results]
    y, o, c = called(made, [x, i, np.array(True), z], kinds, **checked.attributes)
    np.testing.assert_allclose(y, np.tile(x / 2 + i + 0.5, 2))
    np.testing.assert_array_equal(o, [4, 4, 2])
    np.testing.assert_array_equal(c, z)


def test_bodies_know_sizes_that_only_a_result_tells():
    made = build(
        "// contract: (x: f32[2*n]) -> (y: f32[n])\n"
        "for (int64_t i = 0; i < n; ++i) y[i] = x[2 * i];",
        language="c",
        name="even",
    )
    (found,) = called(made, [X.reshape(6)], [((3,), X.dtype)])
    np.testing.assert_array_equal(found, [0, 2, 4])


@pytest.mark.parametrize(
    ("arguments", "attributes", "problem"),
    [
        ([X], {"eps": np.float64(1)}, "the attribute `eps` is no f32"),
        ([X], {}, "the attribute `eps` is no f32"),
        ([X, X], {"eps": np.float32(1)}, "it takes 1 argument and gives 1 result"),
        ([X.astype(np.int32)], {"eps": np.float32(1)}, "`x` is no f32[b, n]"),
        ([X[0]], {"eps": np.float32(1)}, "`x` is no f32[b, n]"),
    ],
)
def test_bodies_are_called_with_what_their_contract_says_alone(arguments, attributes, problem):
    """Whatever a text declares: no body runs on arrays that it was not written for."""
    made = build(BODY, language="c", name="rms_norm")
    kind = jax.ShapeDtypeStruct(X.shape, X.dtype)
    call = HandlerCall(made.library.file, "rms_norm", arguments, [kind], attributes)
    found = kernel_sandbox().request("call_handler", *call.message(), timeout_s=120)
    assert found.text.split(": ", 1)[1].split("\n")[0] == problem


def test_results_smaller_than_the_contract_says_are_refused_by_the_handler_itself():
    made = build(BODY, language="c", name="rms_norm")
    call = HandlerCall(
        made.library.file,
        "rms_norm",
        [X],
        [jax.ShapeDtypeStruct((1, 3), X.dtype)],
        {"eps": np.float32(1)},
    )
    found = kernel_sandbox().request("call_handler", *call.message(), timeout_s=120)
    assert "`y` is no f32[b, n]" in found.text


def test_bodies_say_no_in_words():
    made = build(doubling('if (n > 2) return "n is too large"; y[0] = 1;'), language="c", name="f")
    call = HandlerCall(made.library.file, "f", [X[0]], [jax.ShapeDtypeStruct((3,), X.dtype)])
    found = kernel_sandbox().request("call_handler", *call.message(), timeout_s=120)
    assert found.text.startswith("INVALID_ARGUMENT: n is too large")


def test_compiler_errors_stand_at_the_lines_of_the_cell():
    text = RMS.replace("std::sqrt", "std::sqr").replace("return ffi", "retrn ffi")
    assert refused(BuildError, Source(text, "cell", first_line=3)) == (
        "`g++` refused the source: 2 errors\n"
        "  cell:8:28\n"
        "    float scale = 1 / std::sqr(sum / n + eps);\n"
        "                           ^^^ `sqr` is not a member of `std`; did you mean `sqrt`?\n"
        "  cell:11:3\n"
        "    retrn ffi::Error::Success();\n"
        "    ^^^^^ `retrn` was not declared in this scope\n"
        "  Correct the source and run it again."
    )
    with pytest.raises(BuildError) as error:
        build(Source(text, "cell", first_line=3))
    errors = errors_of(error.value.diagnostics)
    assert [(d.line, d.column) for d in errors] == [(8, 28), (11, 3)]


@pytest.mark.parametrize("language", ["c", "c++"])
def test_errors_in_a_body_stand_at_its_lines(language):
    text = "#include <stdio.h>\n\n" + doubling("y[0] = z[0];")
    message = refused(BuildError, Source(text, "cell", 2), language=language, name="f")
    assert "  cell:5:8\n    y[0] = z[0];\n           ^ `z` " in message


def test_errors_within_the_headers_stand_at_the_line_that_led_there():
    text = RMS.replace('.Attr<float>("eps")', "")
    message = refused(BuildError, Source(text, "cell", 2))
    assert message.startswith("`g++` refused the source: ")
    assert "  cell:12:1\n    XLA_FFI_DEFINE_HANDLER_SYMBOL(rms_norm, RmsNorm," in message
    assert "FFI binding signature is not compatible with a function type" in message
    assert message.endswith(
        "\n  A binding names what the function takes, in its order: attributes, arguments, results."
    )


def test_what_nothing_defines_stands_where_it_is_used():
    text = "float far(float);\n" + RMS.replace("std::sqrt(sum", "far(sum")
    assert refused(BuildError, Source(text, "cell", 2)) == (
        "`g++` refused the source: 1 error\n"
        "  cell:8:23\n"
        "    float scale = 1 / far(sum / n + eps);\n"
        "                      ^^^ `far(float)` is used, and nothing defines it\n"
        "  Correct the source and run it again."
    )


def test_columns_count_characters():
    text = doubling('/* é */ y[0] = "ß" + z;')
    message = refused(BuildError, Source(text, "cell", 2), language="c", name="f")
    assert "  cell:3:22\n" in message
    assert '    /* é */ y[0] = "ß" + z;\n                         ^' in message


def test_warnings_are_kept_and_stop_nothing():
    made = build(doubling("int unused; y[0] = x[0];"), language="c", name="f")
    (warning,) = made.warnings
    assert (warning.message, warning.line) == ("warning: unused variable `unused`", 2)


def test_clangs_words_are_read_too():
    messages = (
        "cell:4:3: error: use of undeclared identifier 'z'\n"
        "/x/api.h:9:1: error: static assertion failed\n"
        "cell:7:1: note: in instantiation of function template\n"
        "2 errors generated.\n"
    )
    source = Source("a\nb\nz + 1;\n", "cell", 2)
    found = read_messages(messages, source)
    assert [(d.message, d.line) for d in found] == [
        ("use of undeclared identifier 'z'", 4),
        ("static assertion failed", 0),
        ("in instantiation of function template", 7),
    ]


def test_no_compiler_is_said_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    advice = (
        "Install one: `apt install g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora), `conda "
        "install -c conda-forge cxx-compiler`, `xcode-select --install` (macOS)."
    )
    assert refused(BuildError, RMS) == (
        f"There is no C++ compiler on this machine\n  looked for: g++, clang++, c++\n  {advice}"
    )
    monkeypatch.setenv("CC", "nosuch -O3")
    assert refused(BuildError, doubling(), language="c", name="f") == (
        "There is no C compiler on this machine\n"
        f"  looked for: `nosuch -O3`, which `CC` names\n  {advice}"
    )


def test_the_compiler_that_the_environment_names_is_taken(monkeypatch, tmp_path):
    program = tmp_path / "my-gcc"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {needs("gcc")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("CC", f"{program} -DMINE=3")
    made = build(doubling("y[0] = MINE;"), language="c", name="mine")
    assert made.compiler.name == "my-gcc"
    assert "-DMINE=3" in (tmp_path / "calls").read_text()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "int f() { return 1; }",
            (
                "There is no handler in the text\n"
                "  whole functions: `XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)` makes one\n"
                "  a body alone: `// contract: (x: f32[n], k: f32) -> (y: f32[n])` stands before it\n"
                "  Add one of the two lines."
            ),
        ),
        (
            "// contract: (x: T[n]) -> (y: T[n])\ny[0] = x[0];",
            (
                "A body cannot be called as its contract says: `T` is no type of C\n"
                "  contract: (x: T[n]) -> y: T[n]\n"
                "  Change the contract, or write whole functions and "
                "`XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)`."
            ),
        ),
        (
            "// contract: (x: f32[2*n]) -> (y: f32[3*n])\ny[0] = x[0];",
            (
                "A body cannot be called as its contract says: no dimension is `n` by itself\n"
                "  contract: (x: f32[2*n]) -> y: f32[3*n]\n"
                "  Change the contract, or write whole functions and "
                "`XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)`."
            ),
        ),
        (
            "// contract: (x: f33[n]) -> ()\n",
            (
                "The contract cannot be read: `f33` is no type of elements\n"
                "  contract:1:5\n    (x: f33[n]) -> ()\n        ^^^\n"
                '  A contract looks like "(x: f32[b, n], w: f32[n], eps: f32 = 1e-6) -> f32[b, n]".'
            ),
        ),
    ],
)
def test_sources_without_a_handler_are_refused(source, message):
    assert refused(UsageError, source, language="c", name="f") == message


def test_builds_can_be_interrupted_and_leave_nothing(cache, monkeypatch):
    """A source that takes minutes: the compiler and its own children end with the build."""
    slow = "constexpr long count(long n) { return n < 2 ? 1 : count(n - 1) + count(n - 2); }\n"
    lines = [f'static_assert(count(24 + {i} % 2) > 0, "");\n' for i in range(4000)]
    source = slow + "".join(lines) + doubling()
    started: list[int] = []
    real = building.run_compiler

    def interrupting(compiler, flags, folder, *_):
        def told(*_):
            children = group_of(folder)
            if len(children) > 1 and not started:
                started.extend(children)
                raise KeyboardInterrupt

        return real(compiler, flags, folder, told, "compiling")

    monkeypatch.setattr(building, "run_compiler", interrupting)
    with pytest.raises(KeyboardInterrupt):
        build(source, name="slow", language="c++")
    assert started
    assert all(not is_running(pid) for pid in started)
    assert [entry.name for entry in cache.iterdir() if entry.name.startswith("work-")] == []


def group_of(folder: Path) -> list[int]:
    """Processes that work in a folder: the driver and what it started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == folder:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_headers_that_another_kernel_throws_out_are_prepared_again(cache, monkeypatch):
    real, thrown_out = building.run_compiler, []

    def throwing_out(compiler, flags, folder, progress, what):
        if what.startswith("compiling") and not thrown_out:
            shutil.rmtree(cache / "headers")
            thrown_out.append(what)
        return real(compiler, flags, folder, progress, what)

    monkeypatch.setattr(building, "run_compiler", throwing_out)
    made = build(f"{RMS}// thrown out", name="rms_norm")
    assert thrown_out
    assert made.library.handler().ffi_version == ffi_version()


def test_progress_is_told():
    told: list[str] = []
    build(doubling("y[0] = 7;"), language="c", name="f", progress=lambda what, seconds: told.append(what))  # fmt: skip
    assert set(told) == {"compiling with gcc"}


def test_two_that_build_the_same_at_once_get_the_same():
    source, made = doubling("y[0] = 8;"), []
    threads = [
        threading.Thread(target=lambda: made.append(build(source, language="c", name="f")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({m.library.sha256 for m in made}) == 1
    assert len({m.library.file for m in made}) == 1


def test_files_are_sources_too(tmp_path):
    path = tmp_path / "kernel.c"
    path.write_text(doubling("y[0] = z;"))
    message = refused(BuildError, path, language="c", name="f")
    assert "  kernel.c:2:8\n    y[0] = z;\n           ^ `z` undeclared" in message
