"""Libraries are read, refused in words, copied, loaded, and kept."""

import io
import os
import shutil
import struct
import subprocess
from pathlib import Path

import jax
import pytest

from kernel_magics.custom_call.cache import Cache
from kernel_magics.custom_call.library import Libraries, Library, open_library
from kernel_magics.custom_call.probe import ffi_version
from kernel_magics.elf import ElfError, ElfFile
from kernel_magics.errors import LibraryError
from tests.custom_call.compilers import HEAD, compile_c, needs, times


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("KERNEL_MAGICS_CACHE", str(folder))
    return folder


def message(call, *args, **options) -> str:
    with pytest.raises(LibraryError) as error:
        call(*args, **options)
    return str(error.value)


def test_handlers_are_listed_loaded_and_say_their_version(tmp_path):
    library = open_library(times(tmp_path / "libtimes.so"))
    assert library.symbols == ("times",)
    handler = library.handler()
    assert handler.name == "times in `libtimes.so`"
    assert handler.origin == str(tmp_path / "libtimes.so")
    assert handler.ffi_version == (0, 1)
    assert handler.address
    again = open_library(tmp_path / "libtimes.so").handler("times")
    assert (again.identity, again.address) == (handler.identity, handler.address)


def test_handlers_of_the_macro_are_told_from_other_functions(tmp_path):
    source = tmp_path / "two.cc"
    source.write_text(
        '#include "xla/ffi/api/ffi.h"\nnamespace ffi = xla::ffi;\n'
        "static ffi::Error Nothing() { return ffi::Error::Success(); }\n"
        "XLA_FFI_DEFINE_HANDLER_SYMBOL(nothing, Nothing, ffi::Ffi::Bind());\n"
        'extern "C" int helper(int x) { return x; }\n'
    )
    command = [needs("g++"), "-w", "-std=c++17", "-shared", "-fPIC", "-I", jax.ffi.include_dir()]
    subprocess.run([*command, str(source), "-o", str(tmp_path / "two.so")], check=True)
    library = open_library(tmp_path / "two.so")
    assert library.symbols == ("nothing",)
    assert library.handler().ffi_version == ffi_version()


def test_a_file_that_is_built_again_is_another_library(tmp_path):
    """The dynamic linker would give the old code, or end the process: it goes by the path."""
    path = tmp_path / "libtimes.so"
    first = open_library(times(path, 2)).handler()
    second = open_library(times(path, 3)).handler()
    assert first.identity != second.identity
    assert first.address != second.address


def test_a_copy_that_the_cache_threw_out_is_made_again(tmp_path, cache):
    path = times(tmp_path / "libtimes.so")
    library = open_library(path)
    shutil.rmtree(cache)
    assert library.handler().address
    times(path, 5)
    shutil.rmtree(cache)
    assert message(library.handler) == (
        "The copy of `libtimes.so` was thrown out of the cache, and its file has changed\n"
        f"  path: {path}\n  Load it again."
    )


def test_files_that_are_not_there_are_named_with_near_ones(tmp_path):
    times(tmp_path / "libtimes.so")
    assert message(open_library, tmp_path / "libtime.so") == (
        f"The library `{tmp_path}/libtime.so` cannot be read: it is not there; did you mean "
        "`libtimes.so`?\n  A path is taken relative to the kernel's working directory."
    )
    assert message(open_library, tmp_path) == (
        f"The library `{tmp_path}` cannot be read: it is a folder\n"
        "  A path is taken relative to the kernel's working directory."
    )


BUILD = (
    "  Build a shared library: `g++ -shared -fPIC -I "
    '$(python -c "import jax; print(jax.ffi.include_dir())") ...`.'
)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is empty"),
        (b"int main() {}\n", "it is text that begins with 'int main() {}'"),
        (b"!<arch>\n\0", "it is a static library (`.a`)"),
        (b"\xcf\xfa\xed\xfe\0\0", "it is a library of macOS"),
        (b"MZ\0\0", "it is a library of Windows"),
        (b"\0\1\2\3", "it begins with 00 01 02 03, and a library with 7f 45 4c 46"),
        (b"\x7fELF\2\1", "it is cut short or damaged"),
        (b"\x7fELF\1\1" + bytes(80), "it is a 32-bit library"),
        (b"\x7fELF\2\1" + bytes(10) + b"\1\0\x3e\0" + bytes(80), "it is an object file, not a shared library"),
    ],
)  # fmt: skip
def test_files_that_are_no_library_are_refused_in_words(tmp_path, content, problem):
    path = tmp_path / "file.so"
    path.write_bytes(content)
    assert message(open_library, path) == (
        f"`file.so` is no library that this kernel can load: {problem}\n  path: {path}\n{BUILD}"
    )


