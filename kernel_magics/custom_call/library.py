"""Shared libraries with handlers: read, copied under a hash of their content, loaded for good."""

import ctypes
import hashlib
import io
import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from kernel_magics.custom_call.cache import digest, kernel_cache
from kernel_magics.custom_call.contract import Contract
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.probe import probe_handler, probe_library
from kernel_magics.elf import ElfError, ElfFile, shared_library
from kernel_magics.errors import LibraryError

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Library:
    """A shared library; equal when its content is."""

    name: str = field(compare=False)
    """What messages call it: its file's name, or the name it was registered under."""
    path: Path = field(compare=False)
    """Where it came from."""
    sha256: str
    """Of its content."""
    file: Path = field(compare=False, repr=False)
    """The copy that is loaded: a file that changes under a process ends it."""
    symbols: tuple[str, ...] = field(compare=False)
    """Exported functions that may be handlers, handlers of C++ alone where it has such."""
    preload: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    """Libraries beside the original that it needs."""
    contract: Contract | None = field(default=None, compare=False)
    """Of its handler, where its source says one."""

    def handler(self, symbol: str | None = None) -> Handler:
        """Loads the library, for the life of this process, and gives one of its handlers.

        Args:
            symbol: The function's name; may be left out where there is one alone.

        Raises:
            LibraryError: There is no such function, it is no handler, or the library cannot be
                loaded. That is tried in a process of its own first.
        """
        wanted = symbol if symbol is not None else self._only_symbol()
        self._check_symbol(wanted)
        self._put_back()
        version = probe_handler(self.name, self.file, self.preload, wanted)
        kept = [ctypes.CDLL(str(path)) for path in self.preload]
        library = ctypes.CDLL(str(self.file), mode=getattr(os, "RTLD_NOW", 0))
        address = ctypes.cast(library[wanted], ctypes.c_void_p).value
        assert address
        return Handler(
            f"{wanted} in {self.name}",
            "native",
            address,
            (self.sha256, wanted),
            str(self.path),
            keep_alive=Loaded(self, wanted, (library, *kept)),
            ffi_version=version,
        )

    def _put_back(self) -> None:
        """Copies it again where the cache has thrown the copy out."""
        if self.file.is_file():
            return
        content = _read(self.path, {})
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise LibraryError(
                f"The copy of {self.name} was thrown out of the cache, and its file has changed",
                details=[f"path: {self.path}"],
                advice="Load it again.",
            )
        # The same name under the same hash: the same place.
        keep_content(self.file.name, content, self.sha256)

    def _only_symbol(self) -> str:
        if len(self.symbols) == 1:
            return self.symbols[0]
        raise LibraryError(
            f"{self.name} exports {len(self.symbols)} functions that may be handlers"
            if self.symbols
            else f"{self.name} exports no function",
            details=[_listed(self.symbols)] if self.symbols else [],
            advice="Say which one, with `symbol=`."
            if self.symbols
            else 'Declare the handler `extern "C"`, and not `static`.',
        )

    def _check_symbol(self, symbol: str) -> None:
        known = exported(self.file)
        if known is None or symbol in known:
            return
        close = get_close_matches(symbol, self.symbols or known, 3)
        hint = f"; did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else ""
        mangled = any(f"{len(symbol)}{symbol}" in name for name in known if name.startswith("_Z"))
        raise LibraryError(
            f"{self.name} exports no function `{symbol}`{hint}",
            details=[_listed(self.symbols)] if self.symbols else [],
            advice=f'It has `{symbol}` as a C++ function: declare it `extern "C"`.'
            if mangled
            else "A handler is an exported function with a name of C.",
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a handler of a library keeps alive, and where the handler lies in it."""

    library: Library
    symbol: str
    handles: tuple[ctypes.CDLL, ...] = field(repr=False)


class Libraries:
    """Libraries under the names that a user gave them. Reads take no lock."""

    def __init__(self) -> None:
        self._named: dict[str, Library] = {}

    def register(self, name: str, path: str | os.PathLike[str] | Library) -> Library:
        """Gives a library a name; another of the same name is replaced.

        Raises:
            LibraryError: The file cannot be loaded.
        """
        found = path if isinstance(path, Library) else open_library(path)
        named = replace(found, name=name)
        self._named = {**self._named, name: named}
        return named

    def find(self, named: str | os.PathLike[str] | Library) -> Library:
        """A library by its name, by its path, or as it is.

        Raises:
            LibraryError: There is none.
        """
        if isinstance(named, Library):
            return named
        if isinstance(named, str) and named in self._named:
            return self._named[named]
        return open_library(named, names=self._named)

    @property
    def named(self) -> Mapping[str, Library]:
        """Those that have a name."""
        return self._named

    def reset(self) -> None:
        """Forgets the names. What is loaded stays so: its code may be running."""
        self._named = {}


def open_library(
    path: str | os.PathLike[str], *, names: Mapping[str, Library] | None = None
) -> Library:
    """Reads a shared library, tries to load it in a process of its own, and copies it.

    Args:
        path: Of the file.
        names: Registered names, for a message where the file is not there.

    Raises:
        LibraryError: There is no such file, it is no shared library, it is for another machine,
            or it cannot be loaded.
    """
    original = Path(os.fspath(path)).expanduser().absolute()
    content = _read(original, names or {})
    facts = _facts(original, content)
    sha256 = hashlib.sha256(content).hexdigest()
    file = keep_content(original.name, content, sha256)
    preload = _neighbours(original, facts)
    probe_library(f"`{original.name}`", file, preload)
    return Library(
        f"`{original.name}`", original, sha256, file, _candidates(facts, content), preload
    )


def keep_content(name: str, content: bytes, sha256: str) -> Path:
    """A copy of a library in the cache, under a hash of its content."""
    cache, key = kernel_cache(), digest(sha256, name)
    entry = cache.find("libraries", key)
    if entry is None or not (entry / name).is_file():
        with cache.workspace() as folder:
            made = folder / "made"
            made.mkdir()
            (made / name).write_bytes(content)
            if entry is not None:
                shutil.rmtree(entry, ignore_errors=True)
            entry = cache.keep("libraries", key, made)
    return entry / name


def exported(file: Path) -> frozenset[str] | None:
    """Every function that a library exports; None where its format tells nothing to us."""
    try:
        return frozenset(ElfFile(io.BytesIO(file.read_bytes())).functions)
    except (OSError, ElfError):
        return None


def _read(path: Path, names: Mapping[str, Library]) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        problem = "it is not there"
        near = [str(other) for other in _siblings(path)]
        close = [Path(found).name for found in get_close_matches(str(path), near, 3)]
        close += get_close_matches(path.name, names, 3)
    except IsADirectoryError:
        problem, close = "it is a folder", []
    except OSError as error:
        problem, close = error.strerror or str(error), []
    hint = f"; did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else ""
    named = ", ".join(f"`{name}`" for name in names)
    raise LibraryError(
        f"The library `{path}` cannot be read: {problem}{hint}",
        details=[f"libraries that have a name: {named}"] if named else [],
        advice="A path is taken relative to the kernel's working directory.",
    )


def _siblings(path: Path) -> list[Path]:
    try:
        return [other for other in path.parent.iterdir() if ".so" in other.name]
    except OSError:
        return []


def _facts(path: Path, content: bytes) -> ElfFile | None:
    """What the file says of itself; None on systems whose format is another."""
    if sys.platform != "linux":
        return None
    try:
        facts = shared_library(io.BytesIO(content))
    except ElfError as error:
        raise LibraryError(
            f"`{path.name}` is no library that this kernel can load: {error}",
            details=[f"path: {path}"],
            advice="Build a shared library: `g++ -shared -fPIC -I "
            '$(python -c "import jax; print(jax.ffi.include_dir())") ...`.',
        ) from None
    here = platform.machine()
    if facts.machine != here:
        raise LibraryError(
            f"`{path.name}` is a library for {facts.machine}; this kernel runs on {here}",
            details=[f"path: {path}"],
            advice="Build it on this machine, or for it.",
        )
    return facts


def _candidates(facts: ElfFile | None, content: bytes) -> tuple[str, ...]:
    """Functions that may be handlers: with names of C; those of the C++ macro where they show."""
    if facts is None:
        return ()
    names = [name for name in facts.functions if not name.startswith(("_Z", "_init", "_fini"))]
    # Each handler that the macro makes has a static of its own in a lambda of this signature.
    mark = "ENKUlP17XLA_FFI_CallFrameE_clES0_E7handler"
    certain = [name for name in names if f"_ZZZ{len(name)}{name}{mark}".encode() in content]
    return tuple(certain or names)


def _neighbours(path: Path, facts: ElfFile | None) -> tuple[Path, ...]:
    """Libraries that it looks for beside itself, where its copy does not stand."""
    if facts is None:
        return ()
    folders = [
        Path(folder.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(path.parent)))
        for folder in facts.search_paths
        if "ORIGIN" in folder
    ]
    found = [folder / name for name in facts.needed for folder in folders]
    return tuple(other for other in found if other.is_file())


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"functions: {', '.join(names[:_SHOWN])}{more}"
