"""What an ELF file says of itself: machine, libraries that it needs, symbols that it exports."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


class Content(Protocol):
    """Bytes that are read in places: a plugin has hundreds of megabytes."""

    def __getitem__(self, place: slice, /) -> bytes: ...
    def __len__(self) -> int: ...


class ElfError(ValueError):
    """It is no ELF file, or a damaged one."""


MAGIC = b"\x7fELF"
MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le", 22: "s390x", 3: "i386"}

_SHARED = 3
_LOAD, _DYNAMIC = 1, 2
_NEEDED, _HASH, _STRTAB, _SYMTAB, _RPATH, _RUNPATH = 1, 4, 5, 6, 15, 29
_GNU_HASH = 0x6FFFFEF5
_SYMBOL = struct.Struct("<IBBHQQ")
_LONGEST_NAME = 4096


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the file, and where it lies in memory."""

    address: int
    offset: int
    size: int


class ElfFile:
    """A 64-bit little-endian ELF file.

    Source: the System V ABI's "Object Files", and the GNU hash section as `ld` writes it.
    """

    def __init__(self, content: Content) -> None:
        """Reads headers and the dynamic section.

        Raises:
            ElfError: It is none, or damaged.
        """
        self._content = content
        if bytes(content[:4]) != MAGIC:
            raise ElfError("it does not begin as an ELF file does")
        try:
            self._read()
        except (struct.error, IndexError, OverflowError) as error:
            raise ElfError("its ELF headers are cut short") from error

    def _read(self) -> None:
        is_64, order = self._content[4:6]
        if (is_64, order) != (2, 1):
            raise ElfError("it is no 64-bit little-endian ELF file")
        kind, machine = struct.unpack("<HH", self._content[16:20])
        self.machine = MACHINES.get(machine, f"machine {machine}")
        self.is_shared = kind == _SHARED
        (headers,) = struct.unpack("<Q", self._content[32:40])
        size, count = struct.unpack("<HH", self._content[54:58])
        self._segments: list[Segment] = []
        dynamic: Segment | None = None
        for i in range(count):
            begin = headers + i * size
            row = struct.unpack("<IIQQQQ", self._content[begin : begin + 40])
            segment = Segment(row[3], row[2], row[5])
            if segment.offset + segment.size > len(self._content):
                raise ElfError(
                    f"it has {len(self._content):,} bytes of at least "
                    f"{segment.offset + segment.size:,}: the file was cut short"
                )
            if row[0] == _LOAD:
                self._segments.append(segment)
            elif row[0] == _DYNAMIC:
                dynamic = segment
        self._tags = list(self._dynamic_tags(dynamic)) if dynamic else []

    def _dynamic_tags(self, segment: Segment) -> Iterator[tuple[int, int]]:
        for begin in range(segment.offset, segment.offset + segment.size, 16):
            tag, value = struct.unpack("<QQ", self._content[begin : begin + 16])
            if tag == 0:
                return
            yield tag, value

    @property
    def needed(self) -> tuple[str, ...]:
        """The libraries that are loaded with it, by name."""
        return tuple(self._string(value) for tag, value in self._tags if tag == _NEEDED)

    @property
    def search_paths(self) -> tuple[str, ...]:
        """Where it wants them to be looked for; `$ORIGIN` is its own folder."""
        listed = [self._string(value) for tag, value in self._tags if tag in (_RPATH, _RUNPATH)]
        return tuple(path for entry in listed for path in entry.split(":") if path)

    def exports(self, name: str) -> bool:
        """Whether it defines a symbol that others can find."""
        table = dict(self._tags)
        if _SYMTAB not in table or _STRTAB not in table:
            return False
        try:
            wanted = name.encode()
            return any(self._is_defined(number, wanted) for number in self._candidates(name, table))
        except (struct.error, IndexError) as error:
            raise ElfError("its table of symbols is cut short") from error

    def _candidates(self, name: str, table: dict[int, int]) -> Iterator[int]:
        """Numbers of symbols that may have the name."""
        if _GNU_HASH in table:
            yield from self._gnu_bucket(name, self._offset(table[_GNU_HASH]))
        elif _HASH in table:
            begin = self._offset(table[_HASH])
            yield from range(struct.unpack("<II", self._content[begin : begin + 8])[1])

    def _gnu_bucket(self, name: str, begin: int) -> Iterator[int]:
        buckets, first, bloom, _ = struct.unpack("<IIII", self._content[begin : begin + 16])
        wanted = _gnu_hash(name)
        start = begin + 16 + 8 * bloom
        place = start + 4 * (wanted % buckets)
        (number,) = struct.unpack("<I", self._content[place : place + 4])
        while number >= first:
            place = start + 4 * (buckets + number - first)
            (found,) = struct.unpack("<I", self._content[place : place + 4])
            if found | 1 == wanted | 1:
                yield number
            if found & 1:
                return
            number += 1

    def _is_defined(self, number: int, wanted: bytes) -> bool:
        begin = self._offset(dict(self._tags)[_SYMTAB]) + number * _SYMBOL.size
        name, _, _, section, _, _ = _SYMBOL.unpack(self._content[begin : begin + _SYMBOL.size])
        return section != 0 and self._string(name).encode() == wanted

    def _string(self, place: int) -> str:
        begin = self._offset(dict(self._tags)[_STRTAB]) + place
        text = bytes(self._content[begin : begin + _LONGEST_NAME])
        return text.split(b"\0", 1)[0].decode(errors="replace")

    def _offset(self, address: int) -> int:
        for segment in self._segments:
            if segment.address <= address < segment.address + segment.size:
                return address - segment.address + segment.offset
        raise ElfError("its dynamic section points outside of it")


def _gnu_hash(name: str) -> int:
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value
