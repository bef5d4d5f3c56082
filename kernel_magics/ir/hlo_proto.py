"""Serialized HLO modules: their wire format, fusions as calls, and what a conversion drops.

Standard library alone: the child process that converts loads this file by its path.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__)

# Numbers of fields, from XLA's `hlo.proto` and `xla_data.proto`.
_COMPUTATIONS, _PROGRAM_SHAPE, _SCHEDULE = 3, 4, 7
_INSTRUCTIONS = 2
_NAME, _OPCODE, _SHAPE, _METADATA, _FUSION_KIND, _TARGET = 1, 2, 3, 7, 11, 28
_ID, _OPERANDS, _BACKEND_CONFIG, _CONSTRAINS_LAYOUT, _ALIASING = 35, 36, 43, 56, 74
_PARAMETERS, _RESULT, _TUPLE, _LAYOUT = 1, 2, 4, 5
_MINOR_TO_MAJOR, _TILES = 1, 6

_WRAPPERS = 2
"""`HloSnapshot` holds an `HloProto` holds the module, each as its first field."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
_VARINT_BITS = 64

Field = tuple[int, int | bytes, bytes]
"""Number, value, and the bytes it was read from, key included."""

Change = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class HloFacts:
    """What a module holds that StableHLO has no place for."""

    fusions: int
    layouts: int
    """Instructions whose result has a layout other than the default."""
    entry_layouts: int
    """Parameters and results of the entry, counted alike."""
    has_schedule: bool
    backend_configs: int
    """Instructions with one, custom calls aside: theirs are kept."""
    metadata: int
    problem: str
    """Why the module's values would not survive; empty where they do."""


def unwrap(content: bytes) -> bytes | None:
    """The module in bytes of an `HloModuleProto`, `HloProto` or `HloSnapshot`; else None."""
    for _ in range(_WRAPPERS + 1):
        try:
            found = dict[int, int | bytes]((number, value) for number, value, _ in fields(content))
        except ValueError:
            return None
        inner = found.get(1)
        if not isinstance(inner, bytes):
            return None
        if isinstance(found.get(_COMPUTATIONS), bytes) and {2, 5, 6} & found.keys():
            return content
        content = inner
    return None


def as_calls(module: bytes) -> bytes:
    """The module with each fusion turned into a call of the computation that it fuses.

    A fusion says how to compile; its value is that of the call. As calls they keep their names.
    The schedule goes: it would have to order the computations that become functions.
    """
    unscheduled = b"".join(raw for n, _, raw in fields(module) if n != _SCHEDULE)
    return _replace(unscheduled, _COMPUTATIONS, lambda c: _replace(c, _INSTRUCTIONS, _as_call))


def read_facts(module: bytes) -> HloFacts:
    """Counts what is dropped, and looks for what would change values.

    Raises:
        ValueError: These bytes are no message.
    """
    counts = Counter[str]()
    problem = ""
    for number, computation, _ in fields(module):
        if number == _COMPUTATIONS and isinstance(computation, bytes):
            problem = _count(computation, counts) or problem
    return HloFacts(
        counts["fusion"],
        counts["layout"],
        _entry_layouts(module),
        bool(_first(module, _SCHEDULE)),
        counts["config"],
        counts["metadata"],
        problem,
    )


def fields(message: bytes) -> Iterator[Field]:
    """The fields of a message, in order.

    Raises:
        ValueError: It does not follow protobuf's wire format.
    """
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        kind = key & 7
        if key >> 3 == 0:
            raise ValueError("field 0")
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value, message[start:at]
            continue
        if kind == _BYTES:
            length, at = _varint(message, at)
        elif kind in _WIDTHS:
            length = _WIDTHS[kind]
        else:
            raise ValueError(f"wire type {kind}")
        if at + length > len(message):
            raise ValueError("cut short")
        value = message[at : at + length]
        at += length
        yield key >> 3, value, message[start:at]


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _VARINT_BITS + 6, 7):
        if at >= len(message):
            raise ValueError("cut short")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004
            return value, at
    raise ValueError("a number of more than 64 bits")


def _to_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes_field(number: int, value: bytes) -> bytes:
    return _to_varint(number << 3 | _BYTES) + _to_varint(len(value)) + value