def test_libraries_for_other_machines_are_refused(tmp_path):
    path = times(tmp_path / "libtimes.so")
    content = bytearray(path.read_bytes())
    content[18:20] = struct.pack("<H", 0xB7)
    path.write_bytes(content)
    assert message(open_library, path) == (
        "`libtimes.so` is a library for aarch64; this kernel runs on x86_64\n"
        f"  path: {path}\n  Build it on this machine, or for it."
    )


def test_damaged_libraries_are_refused_wherever_they_end(tmp_path):
    content = times(tmp_path / "libtimes.so").read_bytes()
    assert "times" in ElfFile(io.BytesIO(content)).functions
    for size in [*range(0, 1024, 7), *range(1024, 4096, 97)]:
        with pytest.raises(ElfError):
            ElfFile(io.BytesIO(content[:size]))


def test_what_a_library_needs_and_nobody_has_is_named(tmp_path):
    compile_c(tmp_path / "libother.so", "int other(void) { return 1; }")
    path = compile_c(
        tmp_path / "libneeds.so", "int other(void); int f(void) { return other(); }", f"-L{tmp_path}", "-lother"
    )  # fmt: skip
    assert message(open_library, path) == (
        "`libneeds.so` needs `libother.so`, which cannot be found\n"
        "  libother.so: cannot open shared object file: No such file or directory\n"
        "  Install it, or set `LD_LIBRARY_PATH` before the kernel is started."
    )
    path = compile_c(tmp_path / "libopen.so", "int other(void); int f(void) { return other(); }")
    text = message(open_library, path)
    assert text.startswith("`libopen.so` uses `other`, which no library defines\n")
    assert text.endswith("Link it with the library that has it (`-l...`), or define it.")


def test_libraries_beside_it_are_found_though_its_copy_is_elsewhere(tmp_path):
    other = "int other(void) { return 1; }"
    compile_c(tmp_path / "libother.so", other, "-Wl,-soname,libother.so")
    path = compile_c(
        tmp_path / "libneeds.so",
        "int other(void); int f(void) { return other(); }",
        f"-L{tmp_path}",
        "-lother",
        "-Wl,-rpath,$ORIGIN",
    )
    assert open_library(path).symbols == ("f",)


def test_libraries_that_crash_or_end_when_loaded_do_so_elsewhere(tmp_path):
    head = "#include <signal.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void f(void) "
    crash = compile_c(tmp_path / "libcrash.so", head + "{ raise(SIGSEGV); }")
    assert message(open_library, crash) == (
        "Loading `libcrash.so` ended the process: SIGSEGV\n"
        "  That was in a process of its own. The kernel has not loaded it."
    )
    leave = compile_c(tmp_path / "libleave.so", head + "{ exit(3); }")
    assert message(open_library, leave) == (
        "Loading `libleave.so` ended the process with exit code 3\n"
        "  That was in a process of its own. The kernel has not loaded it."
    )


def test_libraries_that_hang_when_loaded_are_ended(tmp_path, monkeypatch):
    from kernel_magics.custom_call import probe

    monkeypatch.setattr(probe, "_TIMEOUT_S", 2)
    source = "__attribute__((constructor)) static void f(void) { for (;;) {} }"
    path = compile_c(tmp_path / "libhang.so", source)
    assert message(open_library, path) == (
        "Loading `libhang.so` gave no answer in 2 s\n"
        "  That was in a process of its own. The kernel has not loaded it."
    )


HANDLER_IS = (
    "  A handler takes one `XLA_FFI_CallFrame*`; `XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, "
    "binding)` makes one of a C++ function."
)


