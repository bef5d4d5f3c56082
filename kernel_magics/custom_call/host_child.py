"""A host that calls a handler once, without XLA: it starts in milliseconds.

Needs the standard library alone, as `probe_child`, which loads it by its path. Handlers that ask
the host for more than errors need a real one, and are found out.
"""

import base64
import ctypes
import os
from collections.abc import Mapping, Sequence
from typing import Any

NEEDS_HOST = "it asks its host for more than this one has"
"""On stderr, once a handler has done so: what it does then says nothing about it."""

_EXECUTE = 3


class Host:
    """`XLA_FFI_Api` for ctypes, with errors that it can make and nothing else."""

    def __init__(self, abi: Any, minor: int) -> None:
        """Makes the table of functions.

        Args:
            abi: The module with the structs.
            minor: Of the FFI's version that it claims to have.
        """
        self.errors: list[tuple[str, int]] = []
        self.needs_host = False
        self._abi = abi

        class Table(ctypes.Structure):
            _fields_ = (("head", abi.Api), ("more", ctypes.c_void_p * 64))

        functions = {
            "create": abi.HandlerFunction(self._create),
            "message": abi.HandlerFunction(self._message),
            "destroy": abi.HandlerFunction(self._destroy),
            "refuse": abi.HandlerFunction(self._refuse),
        }
        # They live as long as what points at them.
        self._functions = functions
        at = {n: ctypes.cast(f, ctypes.c_void_p).value for n, f in functions.items()}
        table = self._table = Table()
        table.head.struct_size = ctypes.sizeof(table)
        table.head.version.struct_size = ctypes.sizeof(table.head.version)
        table.head.version.minor = minor
        table.head.error_create = at["create"]
        table.head.error_message, table.head.error_destroy = at["message"], at["destroy"]
        table.more[:] = [at["refuse"]] * len(table.more)

    @property
    def address(self) -> int:
        """Of the table."""
        return ctypes.addressof(self._table)

    def frame(self) -> Any:
        """A call frame without arguments."""
        frame = self._abi.CallFrame()
        # Up to `attributes`, as hosts count: the field behind it is no part of the size.
        frame.struct_size = self._abi.CallFrame.future.offset
        for part in (frame.arguments, frame.results, frame.attributes):
            part.struct_size = ctypes.sizeof(part)
        frame.api, frame.stage = self.address, _EXECUTE
        return frame

    def _create(self, address: int | None) -> int:
        wanted = self._abi.ErrorCreate.from_address(address)
        self.errors.append(((wanted.message or b"").decode(errors="replace"), wanted.code))
        return len(self.errors)

    def _message(self, address: int | None) -> int:
        self._abi.ErrorMessage.from_address(address).message = NEEDS_HOST.encode()
        return 0

    def _destroy(self, _: int | None) -> int:
        return 0

    def _refuse(self, _: int | None) -> int:
        if not self.needs_host:
            os.write(2, f"\n{NEEDS_HOST}\n".encode())
        self.needs_host = True
        self.errors.append((NEEDS_HOST, 12))
        return len(self.errors)


def call(function: Any, abi: Any, areas: Any, asked: Mapping[str, Any], minor: int) -> Any:
    """Calls a handler with what a question holds; the answer to it.

    Args:
        function: Of ctypes.
        abi: The module with the structs.
        areas: The module with `Area`.
        asked: `arguments` and `results`, each with dtype, dims, size and, for arguments, data;
            `attributes`, each with name, kind, dtype, size and data.
        minor: Of the FFI's version that the host claims to have.
    """
    host = Host(abi, minor)
    frame = host.frame()
    kept: list[Any] = []
    lent = [
        *_buffers(abi, areas, frame.arguments, asked["arguments"], kept, is_result=False),
        *_buffers(abi, areas, frame.results, asked["results"], kept, is_result=True),
    ]
    _attributes(abi, frame.attributes, asked["attributes"], kept)
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    error = function(ctypes.addressof(frame))
    if host.needs_host or frame.future:
        return {"needs_host": True}
    found = [area.finding(failed=bool(error)) for area in lent]
    answer: dict[str, Any] = {"findings": [finding for finding in found if finding]}
    if error:
        text, code = host.errors[-1] if host.errors else ("", 2)
        answer["error"] = {"text": text, "code": code}
    return answer


def _buffers(
    abi: Any,
    areas: Any,
    part: Any,
    kinds: Sequence[Mapping[str, Any]],
    kept: list[Any],
    *,
    is_result: bool,
) -> list[Any]:
    lent: list[Any] = []
    values = (ctypes.c_void_p * len(kinds))()
    types = (ctypes.c_int * len(kinds))(*[1] * len(kinds))
    for at, kind in enumerate(kinds):
        area = areas.Area(kind["size"], is_result=is_result, at=at)
        if not is_result:
            area.fill(base64.b64decode(kind["data"]))
        dims = (ctypes.c_int64 * len(kind["dims"]))(*kind["dims"])
        buffer = abi.Buffer(
            ctypes.sizeof(abi.Buffer), None, kind["dtype"], area.start, len(dims), dims
        )
        values[at] = ctypes.addressof(buffer)
        lent.append(area)
        kept += [buffer, dims]
    _hang(part, values, types, kept)
    return lent


def _attributes(abi: Any, part: Any, given: Sequence[Mapping[str, Any]], kept: list[Any]) -> None:
    names = (ctypes.c_void_p * len(given))()
    values = (ctypes.c_void_p * len(given))()
    types = (ctypes.c_int * len(given))()
    for at, attribute in enumerate(given):
        name = attribute["name"].encode()
        data = ctypes.create_string_buffer(base64.b64decode(attribute["data"]))
        start = ctypes.addressof(data)
        types[at] = attribute["kind"]
        if attribute["kind"] == abi.STRING:
            value = abi.ByteSpan(start, attribute["size"])
        elif attribute["kind"] == abi.ARRAY:
            value = abi.Array(attribute["dtype"], attribute["size"], start)
        else:
            value = abi.Scalar(attribute["dtype"], start)
        text = ctypes.create_string_buffer(name)
        span = abi.ByteSpan(ctypes.addressof(text), len(name))
        names[at], values[at] = ctypes.addressof(span), ctypes.addressof(value)
        kept += [data, value, text, span]
    part.names = ctypes.cast(names, ctypes.POINTER(ctypes.c_void_p))
    kept.append(names)
    _hang(part, values, types, kept)


def _hang(part: Any, values: Any, types: Any, kept: list[Any]) -> None:
    part.size = len(values)
    part.values = ctypes.cast(values, ctypes.POINTER(ctypes.c_void_p))
    part.types = ctypes.cast(types, ctypes.POINTER(ctypes.c_int))
    kept += [values, types]