def _replace(message: bytes, number: int, change: Change) -> bytes:
    return b"".join(
        _bytes_field(number, change(value)) if n == number and isinstance(value, bytes) else raw
        for n, value, raw in fields(message)
    )


def _as_call(instruction: bytes) -> bytes:
    if _first(instruction, _OPCODE) != b"fusion":
        return instruction
    kept = (raw for n, _, raw in fields(instruction) if n not in (_OPCODE, _FUSION_KIND, _ALIASING))
    return b"".join(kept) + _bytes_field(_OPCODE, b"call")


def _count(computation: bytes, counts: Counter[str]) -> str:
    """Adds the instructions of one computation; tells why one of them cannot be taken."""
    shapes: dict[int, bytes] = {}
    problem = ""
    for number, instruction, _ in fields(computation):
        if number != _INSTRUCTIONS or not isinstance(instruction, bytes):
            continue
        found = dict[int, int | bytes]((n, value) for n, value, _ in fields(instruction))
        shape, opcode = found.get(_SHAPE), found.get(_OPCODE)
        if not isinstance(shape, bytes):
            raise ValueError("an instruction without a shape")  # noqa: TRY004 - says what is read
        shapes[_number(found.get(_ID))] = shape
        operands = [shapes.get(i, b"") for i in _numbers(found.get(_OPERANDS, b""))]
        counts["fusion"] += opcode == b"fusion"
        counts["layout"] += not _is_plain(shape)
        counts["metadata"] += bool(found.get(_METADATA))
        counts["config"] += bool(found.get(_BACKEND_CONFIG)) and opcode != b"custom-call"
        problem = problem or _problem(found, [shape, *operands])
    return problem


def _problem(instruction: dict[int, int | bytes], shapes: list[bytes]) -> str:
    """Why an instruction's value depends on what the conversion drops."""
    opcode, name = (_text(instruction.get(key)) for key in (_OPCODE, _NAME))
    if opcode == "bitcast" and any(_is_tiled(shape) for shape in shapes):
        return f"the `bitcast` `{name}` works on a tiled layout, which only its device knows"
    constrained = instruction.get(_CONSTRAINS_LAYOUT)
    if opcode == "custom-call" and not constrained and not all(map(_is_plain, shapes)):
        target = _text(instruction.get(_TARGET))
        return (
            f"the call `{name}` of `{target}` works on a layout that is not the default, "
            "and does not say that it wants it"
        )
    return ""


def _entry_layouts(module: bytes) -> int:
    program = _first(module, _PROGRAM_SHAPE)
    if not isinstance(program, bytes):
        return 0
    return sum(
        not _is_plain(shape)
        for number, value, _ in fields(program)
        if number in (_PARAMETERS, _RESULT) and isinstance(value, bytes)
        for shape in _leaves(value)
    )


def _leaves(shape: bytes) -> Iterator[bytes]:
    """The arrays of a shape that may be a tuple."""
    parts = [value for n, value, _ in fields(shape) if n == _TUPLE and isinstance(value, bytes)]
    if not parts:
        yield shape
    for part in parts:
        yield from _leaves(part)


def _is_plain(shape: bytes) -> bool:
    """Whether arrays lie in memory last dimension first, untiled."""
    return all(_is_row_major(_layout(leaf)) for leaf in _leaves(shape)) and not _is_tiled(shape)


def _is_row_major(layout: bytes) -> bool:
    order = _numbers(_first(layout, _MINOR_TO_MAJOR) or b"")
    return order == sorted(order, reverse=True)


def _is_tiled(shape: bytes) -> bool:
    return any(_first(_layout(leaf), _TILES) is not None for leaf in _leaves(shape))


def _layout(shape: bytes) -> bytes:
    found = _first(shape, _LAYOUT)
    return found if isinstance(found, bytes) else b""


def _first(message: bytes, number: int) -> int | bytes | None:
    return next((value for n, value, _ in fields(message) if n == number), None)


def _numbers(packed: int | bytes) -> list[int]:
    if isinstance(packed, int):
        return [packed]
    numbers: list[int] = []
    at = 0
    while at < len(packed):
        value, at = _varint(packed, at)
        numbers.append(value)
    return numbers


def _number(value: int | bytes | None) -> int:
    return value if isinstance(value, int) else 0


def _text(value: int | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""
