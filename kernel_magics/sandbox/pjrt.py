"""A PJRT plugin's table of functions, read by its C layout.

Only a child process does this: a plugin that lies about its table ends who reads it.

Source: `xla/pjrt/c/pjrt_c_api.h`, its extensions, and `xla/ffi/api/c_api.h`. The fields read here
have had their places since the first versions that JAX loads.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

EXTENSIONS = (
    "GPU custom call", "profiler", "custom partitioner", "stream", "layouts", "FFI",
    "memory descriptions", "Triton", "raw buffer", "phase compile", "example", "unknown",
    "cross-host transfers", "executable metadata", "callback", "host allocator", "TPU topology",
    "TPU executable", "Megascale", "shardings", "ABI version", "collectives", "multi-slice",
    "host memory allocator", "XLA transform",
)  # fmt: skip
"""What the numbers of extensions mean, from 0."""

_FFI = 5
_METADATA = 1
_MOST = 64
"""Extensions of one plugin: more is a chain that goes in a circle."""


class _Version(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    )


class _Api(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("version", _Version),
    )


class _Extension(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
    )


class _FfiExtension(ctypes.Structure):
    _fields_ = (
        ("base", _Extension),
        ("type_register", ctypes.c_void_p),
        ("user_data_add", ctypes.c_void_p),
        ("register_handler", ctypes.c_void_p),
    )


class _RegisterArgs(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("target", ctypes.c_char_p),
        ("target_size", ctypes.c_size_t),
        ("handler", ctypes.c_void_p),
        ("platform", ctypes.c_char_p),
        ("platform_size", ctypes.c_size_t),
        ("traits", ctypes.c_uint32),
    )


class _CallFrame(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("api", ctypes.c_void_p),
    )


class _MetadataExtension(ctypes.Structure):
    _fields_ = (("base", _Extension), ("metadata", ctypes.c_void_p))


class _Metadata(ctypes.Structure):
    _fields_ = (("struct_size", ctypes.c_size_t), ("version", _Version))


_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

_kept: list[Any] = []
"""Handlers that a plugin has the address of: they must outlive it."""


def extensions(capsule: Any) -> dict[str, int]:
    """The extensions of a plugin: what they are called, and where they lie."""
    found: dict[str, int] = {}
    for place in _chain(_Api.from_address(_address(capsule)).extension):
        kind = _Extension.from_address(place).type
        name = EXTENSIONS[kind] if 0 <= kind < len(EXTENSIONS) else f"number {kind}"
        found[name] = place
    return found


def ffi_version(capsule: Any) -> tuple[int, int] | None:
    """The version of custom calls that a plugin offers to handlers; None where it has none.

    XLA tells it to a handler alone, when that is registered and asked for its own.
    """
    place = extensions(capsule).get(EXTENSIONS[_FFI])
    if place is None:
        return None
    seen: list[tuple[int, int]] = []

    def handler(frame: int) -> None:
        call = _CallFrame.from_address(frame)
        if not call.api:
            return
        version = _Api.from_address(call.api).version
        seen.append((version.major, version.minor))
        for entry in _chain(call.extension):
            if _Extension.from_address(entry).type == _METADATA:
                told = _Metadata.from_address(_MetadataExtension.from_address(entry).metadata)
                told.version.major, told.version.minor = version.major, version.minor

    _kept.append(_Handler(handler))
    target, platform = b"kernel_magics_version", b"Host"
    given = _RegisterArgs(
        _RegisterArgs.traits.offset + 4,  # pyright: ignore[reportAttributeAccessIssue]
        target,
        len(target),
        ctypes.cast(_kept[-1], ctypes.c_void_p).value,
        platform,
        len(platform),
        0,
    )
    # An error object is left to the child's end.
    _Handler(_FfiExtension.from_address(place).register_handler)(ctypes.addressof(given))
    return seen[0] if seen else None


def _chain(place: int | None) -> Iterator[int]:
    for _ in range(_MOST):
        if not place:
            return
        yield place
        place = _Extension.from_address(place).next


def _address(capsule: Any) -> int:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))
