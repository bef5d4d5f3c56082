"""Trampolines: stable addresses, machine code or ctypes, with the structs of XLA's headers."""

import ctypes
import itertools
import subprocess
import threading
from pathlib import Path

import jax
import numpy as np
import pytest

from kernel_magics.custom_call import abi, trampoline
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.python_handler import python_handler
from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.custom_call.slots import slots
from kernel_magics.custom_call.trampoline import (
    LIBRARY,
    CtypesTrampoline,
    NativeTrampoline,
    new_trampoline,
)
from kernel_magics.errors import BuildError
from tests.custom_call import compilers
from tests.custom_call.places import device

X = np.arange(4, dtype=np.float32)
SOURCE = Path(trampoline.__file__).with_name("trampoline.cc")
_numbers = itertools.count()

THROWER = """
#include "xla/ffi/api/ffi.h"
#include <stdexcept>
namespace ffi = xla::ffi;
static ffi::Error work(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) { throw std::runtime_error("boom"); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(thrower, work, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
static ffi::Error fail(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer>) {
  return ffi::Error(static_cast<ffi::ErrorCode>(x.dimensions()[0]), "as was asked");
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(failer, fail, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
"""

# The structs that both sides of the library and of ctypes rely on, as the header has them.
LAYOUT = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "xla/ffi/api/c_api.h"
#define AT(type, field) printf("%zu ", offsetof(type, field))
int main() {
  AT(XLA_FFI_CallFrame, extension_start); AT(XLA_FFI_CallFrame, api); AT(XLA_FFI_CallFrame, ctx);
  AT(XLA_FFI_CallFrame, stage); AT(XLA_FFI_CallFrame, args); AT(XLA_FFI_CallFrame, rets);
  AT(XLA_FFI_CallFrame, attrs); AT(XLA_FFI_CallFrame, future);
  AT(struct XLA_FFI_Api, api_version); AT(struct XLA_FFI_Api, internal_api);
  AT(struct XLA_FFI_Api, XLA_FFI_Error_Create);
  AT(struct XLA_FFI_Metadata, api_version); AT(struct XLA_FFI_Metadata, traits);
  AT(struct XLA_FFI_Metadata_Extension, metadata);
  AT(XLA_FFI_Buffer, dtype); AT(XLA_FFI_Buffer, data); AT(XLA_FFI_Buffer, rank); AT(XLA_FFI_Buffer, dims);
  AT(XLA_FFI_Attrs, size); AT(XLA_FFI_Attrs, types); AT(XLA_FFI_Attrs, names); AT(XLA_FFI_Attrs, attrs);
  AT(XLA_FFI_Scalar, dtype); AT(XLA_FFI_Scalar, value); AT(XLA_FFI_Array, size); AT(XLA_FFI_Array, data);
  AT(struct XLA_FFI_Error_Create_Args, message); AT(struct XLA_FFI_Error_Create_Args, errc);
  return 0;
}
"""


@pytest.fixture(params=[True, False], ids=["native", "ctypes"])
def native(request) -> bool:
    return request.param


@pytest.fixture
def target() -> str:
    return f"test.trampoline{next(_numbers)}"


@pytest.fixture(scope="module")
def failing(tmp_path_factory) -> ctypes.CDLL:
    """Handlers in C++ that throw and that fail."""
    folder = tmp_path_factory.mktemp("failing")
    (folder / "failing.cc").write_text(THROWER)
    command = [compilers.needs("g++"), "-std=c++17", "-shared", "-fPIC", "-w"]
    command += ["-I", jax.ffi.include_dir(), str(folder / "failing.cc")]
    subprocess.run([*command, "-o", str(folder / "failing.so")], check=True)
    return ctypes.CDLL(str(folder / "failing.so"))


def native_handler(library: ctypes.CDLL, name: str) -> Handler:
    address = ctypes.cast(library[name], ctypes.c_void_p).value
    assert address
    return Handler(name, "native", address, name, "test", library)


def ffi_call(target: str):
    def call(x):
        return jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    return jax.jit(call)


def switch(target, registry, place, handler, native):
    reached = registry.serving.clients.of(device(place, registry).client)
    slots.switch(target, reached, handler, native=native)


def test_the_library_for_this_machine_is_there_where_a_compiler_was():
    compilers.needs("g++")
    assert LIBRARY.is_file(), "`pip install -e .` builds it"
    assert isinstance(new_trampoline("test.any"), NativeTrampoline)
    assert isinstance(new_trampoline("test.any", native=False), CtypesTrampoline)


@pytest.fixture
def no_compiler(monkeypatch):
    def find(_):
        raise BuildError("there is none")

    monkeypatch.setattr(trampoline, "find_compiler", find)
    trampoline._compiled.cache_clear()
    yield
    trampoline._compiled.cache_clear()


def test_without_a_library_a_compiler_makes_one(monkeypatch, tmp_path):
    compilers.needs("g++")
    monkeypatch.setenv("KERNEL_MAGICS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(trampoline, "LIBRARY", tmp_path / "nosuch.so")
    assert isinstance(new_trampoline("test.any"), NativeTrampoline)
    made = [path.name for path in (tmp_path / "cache/trampolines").rglob("*.so")]
    assert made == [trampoline.library_name()]


@pytest.mark.usefixtures("no_compiler")
def test_without_both_ctypes_makes_them(monkeypatch, tmp_path):
    (tmp_path / "other.so").write_text("no library")
    for path in (tmp_path / "nosuch.so", tmp_path / "other.so"):
        monkeypatch.setattr(trampoline, "LIBRARY", path)
        assert isinstance(new_trampoline("test.any"), CtypesTrampoline)


@pytest.mark.usefixtures("no_compiler")
def test_a_library_of_another_revision_is_not_used(monkeypatch, tmp_path):
    compilers.needs("g++")
    text = SOURCE.read_text().replace(
        "km_revision(void) { return 1; }", "km_revision(void) { return 2; }"
    )
    (tmp_path / "other.cc").write_text(text)
    made = tmp_path / "other.so"
    command = [compilers.needs("g++"), "-shared", "-fPIC", "-o", str(made)]
    subprocess.run([*command, str(tmp_path / "other.cc")], check=True)
    monkeypatch.setattr(trampoline, "LIBRARY", made)
    assert isinstance(new_trampoline("test.any"), CtypesTrampoline)


def test_when_the_slots_are_used_up_ctypes_makes_more(monkeypatch, tmp_path):
    compilers.needs("g++")
    made = tmp_path / "fresh.so"
    command = [compilers.needs("g++"), "-shared", "-fPIC", "-o", str(made), str(SOURCE)]
    subprocess.run(command, check=True)
    monkeypatch.setattr(trampoline, "LIBRARY", made)
    monkeypatch.setattr(trampoline, "_compiled", lambda path: None)
    kinds = [type(new_trampoline("test.many")) for _ in range(1025)]
    assert kinds == [NativeTrampoline] * 1024 + [CtypesTrampoline]


def test_an_address_stays_while_handlers_change(registered, target, native, at, place):
    x = jax.device_put(X, at(registered))
    switch(target, registered, place, python_handler(lambda x: 2 * x), native)
    call = ffi_call(target)
    np.testing.assert_array_equal(call(x), 2 * X)
    switch(target, registered, place, python_handler(lambda x: 5 * x), native)
    np.testing.assert_array_equal(call(x), 5 * X)
    switch(target, registered, place, None, native)
    words = (
        f"FAILED_PRECONDITION: the custom call `{target}` has no handler here any more; register"
    )
    with pytest.raises(Exception, match=words):
        jax.block_until_ready(call(x))
    switch(target, registered, place, python_handler(lambda x: 3 * x), native)
    np.testing.assert_array_equal(call(x), 3 * X)


def test_calls_errors_and_times_are_counted(registered, target, native):
    switch(target, registered, "cpu", python_handler(lambda x: x), native)
    call = ffi_call(target)
    for _ in range(100):
        jax.block_until_ready(call(X))
    (stats,) = slots.stats(target).values()
    assert (stats.calls, stats.errors, stats.last_error) == (100, 0, "")
    assert stats.mean_us is not None
    assert stats.mean_us > 0

    def fails(*_):
        raise KeyError("nothing here")

    switch(target, registered, "cpu", python_handler(fails, name="fails"), native)
    with pytest.raises(Exception, match="fails failed: KeyError"):
        jax.block_until_ready(call(X))
    (stats,) = slots.stats(target).values()
    assert (stats.calls, stats.errors) == (101, 1)
    assert stats.last_error.startswith("fails failed: KeyError: 'nothing here'\n")


def test_a_cpp_exception_is_an_error_on_every_plugin(registered, target, failing, at, place):
    x = jax.device_put(X, at(registered))
    switch(target, registered, place, native_handler(failing, "thrower"), native=None)
    with pytest.raises(Exception, match="UNKNOWN: the handler threw a C.. exception: boom"):
        jax.block_until_ready(ffi_call(target)(x))
    switch(target, registered, place, python_handler(lambda x: x), native=None)
    np.testing.assert_array_equal(ffi_call(target)(x), X)


@pytest.mark.parametrize(("name", "code"), [(n, c) for n, c in abi.CODES.items() if n != "OK"])
def test_errors_of_each_code_come_out_with_it(registered, failing, native, name, code):
    target = f"test.code.{name}.{native}"
    switch(target, registered, "cpu", native_handler(failing, "failer"), native)
    with pytest.raises(Exception, match=f"^{name}: as was asked"):
        jax.block_until_ready(ffi_call(target)(np.zeros(code, np.float32)))
    (stats,) = slots.stats(target).values()
    assert stats.last_error == "as was asked"


def test_structs_are_those_of_the_header(tmp_path):
    compiler = compilers.needs("gcc")
    (tmp_path / "layout.c").write_text(LAYOUT)
    run = tmp_path / "layout"
    subprocess.run(
        [compiler, "-w", "-I", jax.ffi.include_dir(), str(tmp_path / "layout.c"), "-o", str(run)],
        check=True,
    )
    printed = subprocess.run([str(run)], check=True, capture_output=True, text=True).stdout
    fields = [
        *((abi.CallFrame, f) for f in ("extension_start", "api", "context", "stage", "arguments", "results", "attributes", "future")),
        *((abi.Api, f) for f in ("version", "internal_api", "error_create")),
        *((abi.Metadata, f) for f in ("version", "traits")),
        (abi.MetadataExtension, "metadata"),
        *((abi.Buffer, f) for f in ("dtype", "data", "rank", "dims")),
        *((abi.Attributes, f) for f in ("size", "types", "names", "values")),
        *((abi.Scalar, f) for f in ("dtype", "value")),
        *((abi.Array, f) for f in ("size", "data")),
        *((abi.ErrorCreate, f) for f in ("message", "code")),
    ]  # fmt: skip
    assert [int(n) for n in printed.split()] == [getattr(s, name).offset for s, name in fields]
    # The library spells its own structs: it is compiled against the header's for this.
    checks = "".join(
        f"static_assert({ours} == {theirs});\n"
        for ours, theirs in (
            ("offsetof(km_frame, api)", "offsetof(XLA_FFI_CallFrame, api)"),
            ("offsetof(km_frame, extension_start)", "offsetof(XLA_FFI_CallFrame, extension_start)"),
            ("offsetof(km_api, version)", "offsetof(XLA_FFI_Api, api_version)"),
            ("offsetof(km_api, create_error)", "offsetof(XLA_FFI_Api, XLA_FFI_Error_Create)"),
            ("offsetof(km_metadata, version)", "offsetof(XLA_FFI_Metadata, api_version)"),
            ("offsetof(km_metadata, traits)", "offsetof(XLA_FFI_Metadata, traits)"),
            (
                "offsetof(km_metadata_extension, metadata)",
                "offsetof(XLA_FFI_Metadata_Extension, metadata)",
            ),
            ("offsetof(km_error_create, code)", "offsetof(XLA_FFI_Error_Create_Args, errc)"),
            ("sizeof(km_version)", "sizeof(XLA_FFI_Api_Version)"),
        )
    )
    (tmp_path / "both.cc").write_text(
        f'#include "xla/ffi/api/c_api.h"\n{SOURCE.read_text()}\n{checks}'
    )
    command = [
        compilers.needs("g++"),
        "-std=c++17",
        "-w",
        "-fsyntax-only",
        "-I",
        jax.ffi.include_dir(),
    ]
    subprocess.run([*command, str(tmp_path / "both.cc")], check=True)


def test_equal_handlers_run_at_the_address_that_is_kept():
    def double(x):
        return 2 * x

    first, second = python_handler(double), python_handler(double)
    assert first == second
    assert first.address != second.address
    made = CtypesTrampoline("lab.kept")
    for handler in (first, second):
        made.switch(handler)
        assert ctypes.cast(made._run, ctypes.c_void_p).value == first.address
    assert [handler is first for handler in made._handlers] == [True]


def test_handlers_that_are_replaced_while_others_call_stay_valid():
    registry, target = CustomCallRegistry(), "lab.replaced_while_called"

    def double(x):
        return 2 * x

    def half(x):
        return x / 2

    registry.register(target, handler=double, contract="(x: f32[n]) -> f32[n]")
    function = jax.jit(lambda x: registry.call(target, x))
    function(X)
    start = threading.Barrier(4)

    def run(number: int) -> None:
        start.wait(60)
        for i in range(40):
            # What is registered elsewhere takes the memory of what was let go.
            registry.register(f"{target}.{number}.{i % 4}", handler=double)
            registry.register(target, handler=double if i % 2 else half)
            function(X)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    registry.register(target, handler=double)
    np.testing.assert_array_equal(function(X), 2 * X)
    registry.reset()
