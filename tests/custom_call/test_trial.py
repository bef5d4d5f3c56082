"""Handlers run once in a child, between guard bytes, before they are trusted."""

import numpy as np
import pytest

from kernel_magics.custom_call import trial
from kernel_magics.custom_call.build import build
from kernel_magics.custom_call.contract import contract
from kernel_magics.custom_call.library import open_library
from kernel_magics.custom_call.samples import sample_call
from kernel_magics.custom_call.trial import try_code, try_handler
from kernel_magics.errors import HandlerError
from kernel_magics.sandbox.policy import Policy, using
from tests.custom_call.builds import RMS, cache_of
from tests.custom_call.compilers import needs, times

SAFE = "It was tried in a child process: the kernel is untouched."
LOOPS = "Compare its loops with the shapes of its buffers; the contract says how large each is."


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    needs("g++")
    needs("gcc")
    yield from cache_of(tmp_path_factory.mktemp("cache"))


def made(body: str, kind: str = "(x: f32[n]) -> (y: f32[n])"):
    """A library whose handler `f` has a body, and its contract."""
    found = build(f"// contract: {kind}\n{body}\n", language="c", name="f")
    return found.library, found.unit.contract


def tried(body: str, kind: str = "(x: f32[n]) -> (y: f32[n])"):
    library, promised = made(body, kind)
    return try_handler(library, "f", promised)


def failed(body: str, kind: str = "(x: f32[n]) -> (y: f32[n])") -> str:
    with pytest.raises(HandlerError) as error:
        tried(body, kind)
    return str(error.value)


COPY = "for (int64_t i = 0; i < n; ++i) y[i] = x[i];"


def test_what_works_is_remembered_in_every_kernel(monkeypatch):
    first = tried(COPY)
    assert first.is_tried
    assert str(first) == "tried in a child process: (f32[3]) -> (f32[3])"
    # Another kernel finds out the same, and asks nobody.
    monkeypatch.setattr(trial, "_try", None)
    again = tried(COPY)
    assert again.is_tried
    assert str(again) == "tried in a child process before"


def test_another_contract_is_another_trial():
    body = "for (int64_t i = 0; i < n; ++i) y[i] = 4 * x[i];"
    library, promised = made(body)
    assert try_handler(library, "f", promised).state == "passed"
    other = contract("(x: f32[n]) -> (y: f32[n]) where n % 4 == 0")
    assert try_handler(library, "f", other).call == "(f32[4]) -> (f32[4])"


def test_without_a_contract_nothing_is_tried_and_that_is_said():
    library, _ = made(COPY)
    report = try_handler(library, "f", None)
    assert not report.is_tried
    assert str(report) == "not tried: without a contract nobody knows what it takes"
    report = try_handler(library, "f", contract("(f32[n]) -> () where n > 9000"))
    assert str(report) == "not tried: no small shapes fit the contract"


def test_loaded_handlers_are_tried_too(tmp_path):
    handler = open_library(times(tmp_path / "libtimes.so")).handler()
    assert try_code(handler, contract("(f32[n, m]) -> f32[n, m]")).is_tried


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("for (int64_t i = 0; i <= n; ++i) y[i] = x[i];", "writes up to 4 bytes behind result 1"),
        ("for (int64_t i = -2; i < n; ++i) y[i] = 1;", "writes up to 8 bytes before result 1"),
        ("for (int64_t i = -1; i < n + 100; ++i) y[i] = x[i];", "writes up to 4 bytes before and up to 400 bytes behind result 1"),
        (f"{COPY} ((float*)x)[0] = 5;", "writes into argument 1, which others may use"),
        (f"{COPY} ((float*)x)[n] = 5;", "writes up to 4 bytes behind argument 1"),
        (";", "leaves result 1 as it was"),
    ],
)  # fmt: skip
def test_what_is_written_in_the_wrong_place_is_found(body, problem):
    assert failed(body) == (
        f"`f` of text `f` {problem}\n  tried with: (f32[3]) -> (f32[3])\n  {LOOPS} {SAFE}"
    )


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("*(volatile int*)0 = 1;", "ended the process: SIGSEGV"),
        ("for (int64_t i = 0; i < 1 << 22; ++i) y[i] = 1;", "ended the process: SIGSEGV"),
        ("abort();", "ended the process: SIGABRT"),
        ("exit(3);", "ended the process: exit code 3"),
    ],
)
def test_crashes_happen_elsewhere(body, problem):
    assert failed(body) == (
        f"`f` of text `f` {problem}\n  tried with: (f32[3]) -> (f32[3])\n  {SAFE}"
    )
    assert tried(COPY).is_tried


