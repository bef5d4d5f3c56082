"""A handler's first call, in a child process, with guard bytes around each of its buffers."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from kernel_magics.custom_call import abi
from kernel_magics.custom_call.guard_area import Area
from kernel_magics.sandbox.arrays import array_blobs, array_heads, read_arrays, read_kinds

_TARGET = "kernel_magics_trial"


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


class GuardedHandler:
    """Stands in for a handler: lends it memory of its own, and looks at that afterwards."""

    def __init__(
        self, function: Any, arguments: Sequence[int | None], results: Sequence[int | None]
    ) -> None:
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
        self._handler = abi.HandlerFunction(address)
        self._sizes = (arguments, results)
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
            *self._lend(frame.arguments, self._sizes[0], is_result=False),
            *self._lend(frame.results, self._sizes[1], is_result=True),
        ]
        # For ever: threads of the handler may be late.
        self._kept += lent
        error = self._handler(pointer)
        if frame.future:
            # It goes on in the background, and nothing can be said of its buffers yet.
            return error
        for area, buffer, original in lent:
            if finding := area.finding(failed=bool(error)):
                self.findings.append(finding)
            if area.is_result:
                ctypes.memmove(original, area.start, area.size)
            buffer.data = original
        return error

    def _lend(
        self, buffers: Any, sizes: Sequence[int | None], *, is_result: bool
    ) -> list[tuple[Area, Any, int]]:
        lent: list[tuple[Area, Any, int]] = []
        for at, size in enumerate(sizes):
            if at >= buffers.size or size is None:
                continue
            buffer = abi.Buffer.from_address(buffers.values[at])
            area, original = Area(size, is_result=is_result, at=at), int(buffer.data or 0)
            if not is_result:
                area.fill(ctypes.string_at(original, size) if size else b"")
            buffer.data = area.start
            lent.append((area, buffer, original))
        return lent


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
