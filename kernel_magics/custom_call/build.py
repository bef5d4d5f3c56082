"""From the source of a handler to a library: compiled once, kept for all kernels."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jax

from kernel_magics.custom_call.build_compiler import (
    Compiler,
    Language,
    Outcome,
    Progress,
    find_compiler,
    run_compiler,
)
from kernel_magics.custom_call.build_source import Unit, translation_unit
from kernel_magics.custom_call.cache import Cache, digest, kernel_cache
from kernel_magics.custom_call.diagnostics import errors_of, read_messages, shown, warnings_of
from kernel_magics.custom_call.library import Library
from kernel_magics.custom_call.probe import probe_library
from kernel_magics.errors import BuildError, Diagnostic
from kernel_magics.ir.source import Source, read_source

REVISION = "1"
"""Of the way in which a build is made: another one makes another entry in the cache."""

_STANDARDS = {"c++": "-std=c++17", "c": "-std=gnu11"}
_ENDINGS = {"c++": "cc", "c": "c"}
_HEADER = "handlers.h"
_HEADER_TEXT = (
    "".join(
        f"#include <{name}>\n"
        for name in (
            *("algorithm", "array", "cmath", "complex", "cstddef", "cstdint", "cstdlib", "cstring"),
            *("functional", "limits", "memory", "numeric", "stdexcept", "string", "string_view"),
            *("utility", "vector"),
        )
    )
    + '#include "xla/ffi/api/ffi.h"\n'
)
"""What every C++ cell has, read once and kept as the compiler's memory image."""


@dataclass(frozen=True, slots=True)
class Build:
    """A library made of a source."""

    library: Library
    unit: Unit
    compiler: Compiler
    seconds: float
    """That the compiler took; 0 where the cache had it."""
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def is_cached(self) -> bool:
        """Whether nothing was compiled."""
        return self.seconds == 0


def build(
    source: str | Path | Source,
    *,
    language: Language = "c++",
    name: str = "",
    progress: Progress | None = None,
) -> Build:
    """Compiles the source of handlers, or takes what was made of it before.

    The headers of the FFI and what they need are there without a line for them, `ffi` stands for
    `xla::ffi`. `build_source.translation_unit` says what a source may be.

    Args:
        source: The text, or a file with it.
        language: Of the source.
        name: What the library is called, and the handler where the source does not name it.
        progress: Told what goes on.

    Raises:
        BuildError: There is no compiler, or it refuses the source.
        UsageError: The source's contract cannot be read.
        LibraryError: The library cannot be loaded.
        KeyboardInterrupt: The user did not want to wait; the compiler is ended.
    """
    text = source if isinstance(source, Source) else read_source(source)
    if isinstance(text.content, bytes):
        raise BuildError("The source of a handler is text, and bytes were given")
    unit = translation_unit(text, language, name)
    compiler, store = find_compiler(language), kernel_cache()
    flags = _flags(compiler, unit)
    key = digest(REVISION, unit.text, compiler.version, header_digest(), *flags)
    entry, seconds = store.find("builds", key), 0.0
    warnings: Sequence[Diagnostic] = ()
    if entry is None or not (entry / _FILE).is_file():
        try:
            entry, seconds, warnings = _compile(unit, compiler, flags, store, key, progress)
        except _HeadersGoneError:
            entry, seconds, warnings = _compile(unit, compiler, flags, store, key, progress)
    file = entry / _FILE
    library = _library(file, name, unit, text)
    if seconds:
        probe_library(library.name, file, ())
    return Build(library, unit, compiler, seconds, tuple(warnings))


_FILE = "handlers.so"


class _HeadersGoneError(Exception):
    """Another kernel threw the headers out of the cache while they were used."""


@cache
def header_digest() -> str:
    """A hash of the FFI's headers."""
    folder = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api"
    return digest(*(path.read_bytes() for path in sorted(folder.iterdir())))


def _flags(compiler: Compiler, unit: Unit) -> list[str]:
    return [
        _STANDARDS[compiler.language],
        "-O2",
        "-fPIC",
        "-Wall",
        "-isystem",
        jax.ffi.include_dir(),
        *compiler.message_flags(),
        # A body over C's own interface needs none of the headers that take so long.
        *([] if unit.is_plain else ["-DKERNEL_MAGICS_CPP"]),
    ]


