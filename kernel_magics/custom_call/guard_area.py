"""Memory between guard bytes: what is written beside a buffer is found, and how far.

Needs the standard library alone: processes without JAX load it by its path.
"""

import ctypes
import mmap
import sys
from typing import Any

_GUARD_BYTES = 64 << 10
_PATTERN = bytes((131 * i + 17) & 255 for i in range(256))


class Area:
    """Memory for one buffer between guard bytes, and between pages that nobody may touch."""

    def __init__(self, size: int, *, is_result: bool, at: int) -> None:
        """Fills it, and the guards, with a pattern of its own.

        Args:
            size: Of the buffer, in bytes.
            is_result: Whether a handler is to write into it.
            at: Which argument or result it is; a handler may copy the guards of another here.
        """
        self.size, self.is_result, self.at = size, is_result, at
        self._given = b""
        page = mmap.PAGESIZE
        whole = 2 * _GUARD_BYTES + -(-size // page) * page + 2 * page
        self._memory = mmap.mmap(-1, whole)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._first = first
        self.start = first + page + _GUARD_BYTES
        """Address of the buffer."""
        ctypes.memmove(first, self._expected(first, whole), whole)
        if sys.platform == "linux":
            protect = ctypes.CDLL(None).mprotect
            for edge in (first, first + whole - page):
                protect(ctypes.c_void_p(edge), ctypes.c_size_t(page), 0)

    def fill(self, content: bytes) -> None:
        """Writes what an argument holds."""
        self._given = content
        ctypes.memmove(self.start, content, len(content))

    def content(self) -> bytes:
        """What the buffer holds."""
        return ctypes.string_at(self.start, self.size)

    def finding(self, *, failed: bool) -> dict[str, Any] | None:
        """What a handler did that it must not have done; None where there is nothing.

        Args:
            failed: Whether it returned an error: then it need not have written a result.
        """
        kind = "result" if self.is_result else "argument"
        before, behind = self._overrun()
        if before or behind:
            what = "overrun"
        elif not self.is_result and self.content() != self._given:
            what = "argument written"
        elif self.is_result and not failed and self._is_untouched():
            what = "untouched"
        else:
            return None
        return {"what": what, "kind": kind, "at": self.at, "before": before, "behind": behind}

    def _overrun(self) -> tuple[int, int]:
        """Bytes before and behind the buffer up to which something was written."""
        changed = [
            _changed(ctypes.string_at(place, _GUARD_BYTES), self._expected(place, _GUARD_BYTES))
            for place in (self.start - _GUARD_BYTES, self.start + self.size)
        ]
        front, behind = changed
        return (_GUARD_BYTES - front[0] if front else 0, behind[1] + 1 if behind else 0)

    def _is_untouched(self) -> bool:
        return self.size > 0 and self.content() == self._expected(self.start, self.size)

    def _expected(self, address: int, size: int) -> bytes:
        shift = 17 * self.at + 101 * self.is_result + address - self._first
        turned = _PATTERN[shift % 256 :] + _PATTERN[: shift % 256]
        return (turned * (size // 256 + 1))[:size]


def _changed(found: bytes, expected: bytes) -> tuple[int, int] | None:
    """The first and the last place that differ."""
    if found == expected:
        return None
    places = [i for i, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1]]
    return places[0], places[-1]
