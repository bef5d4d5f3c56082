"""A handler's first call, in a child process, with guard bytes around each of its buffers."""

import ctypes
import mmap
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from kernel_magics.custom_call import abi
from kernel_magics.sandbox.arrays import array_blobs, array_heads, read_arrays, read_kinds

_TARGET = "kernel_magics_trial"
_GUARD_BYTES = 64 << 10
_PATTERN = bytes((131 * i + 17) & 255 for i in range(256))


def call_handler(
    head: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """Loads, registers and calls a handler once; the answer holds `results` and `findings`.

    Runs in the child. Nothing of this can be undone: the child is for no other use afterwards.
    """
    # As the handler has them: XLA would cut them to 32 bits otherwise.
    jax.config.update("jax_enable_x64", True)  # noqa: FBT003
    arrays = read_arrays(head["arguments"] + head["arrays"], blobs)
    arguments, values = arrays[: len(head["arguments"])], arrays[len(head["arguments"]) :]
    named = {
        name: value[()] if value.ndim == 0 else value
        for name, value in zip(head["array_names"], values, strict=True)
    }
    kept = [ctypes.CDLL(path) for path in head.get("preload", ())]
    library = ctypes.CDLL(head["library"])
    kinds = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in read_kinds(head["results"])]
    guarded = GuardedHandler(
        getattr(library, head["symbol"]),
        [_size(array) for array in arguments],
        [_size(kind) for kind in kinds],
    )
    jax.ffi.register_ffi_target(_TARGET, guarded.capsule())
    run = jax.ffi.ffi_call(_TARGET, kinds, has_side_effect=True)

    def call(*args: Any) -> Sequence[jax.Array]:
        return run(*args, **named, **head["attributes"])

    results = jax.block_until_ready(jax.jit(call)(*arguments))
    del kept
    found = {"results": array_heads(results), "findings": guarded.findings}
    return found, array_blobs(results)


def _size(array: Any) -> int | None:
    """Bytes of an array; None for small integers, which XLA may pack."""
    dtype = np.dtype(array.dtype)
    if dtype.kind == "V" and "int" in dtype.name:
        return None
    return int(np.prod(array.shape, dtype=np.int64)) * dtype.itemsize


