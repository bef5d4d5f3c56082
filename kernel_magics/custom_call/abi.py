"""XLA's FFI as C sees it: what a handler is given, laid out for ctypes.

Only what handlers touch. Fields are added to these structs at their ends from version to version,
and each says its size: what stands here holds for FFI 0.1 and later.

Source: `xla/ffi/api/c_api.h`, which `jax.ffi.include_dir()` has.
"""

import ctypes
from typing import Any

MAJOR = 0
"""The major version of the FFI that this is."""

METADATA = 1
"""The extension of a call frame that asks for metadata; the handler is not run."""
SCALAR, STRING, ARRAY, DICTIONARY = 3, 4, 1, 2
"""Kinds of attributes."""


class Version(ctypes.Structure):
    """`XLA_FFI_Api_Version`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    )


class Api(ctypes.Structure):
    """The beginning of `XLA_FFI_Api`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version", Version),
        ("internal_api", ctypes.c_void_p),
        ("error_create", ctypes.c_void_p),
        ("error_message", ctypes.c_void_p),
        ("error_destroy", ctypes.c_void_p),
    )


class Extension(ctypes.Structure):
    """What each extension of a call frame begins with."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
    )


class Metadata(ctypes.Structure):
    """`XLA_FFI_Metadata`: what a handler says of itself."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("version", Version),
        ("traits", ctypes.c_uint32),
        ("state_type_id", ctypes.c_int64),
    )


class MetadataExtension(ctypes.Structure):
    """`XLA_FFI_Metadata_Extension`."""

    _fields_ = (("base", Extension), ("metadata", ctypes.c_void_p))


class Buffers(ctypes.Structure):
    """`XLA_FFI_Args` and `XLA_FFI_Rets`, which have the same form."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("types", ctypes.POINTER(ctypes.c_int)),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
    )


class Attributes(ctypes.Structure):
    """`XLA_FFI_Attrs`, sorted by name."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("types", ctypes.POINTER(ctypes.c_int)),
        ("names", ctypes.POINTER(ctypes.c_void_p)),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
    )


class CallFrame(ctypes.Structure):
    """`XLA_FFI_CallFrame`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("api", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("arguments", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
        ("future", ctypes.c_void_p),
    )


class Buffer(ctypes.Structure):
    """`XLA_FFI_Buffer`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    )


class ByteSpan(ctypes.Structure):
    """`XLA_FFI_ByteSpan`: a string without a zero at its end."""

    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


class Scalar(ctypes.Structure):
    """`XLA_FFI_Scalar`."""

    _fields_ = (("dtype", ctypes.c_int), ("value", ctypes.c_void_p))


class Array(ctypes.Structure):
    """`XLA_FFI_Array`."""

    _fields_ = (("dtype", ctypes.c_int), ("size", ctypes.c_size_t), ("data", ctypes.c_void_p))


class ErrorCreate(ctypes.Structure):
    """`XLA_FFI_Error_Create_Args`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    )


class ErrorMessage(ctypes.Structure):
    """`XLA_FFI_Error_GetMessage_Args`, which later versions call `GetDetails` and make longer."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    )


HandlerFunction = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
"""`XLA_FFI_Handler`: takes a frame, gives an error or null. Python's lock is released for calls."""

CODES = {
    "CANCELLED": 1,
    "UNKNOWN": 2,
    "INVALID_ARGUMENT": 3,
    "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "OUT_OF_RANGE": 11,
    "UNIMPLEMENTED": 12,
    "INTERNAL": 13,
    "UNAVAILABLE": 14,
    "DATA_LOSS": 15,
    "UNAUTHENTICATED": 16,
}
"""Error codes by the names that XLA prints."""


def answer_metadata(frame: Any) -> bool:
    """Answers for a handler of no version of its own, where the frame asks for metadata.

    Args:
        frame: A `CallFrame`.

    Returns:
        Whether it asked; the handler is not to be run then.
    """
    extension = frame.extension_start
    while extension:
        base = Extension.from_address(extension)
        if base.type == METADATA:
            asked = MetadataExtension.from_address(extension).metadata
            metadata, api = Metadata.from_address(asked), Api.from_address(frame.api)
            # A host takes handlers of its own version, whichever that is.
            metadata.version.major = api.version.major
            metadata.version.minor = api.version.minor
            metadata.traits = 0
            return True
        extension = base.next
    return False


def create_error(frame: Any, message: str, code: str) -> int:
    """Makes an `XLA_FFI_Error`, owned by who is given it.

    Args:
        frame: The `CallFrame` of the call that fails.
        message: Any text.
        code: A key of `CODES`.
    """
    text = message.encode(errors="backslashreplace").replace(b"\0", b"\\0")
    wanted = ErrorCreate(28, None, text, CODES[code])  # 28: up to the last field, as XLA counts
    create = HandlerFunction(Api.from_address(frame.api).error_create)
    return int(create(ctypes.addressof(wanted)) or 0)


def error_text(frame: Any, error: int) -> str:
    """What an error says; it stays with its owner.

    Args:
        frame: A `CallFrame` of the host that made it.
        error: The address of an `XLA_FFI_Error`.
    """
    asked = ErrorMessage(ctypes.sizeof(ErrorMessage), None, error, None, 0)
    HandlerFunction(Api.from_address(frame.api).error_message)(ctypes.addressof(asked))
    return (asked.message or b"").decode(errors="replace")
