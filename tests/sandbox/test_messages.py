"""Frames on the pipe, good and bad."""

import io
import json
import struct

import pytest

from kernel_magics.sandbox import messages
from kernel_magics.sandbox.messages import Message, MessageError, read_message, write_message


def frame(head, blobs: bytes = b"", mark: bytes = b"KMsb") -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("!4sI", mark, len(text)) + text + blobs


def whole(**changes):
    return {"kind": "answer", "head": {}, "blobs": []} | changes


class Drops(io.RawIOBase):
    """A pipe that takes and gives three bytes at a time."""

    def __init__(self) -> None:
        self.content = bytearray()

    def write(self, content):
        self.content += content[:3]
        return len(content[:3])

    def read(self, size=-1):
        taken = bytes(self.content[: min(size, 3)])
        del self.content[: len(taken)]
        return taken


def test_messages_come_out_as_they_went_in():
    head = {"a": [1, 2.5, None, True, "ü\ud800\n"], "b": {"c": float("inf")}}
    given = Message("answer", head, (b"", b"\0\xff" * 50, b"x"))
    pipe = Drops()
    write_message(pipe, given)
    write_message(pipe, Message("refusal", {}))
    assert read_message(pipe, ("answer",)) == given
    assert read_message(pipe, ("answer", "refusal")) == Message("refusal", {})
    assert read_message(pipe, ("answer",)) is None


BAD = {
    "no frame": b"Hello, world",
    "another mark": frame(whole(), mark=b"KMsc"),
    "cut in the prefix": b"KM",
    "cut in the head": frame(whole())[:-1],
    "cut in a blob": frame(whole(blobs=[9]), b"12345678"),
    "a head of a gigabyte": struct.pack("!4sI", b"KMsb", 1 << 30),
    "no JSON": frame(b"{"),
    "no UTF-8": frame(b'"\xff"'),
    "deep JSON": frame(b"[" * 200_000 + b"]" * 200_000),
    "a list": frame([]),
    "a part too few": frame({"kind": "answer", "head": {}}),
    "a part too many": frame(whole(more=1)),
    "another kind": frame(whole(kind="parse")),
    "a kind that is no text": frame(whole(kind=["answer"])),
    "a head that is no object": frame(whole(head=[])),
    "sizes that are no list": frame(whole(blobs={"0": 1})),
    "a size below zero": frame(whole(blobs=[4, -4])),
    "a size that is no integer": frame(whole(blobs=[1.0]), b"x"),
    "a size that is true": frame(whole(blobs=[True]), b"x"),
    "an exabyte": frame(whole(blobs=[1 << 60])),
    "an exabyte in all": frame(whole(blobs=[1 << 31] * 4)),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_message_is_an_error(name):
    with pytest.raises(MessageError):
        read_message(io.BytesIO(BAD[name]), ("answer",))


def test_sizes_that_nothing_follows_take_no_memory():
    import tracemalloc

    tracemalloc.start()
    with pytest.raises(MessageError):
        read_message(io.BytesIO(frame(whole(blobs=[messages.MAX_BLOB_BYTES]), b"x")), ("answer",))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20


@pytest.mark.parametrize("head", [{"a": {1, 2}}, {"a": b"bytes"}])
def test_heads_that_are_not_json_are_not_written(head):
    pipe = io.BytesIO()
    with pytest.raises(MessageError):
        write_message(pipe, Message("answer", head))
    assert pipe.getvalue() == b""


def test_messages_that_are_too_large_are_not_written(monkeypatch):
    monkeypatch.setattr(messages, "MAX_BLOB_BYTES", 10)
    pipe = io.BytesIO()
    with pytest.raises(MessageError) as error:
        write_message(pipe, Message("answer", {}, (b"123456", b"123456")))
    assert str(error.value) == "A message of 59 bytes is too large"
    assert pipe.getvalue() == b""
