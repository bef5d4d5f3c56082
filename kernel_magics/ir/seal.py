"""A checksum inside a saved file: damage is found before anything parses the file.

MLIR's reader of bytecode can end the process, or never end, on bytes that nobody wrote.
"""

import hashlib
import json
from typing import Any

_KEY = "kernel_magics.sha256"
_BLANK = "0" * 64
_MARK = f'{{"{_KEY}": "'.encode()


def unsealed(fields: dict[str, Any]) -> str:
    """A JSON record with a place for the checksum, to be written into the file as it is."""
    return json.dumps({_KEY: _BLANK, **fields})


def seal(content: bytes, record: str) -> bytes:
    """Writes the checksum of a file into the record of `unsealed` in it, in as many bytes."""
    at = content.index(record.encode()) + len(_MARK)
    return content[:at] + _digest(content, at) + content[at + len(_BLANK) :]


def is_sealed(content: bytes) -> bool:
    """Whether there is a checksum in it."""
    return _MARK in content


def is_intact(content: bytes) -> bool:
    """Whether a checksum in it is that of all the rest."""
    at = content.find(_MARK)
    while at >= 0:
        at += len(_MARK)
        if content[at : at + len(_BLANK)] == _digest(content, at):
            return True
        at = content.find(_MARK, at)
    return False


def _digest(content: bytes, at: int) -> bytes:
    """The SHA-256 of a file whose own checksum, which stands at `at`, is blank."""
    digest = hashlib.sha256(content[:at])
    digest.update(_BLANK.encode() + content[at + len(_BLANK) :])
    return digest.hexdigest().encode()