def _compile(
    unit: Unit,
    compiler: Compiler,
    flags: Sequence[str],
    store: Cache,
    key: str,
    progress: Progress | None,
) -> tuple[Path, float, list[Diagnostic]]:
    includes: list[str] = []
    header, prepared = None, 0.0
    if compiler.language == "c++" and not unit.is_plain:
        header, prepared = _precompiled(compiler, flags, store, progress)
        includes = ["-I", str(header), "-include", _HEADER]
    with store.workspace() as folder:
        made = folder / "made"
        made.mkdir()
        written = folder / f"source.{_ENDINGS[compiler.language]}"
        written.write_text(unit.text)
        link = ["-shared", "-lm", "-o", str(made / _FILE)]
        if not compiler.is_clang:
            # What nothing defines is found here rather than when it is loaded.
            link.append("-Wl,-z,defs")
        outcome = run_compiler(
            compiler,
            [*flags, *includes, written.name, *link],
            folder,
            progress,
            f"compiling with {compiler.name}",
        )
        found = read_messages(outcome.messages, unit.source)
        if outcome.code and header is not None and not header.is_dir():
            raise _HeadersGoneError
        if outcome.code:
            raise _refused(unit.source, compiler, outcome, found)
        entry = store.keep("builds", key, made)
        return entry, prepared + outcome.seconds, warnings_of(found)


def _precompiled(
    compiler: Compiler, flags: Sequence[str], store: Cache, progress: Progress | None
) -> tuple[Path, float]:
    """The folder with the precompiled headers, and how long it took to make them."""
    key = digest(REVISION, _HEADER_TEXT, compiler.version, header_digest(), *flags)
    entry = store.find("headers", key)
    if entry is not None:
        return entry, 0.0
    with store.workspace() as folder:
        made = folder / "made"
        made.mkdir()
        (made / _HEADER).write_text(_HEADER_TEXT)
        outcome = run_compiler(
            compiler,
            [*flags, "-x", "c++-header", f"made/{_HEADER}", "-o", f"made/{_HEADER}.gch"],
            folder,
            progress,
            "preparing the headers, once",
        )
        if outcome.code:
            raise BuildError(
                f"`{compiler.name}` does not take the headers of the FFI",
                details=[
                    *outcome.messages.strip().split("\n")[:8],
                    f"compiler: {compiler.version}",
                ],
                advice="They need C++17: GCC 8 or Clang 7, or newer. `CXX` names another compiler.",
            )
        return store.keep("headers", key, made), outcome.seconds


def _refused(
    source: Source, compiler: Compiler, outcome: Outcome, found: Sequence[Diagnostic]
) -> BuildError:
    errors = errors_of(found)
    count = sum(not diagnostic.is_note for diagnostic in errors)
    many = f"{count} errors" if count != 1 else "1 error"
    what = f": {many}" if count else f" and ended with exit code {outcome.code}"
    words = [line for line in outcome.messages.strip().split("\n") if line][-6:]
    error = BuildError(
        f"`{compiler.name}` refused the source{what}",
        where=shown(errors),
        details=[] if errors else words,
        advice=_advice(source, errors),
    )
    error.diagnostics = tuple(found)
    return error


def _advice(source: Source, errors: Sequence[Diagnostic]) -> str:
    text = source.content
    assert isinstance(text, str)
    words = " ".join(diagnostic.message for diagnostic in errors)
    if "static assertion failed" in words or "no matching function" in words:
        return (
            "A binding names what the function takes, in its order: attributes, arguments, results."
        )
    if re.search(r"\bBuffer\b", words) and "ffi::" not in text:
        return "The names of the FFI are in `ffi::`, as in `ffi::Buffer<ffi::F32>`."
    return "Correct the source and run it again."


def _library(file: Path, name: str, unit: Unit, source: Source) -> Library:
    content = file.read_bytes()
    shown_name = f"{source.name} `{name}`" if name else f"the library of {source.name}"
    return Library(
        shown_name,
        file,
        hashlib.sha256(content).hexdigest(),
        file,
        unit.handlers,
        contract=unit.contract,
    )
