"""What a shared library of Linux says of itself; nothing of it is run or mapped as code.

Read by pyelftools. Source of the format: the System V ABI, as `<elf.h>` has it.
"""

import struct
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, BinaryIO, TypeVar

MAGIC = b"\x7fELF"
DAMAGED = "it is cut short or damaged"

_KINDS = {
    "ET_REL": "an object file",
    "ET_EXEC": "an executable",
    "ET_CORE": "a core dump",
}
_MACHINES = {
    "EM_X86_64": "x86_64",
    "EM_AARCH64": "aarch64",
    "EM_RISCV": "riscv64",
    "EM_PPC64": "ppc64le",
    "EM_S390": "s390x",
    "EM_386": "i386",
    "EM_ARM": "arm",
}
_OTHERS = {
    b"MZ": "a library of Windows",
    b"PK\x03\x04": "a zip archive, such as a wheel",
    b"\xcf\xfa\xed\xfe": "a library of macOS",
    b"\xca\xfe\xba\xbe": "a library of macOS",
    b"\x1f\x8b": "a gzip archive",
    b"!<arch>": "a static library (`.a`)",
    b"version https://git-lfs": "a Git LFS pointer, not the file itself",
}
_MAX_SYMBOLS = 1 << 20

_T = TypeVar("_T")


class ElfError(ValueError):
    """It is no shared library of Linux, or a damaged one; the message is half a sentence."""


class ElfFile:
    """A 64-bit ELF file, as long as its stream is open."""

    def __init__(self, stream: BinaryIO) -> None:
        """Reads headers and the dynamic section.

        Raises:
            ElfError: It is none, or damaged.
        """
        head = stream.read(len(MAGIC))
        if head != MAGIC:
            raise ElfError(_other_words(head + stream.read(512)))
        self._elf: Any = _read(lambda: _opened(stream))
        if self._elf.elfclass != 64:  # noqa: PLR2004 - bits
            raise ElfError("it is a 32-bit library")
        self._segments = _read(lambda: list(self._elf.iter_segments()))
        size = stream.seek(0, 2)
        if any(part["p_offset"] + part["p_filesz"] > size for part in self._segments):
            raise ElfError(DAMAGED)
        self._tags = _read(lambda: list(self._dynamic.iter_tags()) if self._dynamic else [])

    @property
    def machine(self) -> str:
        """For which it was made, as `platform.machine` says it, such as `x86_64`."""
        name = self._elf["e_machine"]
        return _MACHINES.get(name, str(name).removeprefix("EM_").lower())

    @property
    def kind(self) -> str:
        """`a shared library`, `an object file`, …."""
        kind = self._elf["e_type"]
        return "a shared library" if self.is_shared else _KINDS.get(kind, "no shared library")

    @property
    def is_shared(self) -> bool:
        """Whether it can be loaded."""
        return self._elf["e_type"] == "ET_DYN"

    @property
    def needed(self) -> tuple[str, ...]:
        """The libraries that are loaded with it, by name."""
        return tuple(tag.needed for tag in self._tags if tag.entry.d_tag == "DT_NEEDED")

    @property
    def search_paths(self) -> tuple[str, ...]:
        """Where it wants them to be looked for; `$ORIGIN` is its own folder."""
        listed = [
            getattr(tag, "runpath", None) or getattr(tag, "rpath", "")
            for tag in self._tags
            if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")
        ]
        return tuple(path for entry in listed for path in entry.split(":") if path)

    def exports(self, name: str) -> bool:
        """Whether it defines a symbol that others can find; costs the same for any size."""

        def look() -> bool:
            from elftools.elf.hash import GNUHashTable  # noqa: PLC0415 - few read libraries

            place = self._offset_of("DT_GNU_HASH")
            if place is None:
                return any(symbol == name for symbol in self._defined(only_functions=False))
            symbol = GNUHashTable(self._elf, place, self._dynamic).get_symbol(name)
            return symbol is not None and symbol["st_shndx"] != "SHN_UNDEF"

        return _read(look) if self._dynamic else False

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """Exported functions, by name."""
        return _read(lambda: tuple(sorted(set(self._defined(only_functions=True)))))

    @property
    def _dynamic(self) -> Any:
        found = (part for part in self._segments if part["p_type"] == "PT_DYNAMIC")
        return next(found, None)

    def _offset_of(self, tag: str) -> int | None:
        address = next((one["d_val"] for one in self._tags if one.entry.d_tag == tag), None)
        return None if address is None else next(iter(self._elf.address_offsets(address)))

    def _defined(self, *, only_functions: bool) -> Iterator[str]:
        symbols = self._dynamic.iter_symbols() if self._dynamic else ()
        for _, symbol in zip(range(_MAX_SYMBOLS), symbols, strict=False):
            info = symbol["st_info"]
            is_exported = info["bind"] in ("STB_GLOBAL", "STB_WEAK")
            is_wanted = not only_functions or (info["type"] == "STT_FUNC" and symbol["st_value"])
            if is_exported and is_wanted and symbol["st_shndx"] != "SHN_UNDEF":
                yield symbol.name


def shared_library(stream: BinaryIO) -> ElfFile:
    """Reads a file that should be one.

    Raises:
        ElfError: It is something else, or damaged.
    """
    elf = ElfFile(stream)
    if not elf.is_shared:
        raise ElfError(f"it is {elf.kind}, not a shared library")
    return elf


def _opened(stream: BinaryIO) -> Any:
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - few read libraries

    stream.seek(0)
    return ELFFile(stream)


def _other_words(head: bytes) -> str:
    """What a file that is no ELF file may be."""
    if not head:
        return "it is empty"
    for mark, words in _OTHERS.items():
        if head.startswith(mark):
            return f"it is {words}"
    if b"\0" not in head:
        first = head.decode(errors="replace").split("\n", 1)[0][:40]
        return f"it is text that begins with {first!r}"
    return f"it begins with {head[:4].hex(' ')}, and a library with 7f 45 4c 46"


def _read(work: Callable[[], _T]) -> _T:
    with _damage():
        return work()


@contextmanager
def _damage() -> Generator[None]:
    """Whatever pyelftools meets in a damaged file is told in our words."""
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 - few read libraries
    from elftools.construct import ConstructError  # noqa: PLC0415 - as above

    try:
        yield
    except (ELFError, ConstructError, struct.error, ValueError, ArithmeticError) as error:
        raise ElfError(DAMAGED) from error
    except (LookupError, AttributeError, TypeError, AssertionError, StopIteration) as error:
        raise ElfError(DAMAGED) from error
    except (OSError, MemoryError, RecursionError) as error:
        raise ElfError(DAMAGED) from error