@dataclass(slots=True)
class _Area:
    """Memory for one buffer between guard bytes, and between pages that nobody may touch."""

    size: int
    seed: int
    """Of its guard bytes: a handler may copy those of another area here."""
    memory: mmap.mmap = field(init=False)
    start: int = field(init=False)
    """Address of the buffer."""

    def __post_init__(self) -> None:
        page = mmap.PAGESIZE
        whole = 2 * _GUARD_BYTES + -(-self.size // page) * page + 2 * page
        self.memory = mmap.mmap(-1, whole)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.start = first + page + _GUARD_BYTES
        ctypes.memmove(first, _pattern(whole, self.seed), whole)
        if sys.platform == "linux":
            protect = ctypes.CDLL(None).mprotect
            protect(ctypes.c_void_p(first), ctypes.c_size_t(page), 0)
            protect(ctypes.c_void_p(first + whole - page), ctypes.c_size_t(page), 0)

    def overrun(self) -> tuple[int, int]:
        """Bytes before and behind the buffer up to which something was written."""
        front = ctypes.string_at(self.start - _GUARD_BYTES, _GUARD_BYTES)
        behind = ctypes.string_at(self.start + self.size, _GUARD_BYTES)
        before = _changed(front, _expected(self.start - _GUARD_BYTES, self))
        after = _changed(behind, _expected(self.start + self.size, self))
        return (
            _GUARD_BYTES - before[0] if len(before) else 0,
            int(after[-1]) + 1 if len(after) else 0,
        )

    def is_untouched(self) -> bool:
        """Whether nothing was written into the buffer."""
        content = ctypes.string_at(self.start, self.size)
        return self.size > 0 and content == _expected(self.start, self, self.size)


def _pattern(size: int, seed: int) -> bytes:
    shift = seed % len(_PATTERN)
    turned = _PATTERN[shift:] + _PATTERN[:shift]
    return (turned * (size // len(turned) + 1))[:size]


def _expected(address: int, area: _Area, size: int = _GUARD_BYTES) -> bytes:
    first = area.start - _GUARD_BYTES - mmap.PAGESIZE
    return _pattern(size, area.seed + address - first)


def _changed(found: bytes, expected: bytes) -> np.ndarray:
    return np.flatnonzero(np.frombuffer(found, np.uint8) != np.frombuffer(expected, np.uint8))


class GuardedHandler:
    """Stands in for a handler: lends it memory of its own, and looks at that afterwards."""

    def __init__(
        self, function: Any, arguments: Sequence[int | None], results: Sequence[int | None]
    ) -> None:
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
        self._handler = abi.HandlerFunction(address)
        self._sizes = {"argument": arguments, "result": results}
        self._thunk = abi.HandlerFunction(self._call)
        self._kept: list[Any] = []
        self.findings: list[dict[str, Any]] = []

    def capsule(self) -> Any:
        """As `jax.ffi.register_ffi_target` takes it."""
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
        return new(ctypes.cast(self._thunk, ctypes.c_void_p).value, None, None)

    def _call(self, pointer: int) -> int | None:
        frame = abi.CallFrame.from_address(pointer)
        if frame.extension_start:
            error = self._handler(pointer)
            _take_version_of_host(frame)
            return error
        lent = [
            *self._lend(frame.arguments, "argument"),
            *self._lend(frame.results, "result"),
        ]
        # For ever: threads of the handler may be late.
        self._kept += lent
        error = self._handler(pointer)
        if frame.future:
            # It goes on in the background, and nothing can be said of its buffers yet.
            self.findings.append({"what": "asynchronous"})
            return error
        for kind, at, area, buffer, original in lent:
            self._look(kind, at, area, original, failed=bool(error))
            if kind == "result":
                ctypes.memmove(original, area.start, area.size)
            buffer.data = original
        return error

    def _lend(self, buffers: Any, kind: str) -> list[tuple[str, int, _Area, Any, int]]:
        lent: list[tuple[str, int, _Area, Any, int]] = []
        for at, size in enumerate(self._sizes[kind]):
            if at >= buffers.size or size is None:
                continue
            buffer = abi.Buffer.from_address(buffers.values[at])
            seed = 17 * at + (101 if kind == "result" else 0)
            area, original = _Area(size, seed), int(buffer.data or 0)
            if kind == "argument":
                ctypes.memmove(area.start, original, size)
            buffer.data = area.start
            lent.append((kind, at, area, buffer, original))
        return lent

    def _look(self, kind: str, at: int, area: _Area, original: int, *, failed: bool) -> None:
        before, behind = area.overrun()
        if before or behind:
            self._find("overrun", kind, at, before=before, behind=behind)
        elif kind == "argument":
            given = ctypes.string_at(original, area.size)
            if ctypes.string_at(area.start, area.size) != given:
                self._find("argument written", kind, at)
        elif not failed and area.is_untouched():
            self._find("untouched", kind, at)

    def _find(self, what: str, kind: str, at: int, **more: int) -> None:
        found = {"what": what, "kind": kind, "at": at, **more}
        self.findings.append({k: v if isinstance(v, str) else int(v) for k, v in found.items()})


def _take_version_of_host(frame: Any) -> None:
    """Has a handler of newer headers be taken for one of this host's, as trampolines do."""
    extension = frame.extension_start
    while extension:
        base = abi.Extension.from_address(extension)
        if base.type == abi.METADATA:
            place = abi.MetadataExtension.from_address(extension).metadata
            version = abi.Metadata.from_address(place).version
            version.minor = min(version.minor, abi.Api.from_address(frame.api).version.minor)
        extension = base.next
