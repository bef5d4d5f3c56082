"""What the bytes of a file tell before anybody loads it: is it a PJRT plugin for this machine?"""

import mmap
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from kernel_magics.plugin.elf import MAGIC, ElfError, ElfFile

ENTRY = "GetPjrtApi"
"""The one function that each PJRT plugin exports."""

_OTHERS = {
    b"MZ": "a Windows library",
    b"PK\x03\x04": "a zip archive, such as a wheel",
    b"\xcf\xfa\xed\xfe": "a macOS library",
    b"\xca\xfe\xba\xbe": "a macOS library",
    b"\x1f\x8b": "a gzip archive",
    b"!<arch>": "a static library",
    b"version https://git-lfs": "a Git LFS pointer, not the file itself",
}
_SYSTEM_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_CACHE = "/etc/ld.so.cache"
_LOADER = "ld-linux"


def library_fault(path: Path) -> str:
    """Why a file cannot be a PJRT plugin of this machine; empty where nothing shows that.

    Reads headers and tables alone, so it costs the same for any size, and loads nothing.
    """
    problem = _file_fault(path)
    if problem or sys.platform != "linux":
        return problem
    try:
        with path.open("rb") as file, mapped(file) as content:
            return _elf_fault(ElfFile(content))
    except ElfError as error:
        return f"it is damaged: {error}"
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"


def missing_libraries(path: Path) -> tuple[str, ...]:
    """Libraries that the file needs, and that the loader of this process will hardly find."""
    if sys.platform != "linux":
        return ()
    try:
        with path.open("rb") as file, mapped(file) as content:
            elf = ElfFile(content)
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
    if not begin:
        return "it is empty"
    if sys.platform != "linux" or begin.startswith(MAGIC):
        return ""
    like = next((words for mark, words in _OTHERS.items() if begin.startswith(mark)), "")
    return f"it is no shared library of Linux{f', but {like}' if like else ''}"


def _elf_fault(elf: ElfFile) -> str:
    here = platform.machine()
    if elf.machine != here:
        return f"it is for {elf.machine}, and this machine is {here}"
    if not elf.is_shared:
        return "it is an ELF file, but no shared library"
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