def test_handlers_that_hang_are_ended():
    with using(Policy(timeout_s=4)):
        assert failed("for (volatile int i = 0;;) i = 1;") == (
            "`f` of text `f` did not come to an end in 4 s\n"
            "  tried with: (f32[3]) -> (f32[3])\n"
            f"  Look for a loop that does not end. {SAFE}"
        )


def test_errors_that_are_returned_are_shown():
    assert failed('return "only on Sundays";') == (
        "`f` of text `f` returned an error: INVALID_ARGUMENT: only on Sundays\n"
        "  tried with: (f32[3]) -> (f32[3])\n"
        "  If it does not take such arrays, say so in the contract (`where n % 4 == 0`). "
        f"{SAFE}"
    )


@pytest.mark.parametrize(
    "code",
    ["kCancelled", "kUnknown", "kInvalidArgument", "kDeadlineExceeded", "kNotFound", "kAlreadyExists", "kPermissionDenied", "kResourceExhausted", "kFailedPrecondition", "kAborted", "kOutOfRange", "kUnimplemented", "kInternal", "kUnavailable", "kDataLoss", "kUnauthenticated"],
)  # fmt: skip
def test_every_code_of_an_error_arrives_by_its_name(code, every_code):
    promised = contract("(f32[n]) -> f32[n]")
    with pytest.raises(HandlerError) as error:
        try_handler(every_code, f"fail_{code}", promised)
    name = "".join(f"_{c}" if c.isupper() else c for c in code[1:]).strip("_").upper()
    assert error.value.what == (
        f"`fail_{code}` of text `codes` returned an error: {name}: it says {code}"
    )


@pytest.fixture(scope="module")
def every_code(cache):
    del cache  # It is there before the build.
    codes = ["kCancelled", "kUnknown", "kInvalidArgument", "kDeadlineExceeded", "kNotFound", "kAlreadyExists", "kPermissionDenied", "kResourceExhausted", "kFailedPrecondition", "kAborted", "kOutOfRange", "kUnimplemented", "kInternal", "kUnavailable", "kDataLoss", "kUnauthenticated"]  # fmt: skip
    text = "".join(
        f"static ffi::Error Fail_{c}(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) "
        f'{{ return ffi::Error(ffi::ErrorCode::{c}, "it says {c}"); }}\n'
        f"XLA_FFI_DEFINE_HANDLER_SYMBOL(fail_{c}, Fail_{c}, "
        "ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());\n"
        for c in codes
    )
    return build(text, name="codes").library


def test_exceptions_of_cpp_do_not_reach_the_kernel():
    text = (
        "static ffi::Error F(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) "
        '{ throw std::runtime_error("boom from C++"); }\n'
        "XLA_FFI_DEFINE_HANDLER_SYMBOL(f, F, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>()"
        ".Ret<ffi::AnyBuffer>());\n"
    )
    library = build(text, name="f").library
    with pytest.raises(HandlerError) as error:
        try_handler(library, "f", contract("(f32[n]) -> f32[n]"))
    assert str(error.value) == (
        "`f` of text `f` threw a C++ exception 'std::runtime_error'\n"
        "  tried with: (f32[3]) -> (f32[3])\n  boom from C++\n"
        f"  Catch it and return an `ffi::Error`. {SAFE}"
    )


