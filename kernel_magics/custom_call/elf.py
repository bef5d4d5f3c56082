"""What a file is that should be a shared library of Linux: machine, needs, exported functions.

Source: the ELF specification, as `<elf.h>` has it. Nothing of the file is run or mapped.
"""

import struct
from dataclasses import dataclass

_MAGIC = b"\x7fELF"
_KINDS = {1: "an object file", 2: "an executable", 4: "a core dump"}
_SHARED = 3
_MACHINES = {
    0x03: "x86",
    0x08: "MIPS",
    0x15: "ppc64",
    0x16: "s390x",
    0x28: "ARM",
    0x3E: "x86-64",
    0xB7: "AArch64",
    0xF3: "RISC-V",
}
_PT_DYNAMIC, _PT_LOAD = 2, 1
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB = 1, 4, 5, 6
_DT_STRSZ, _DT_RPATH, _DT_RUNPATH, _DT_GNU_HASH = 10, 15, 29, 0x6FFFFEF5
_FUNCTION, _GLOBAL, _WEAK, _UNDEFINED = 2, 1, 2, 0
_MAX_SYMBOLS = 1 << 20


class ElfError(ValueError):
    """The file is no shared library, or is damaged; the message is half a sentence."""


@dataclass(frozen=True, slots=True)
class ElfFacts:
    """What a shared library says of itself."""

    machine: str
    """Such as `x86-64`."""
    needed: tuple[str, ...]
    """Libraries that must be there when it is loaded."""
    search: tuple[str, ...]
    """Folders in which it has them looked for; `$ORIGIN` is its own."""
    functions: tuple[str, ...]
    """Exported functions, by name."""


@dataclass(frozen=True, slots=True)
class _Reader:
    content: bytes
    order: str

    def unpack(self, form: str, offset: int) -> tuple[int, ...]:
        if offset < 0 or offset + struct.calcsize(self.order + form) > len(self.content):
            raise ElfError("it is cut short or damaged")
        return struct.unpack_from(self.order + form, self.content, offset)


def read_elf(content: bytes) -> ElfFacts:
    """Reads a 64-bit shared library.

    Raises:
        ElfError: It is something else.
    """
    reader = _header(content)
    kind, machine = reader.unpack("HH", 16)
    if kind != _SHARED:
        raise ElfError(f"it is {_KINDS.get(kind, 'no shared library')}, not a shared library")
    name = _MACHINES.get(machine, f"machine {machine}")
    (programs,) = reader.unpack("Q", 32)
    size, count = reader.unpack("HH", 54)
    segments = [reader.unpack("IIQQQQ", programs + i * size) for i in range(count)]
    dynamic = _dynamic(reader, segments)
    return ElfFacts(
        name,
        tuple(_string(reader, segments, dynamic, at) for at in dynamic.get(_DT_NEEDED, [])),
        tuple(
            part
            for tag in (_DT_RPATH, _DT_RUNPATH)
            for at in dynamic.get(tag, [])
            for part in _string(reader, segments, dynamic, at).split(":")
        ),
        tuple(_functions(reader, segments, dynamic)),
    )


def _header(content: bytes) -> _Reader:
    if content[:4] != _MAGIC:
        raise ElfError(_other_kind(content))
    if len(content) < 64 or content[4] not in (1, 2) or content[5] not in (1, 2):  # noqa: PLR2004
        raise ElfError("it is cut short or damaged")
    if content[4] != 2:  # noqa: PLR2004 - the class of 64-bit files
        raise ElfError("it is a 32-bit library")
    return _Reader(content, "<" if content[5] == 1 else ">")


def _other_kind(content: bytes) -> str:
    """What a file that is no ELF file may be."""
    if not content:
        return "it is empty"
    if content.startswith(b"!<arch>"):
        return "it is a static library (`.a`)"
    if content.startswith((b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")):
        return "it is a library of macOS"
    if content.startswith(b"MZ"):
        return "it is a library of Windows"
    head = content[:512]
    if b"\0" not in head:
        first = head.decode(errors="replace").split("\n", 1)[0][:40]
        return f"it is text that begins with {first!r}"
    return f"it begins with {head[:4].hex(' ')}, and a library with 7f 45 4c 46"


def _dynamic(reader: _Reader, segments: list[tuple[int, ...]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for kind, _, offset, _, _, size in segments:
        if kind != _PT_DYNAMIC:
            continue
        for at in range(offset, offset + size, 16):
            tag, value = reader.unpack("QQ", at)
            if tag == 0:
                break
            found.setdefault(tag, []).append(value)
    return found


def _place(segments: list[tuple[int, ...]], address: int) -> int:
    """Where in the file what is mapped at an address lies."""
    for kind, _, offset, start, _, size in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return offset + address - start
    raise ElfError("it is cut short or damaged")


def _string(
    reader: _Reader,
    segments: list[tuple[int, ...]],
    dynamic: dict[int, list[int]],
    at: int,
) -> str:
    start = _place(segments, dynamic.get(_DT_STRTAB, [0])[0]) + at
    end = reader.content.find(b"\0", start)
    return reader.content[start : end if end >= 0 else None].decode(errors="replace")


def _functions(
    reader: _Reader, segments: list[tuple[int, ...]], dynamic: dict[int, list[int]]
) -> list[str]:
    if _DT_SYMTAB not in dynamic:
        return []
    table = _place(segments, dynamic[_DT_SYMTAB][0])
    found: list[str] = []
    for at in range(_count(reader, segments, dynamic)):
        name, info, _, section, address, _ = reader.unpack("IBBHQQ", table + 24 * at)
        is_exported = info >> 4 in (_GLOBAL, _WEAK) and info & 15 == _FUNCTION
        if is_exported and section != _UNDEFINED and address:
            found.append(_string(reader, segments, dynamic, name))
    return sorted(set(found))


def _count(reader: _Reader, segments: list[tuple[int, ...]], dynamic: dict[int, list[int]]) -> int:
    """How many symbols there are, which only the hash tables tell."""
    if _DT_HASH in dynamic:
        return min(reader.unpack("II", _place(segments, dynamic[_DT_HASH][0]))[1], _MAX_SYMBOLS)
    if _DT_GNU_HASH not in dynamic:
        return 0
    start = _place(segments, dynamic[_DT_GNU_HASH][0])
    buckets, first, bloom, _ = reader.unpack("IIII", start)
    at = start + 16 + 8 * bloom
    last = max(reader.unpack(f"{min(buckets, _MAX_SYMBOLS)}I", at), default=0)
    if last < first:
        return first
    chain = at + 4 * buckets
    while last < _MAX_SYMBOLS and not reader.unpack("I", chain + 4 * (last - first))[0] & 1:
        last += 1
    return last + 1
