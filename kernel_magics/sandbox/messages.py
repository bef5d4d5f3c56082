"""What kernel and child say to each other: frames of a JSON head and binary blobs on a pipe.

A frame is a mark, the length of the head, the head, then the blobs, whose sizes the head tells.
Nothing is unpickled, and no size is believed before it was compared with a limit.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

REQUESTS = ("parse", "convert", "compile", "run", "call_handler", "probe_plugin")
"""The kinds of request that a child takes."""

ANSWERS = ("ready", "answer", "refusal")
"""The kinds of message that a child sends: `ready` once, when it has started."""

MAX_HEAD_BYTES = 64 << 20
MAX_BLOB_BYTES = 4 << 30
"""All blobs of a message together."""

_MARK = b"KMsb"
_PREFIX = struct.Struct("!4sI")
_PIECE_BYTES = 16 << 20


class MessageError(ValueError):
    """What came over the pipe is no message, or a message is too large for it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One request, or one answer."""

    kind: str
    head: Mapping[str, Any]
    """What JSON can say."""
    blobs: tuple[bytes, ...] = ()


def write_message(stream: IO[bytes], message: Message) -> None:
    """Writes a message to an unbuffered stream.

    Raises:
        MessageError: It is too large, or its head is not JSON; nothing was written.
        OSError: Nobody reads at the other end.
    """
    sizes = [len(blob) for blob in message.blobs]
    try:
        text = json.dumps({"kind": message.kind, "head": message.head, "blobs": sizes})
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageError(f"The head of a message is not JSON: {error}") from error
    head = text.encode()
    if len(head) > MAX_HEAD_BYTES or sum(sizes) > MAX_BLOB_BYTES:
        raise MessageError(f"A message of {len(head) + sum(sizes):,} bytes is too large")
    for part in (_PREFIX.pack(_MARK, len(head)), head, *message.blobs):
        _write(stream, part)


def read_message(stream: IO[bytes], kinds: Sequence[str]) -> Message | None:
    """Reads a message of one of some kinds; None where the stream ends before it.

    Raises:
        MessageError: It is no such message, is cut short, or claims to be too large.
        OSError: The stream cannot be read.
    """
    prefix = _read(stream, _PREFIX.size)
    if not prefix:
        return None
    if len(prefix) < _PREFIX.size:
        raise MessageError("A message is cut short")
    mark, length = _PREFIX.unpack(prefix)
    if mark != _MARK or length > MAX_HEAD_BYTES:
        raise MessageError(f"No message begins with {prefix!r}")
    kind, head, sizes = _head(_whole(stream, length), kinds)
    return Message(kind, head, tuple(_whole(stream, size) for size in sizes))


def _head(text: bytes, kinds: Sequence[str]) -> tuple[str, dict[str, Any], list[int]]:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"The head of a message is not JSON: {error}") from error
    if not isinstance(found, dict) or found.keys() != {"kind", "head", "blobs"}:
        raise MessageError("The head of a message has other parts than kind, head and blobs")
    kind, head, sizes = found["kind"], found["head"], found["blobs"]
    if kind not in kinds:
        raise MessageError(f"A message of kind {kind!r} was not expected")
    if not isinstance(head, dict) or not isinstance(sizes, list):
        raise MessageError("The head of a message is not of the types that it should be")
    if not all(type(size) is int and size >= 0 for size in sizes) or sum(sizes) > MAX_BLOB_BYTES:
        raise MessageError("The sizes of a message's blobs are not possible")
    return kind, head, sizes


def _whole(stream: IO[bytes], size: int) -> bytes:
    content = _read(stream, size)
    if len(content) < size:
        raise MessageError("A message is cut short")
    return content


def _read(stream: IO[bytes], size: int) -> bytes:
    """As many bytes as asked for, fewer only where the stream ends."""
    parts: list[bytes] = []
    while size > 0:
        # In pieces: a size that nothing follows must not take the memory.
        part = stream.read(min(size, _PIECE_BYTES))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(stream: IO[bytes], content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) :]