def test_plain_functions_are_no_handlers(tmp_path):
    source = "int far(int* a) { *(volatile int*)0 = *a; return 0; } int none(void) { return 0; }"
    library = open_library(compile_c(tmp_path / "libplain.so", source))
    assert library.symbols == ("far", "none")
    assert message(library.handler, "far") == (
        "`far` of `libplain.so` is no handler of the FFI: asked for its version it ended the "
        "process: SIGSEGV\n  That was in a process of its own; the kernel is untouched.\n"
        f"{HANDLER_IS}"
    )
    assert message(library.handler, "none") == (
        f"`none` of `libplain.so` is no handler of the FFI\n  it tells no version\n{HANDLER_IS}"
    )


def test_handlers_of_another_major_version_are_refused_and_newer_minor_ones_are_not(tmp_path):
    library = open_library(times(tmp_path / "libnew.so", version=(1, 0)))
    major, minor = ffi_version()
    assert message(library.handler) == (
        "`times` of `libnew.so` is a handler of FFI 1.0, which cannot work here\n"
        f"  this jaxlib has FFI {major}.{minor}\n"
        "  Compile it with the headers in `jax.ffi.include_dir()`."
    )
    assert open_library(times(tmp_path / "libminor.so", version=(0, 99))).handler().ffi_version == (0, 99)  # fmt: skip


def test_symbols_that_are_not_there_are_named_with_near_ones(tmp_path):
    library = open_library(times(tmp_path / "libtimes.so", name="times_two"))
    assert message(library.handler, "times_tow") == (
        "`libtimes.so` exports no function `times_tow`; did you mean `times_two`?\n"
        "  functions: times_two\n  A handler is an exported function with a name of C."
    )
    path = compile_c(tmp_path / "libnothing.so", HEAD)
    assert message(open_library(path).handler) == (
        '`libnothing.so` exports no function\n  Declare the handler `extern "C"`, and not `static`.'
    )
    path = compile_c(tmp_path / "libtwo.so", "int f(void) { return 0; } int g(void) { return 0; }")
    assert message(open_library(path).handler) == (
        "`libtwo.so` exports 2 functions that may be handlers\n  functions: f, g\n"
        "  Say which one, with `symbol=`."
    )


def test_libraries_have_names(tmp_path):
    shelf = Libraries()
    path = times(tmp_path / "libtimes.so")
    named = shelf.register("norms", path)
    assert shelf.find("norms") is named
    assert shelf.find(named) is named
    assert shelf.find(path) == named
    assert isinstance(shelf.find(str(path)), Library)
    assert message(shelf.find, "norm") == (
        f"The library `{Path.cwd()}/norm` cannot be read: it is not there; did you mean `norms`?\n"
        "  libraries that have a name: `norms`\n"
        "  A path is taken relative to the kernel's working directory."
    )
    shelf.reset()
    assert shelf.named == {}


def test_the_cache_keeps_what_was_used_last(tmp_path):
    cache = Cache(tmp_path / "small", limit_bytes=2500)
    for name in "abc":
        with cache.workspace() as folder:
            (folder / "made").mkdir()
            (folder / "made" / "file").write_bytes(bytes(1000))
            kept = cache.keep("builds", name, folder / "made")
        assert (kept / "file").stat().st_size == 1000
        # Times of folders may be coarse: the order is told, not waited for.
        at = {"a": 1_000, "b": 500, "c": 2_000}[name]
        os.utime(kept, (at, at))
    with cache.workspace() as folder:
        (folder / "made").mkdir()
        (folder / "made" / "file").write_bytes(bytes(1000))
        cache.keep("builds", "d", folder / "made")
    assert sorted(entry.name for entry in (cache.folder / "builds").iterdir()) == ["c", "d"]
    assert cache.find("builds", "a") is None
    assert cache.size_bytes() == 2000
    # No workspace is left, its own or that of a kernel that is gone.
    (cache.folder / f"{next_work_prefix(cache)}999999999-left").mkdir()
    with cache.workspace():
        pass
    assert [entry.name for entry in cache.folder.iterdir()] == ["builds"]


def next_work_prefix(cache: Cache) -> str:
    with cache.workspace() as folder:
        head, host, *_ = folder.name.split("-")
        return f"{head}-{host}-"
