"""What the bytes of a file tell before anybody loads it: is it a PJRT plugin for this machine?"""

import mmap
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from kernel_magics.elf import ElfError, ElfFile, shared_library

ENTRY = "GetPjrtApi"
"""The one function that each PJRT plugin exports."""

_SYSTEM_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_CACHE = "/etc/ld.so.cache"
_LOADER = "ld-linux"
_FIRST_BYTES = 4 << 20


def library_fault(path: Path) -> str:
    """Why a file cannot be a PJRT plugin of this machine; empty where nothing shows that.

    Reads headers and tables alone, so it costs the same for any size, and loads nothing.
    """
    problem = _file_fault(path)
    if problem or sys.platform != "linux":
        return problem
    try:
        with path.open("rb") as file:
            return _elf_fault(shared_library(file))
    except ElfError as error:
        return str(error)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"


def looks_like_plugin(path: Path) -> bool:
    """Whether a file's first part names what a plugin exports: enough for a first look at many.

    Names of dynamic symbols stand near the beginning; a plugin exports few.
    """
    try:
        with path.open("rb") as file, mapped(file) as content:
            return content.find(b"\0" + ENTRY.encode() + b"\0", 0, _FIRST_BYTES) >= 0
    except OSError:
        return False


def missing_libraries(path: Path) -> tuple[str, ...]:
    """Libraries that the file needs, and that the loader of this process will hardly find."""
    if sys.platform != "linux":
        return ()
    try:
        with path.open("rb") as file:
            elf = ElfFile(file)
            needed, folders = elf.needed, [*_folders(elf, path)]
    except (ElfError, OSError):
        return ()
    known = _loaded_names() | _cached_names(needed)
    return tuple(
        name
        for name in needed
        if name not in known
        and not name.startswith(_LOADER)
        and not any((folder / name).exists() for folder in folders)
    )


def mapped(file: object) -> mmap.mmap:
    """A file's content without reading it; raises `OSError` where it is empty."""
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # pyright: ignore[reportAttributeAccessIssue]
    except ValueError as error:
        raise OSError("it is empty") from error


def holds_word(path: Path, word: str) -> bool:
    """Whether a C string of a file ends in a word; True where the file cannot be read.

    The linker keeps one string for all that end alike, so what stands before it says nothing.
    """
    try:
        with path.open("rb") as file, mapped(file) as content:
            return content.find(word.encode() + b"\0") >= 0
    except OSError:
        return True


def _file_fault(path: Path) -> str:
    if not path.exists():
        return "there is no such file"
    if path.is_dir():
        return "it is a folder, not a shared library"
    try:
        with path.open("rb") as file:
            begin = file.read(32)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    return "" if begin else "it is empty"


def _elf_fault(elf: ElfFile) -> str:
    here = platform.machine()
    if elf.machine != here:
        return f"it is for {elf.machine}, and this machine is {here}"
    if not elf.exports(ENTRY):
        return f"it is a shared library, but no PJRT plugin: it exports no `{ENTRY}`"
    return ""


def _folders(elf: ElfFile, path: Path) -> Iterator[Path]:
    own = str(path.resolve().parent)
    for entry in elf.search_paths:
        yield Path(entry.replace("$ORIGIN", own).replace("${ORIGIN}", own))
    yield from (Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry)
    machine = platform.machine()
    for folder in _SYSTEM_FOLDERS:
        yield from (Path(folder), Path(folder) / f"{machine}-linux-gnu")


def _loaded_names() -> set[str]:
    """Libraries that this process has loaded: the loader takes those of the same name."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return set()
    return {line.rpartition("/")[2] for line in lines if "/" in line and ".so" in line}


def _cached_names(names: tuple[str, ...]) -> set[str]:
    """Those names that the loader's cache lists."""
    try:
        cache = Path(_CACHE).read_bytes()
    except OSError:
        return set()
    return {name for name in names if b"\0" + name.encode() + b"\0" in cache}