WITH_THREADS = """static ffi::Error F(ffi::ThreadPool threads, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  int64_t n = threads.num_threads() > 0 ? (int64_t)x.element_count() : 0;
  BODY
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(f, F, ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
"""


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", ""),
        ("y->typed_data()[n] = 1;", "`f` of text `f` writes up to 4 bytes behind result 1"),
        ("*(volatile int*)0 = 1;", "`f` of text `f` ended the process: SIGSEGV"),
        ("abort();", "`f` of text `f` ended the process: SIGABRT"),
        (
            'return ffi::Error::Internal("it says no");',
            "`f` of text `f` returned an error: INTERNAL: it says no",
        ),
        (
            'throw std::runtime_error("boom");',
            "`f` of text `f` threw a C++ exception",
        ),
    ],
)
def test_handlers_that_ask_their_host_for_more_are_tried_by_xla_itself(body, problem):
    copy = "for (int64_t i = 0; i < n; ++i) y->typed_data()[i] = x.typed_data()[i];"
    library = build(WITH_THREADS.replace("BODY", copy + body), name="f").library
    promised = contract("(f32[n]) -> f32[n]")
    if not problem:
        assert try_handler(library, "f", promised).is_tried
        return
    with pytest.raises(HandlerError) as error:
        try_handler(library, "f", promised)
    assert error.value.what.startswith(problem)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("(f32[n]) -> f32[n]", "Wrong number of attributes: expected 1 but got 0"),
        ("(f32[n], eps: f64) -> f32[n]", "Wrong scalar data type: expected F32 but got F64"),
        ("(i32[n], eps: f32) -> f32[n]", "Wrong buffer dtype: expected F32 but got S32"),
        ("(f32[n], f32[n], eps: f32) -> f32[n]", "Wrong number of arguments: expected 1 but got 2"),
        ("(f32[n], eps: f32) -> (f32[n], f32[n])", "Wrong number of results: expected 1 but got 2"),
    ],
)
def test_bindings_that_differ_from_the_contract_are_found(kind, words):
    library = build(RMS, name="rms").library
    with pytest.raises(HandlerError) as error:
        try_handler(library, "rms_norm", contract(kind))
    assert error.value.what == (
        "`rms_norm` of text `rms` is bound to other arguments, results or attributes than its "
        "contract says"
    )
    assert any(words in line for line in error.value.details)
    assert error.value.advice == f"Make the binding and the contract say the same. {SAFE}"


def test_handlers_of_newer_headers_work_where_they_can(tmp_path):
    library = open_library(times(tmp_path / "libnew.so", version=(0, 99)))
    assert try_handler(library, "times", contract("(f32[n]) -> f32[n]")).is_tried


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("(x: f32[b, n], w: f32[n], eps: f32 = 0.5) -> f32[b, n]", "(f32[3,5], f32[5]) -> (f32[3,5]), eps = 0.5"),
        ("(T[..., n], k: i64) -> T[k] where n % 8 == 0, T: bf16 | f32", "(bf16[2,8]) -> (bf16[4]), k = 4"),
        ("(f32[n], m: str, a: [i32], f: bool) -> ()", "(f32[3]) -> (), m = , a = [1], f = True"),
        ("(f32[2*n + 1], i32[n]) -> c64[n]", "(f32[7], i32[3]) -> (c64[3])"),
        ("(a: f32[n], b: f32[m]) -> () where n > m, m >= 64", "(f32[128], f32[64]) -> ()"),
    ],
)  # fmt: skip
def test_samples_fit_the_contract(kind, shown):
    sample = sample_call(contract(kind))
    assert str(sample) == shown
    for argument in sample.arguments:
        assert np.all(np.isfinite(argument.astype(np.float64)))
