"""The FFI extension of a PJRT plugin: how it is given handlers of custom calls.

What is registered with JAX reaches jaxlib's own clients alone: each plugin has a registry of its
own, behind this extension of its C API.

Source: `xla/pjrt/c/pjrt_c_api.h` and `pjrt_c_api_ffi_extension.h`. Their structs grow at the end.
"""

import ctypes
from dataclasses import dataclass

from kernel_magics.errors import CustomCallError

_FFI = 5
"""`PJRT_Extension_Type_FFI`."""
_HANDLER_ARGUMENTS = 52
"""The size of the arguments up to the last field, as PJRT counts."""

PLATFORMS = {"cpu": "Host", "cuda": "CUDA", "gpu": "CUDA", "rocm": "ROCM", "tpu": "TPU"}
"""What clients call their platform, to what XLA's registry of handlers does."""


class _Api(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version_size", ctypes.c_size_t),
        ("version_extension", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("error_destroy", ctypes.c_void_p),
        ("error_message", ctypes.c_void_p),
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


class _HandlerArguments(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("target", ctypes.c_char_p),
        ("target_size", ctypes.c_size_t),
        ("handler", ctypes.c_void_p),
        ("platform", ctypes.c_char_p),
        ("platform_size", ctypes.c_size_t),
        ("traits", ctypes.c_uint32),
    )


class _MessageArguments(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
        ("message", ctypes.c_void_p),
        ("message_size", ctypes.c_size_t),
    )


class _DestroyArguments(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
    )


_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class PjrtFfi:
    """A plugin's registry of handlers."""

    api: int
    """The address of its `PJRT_Api`."""
    plugin: str
    """For messages."""

    @property
    def has_extension(self) -> bool:
        """Whether it takes handlers at all."""
        extension = self._extension()
        return extension is not None and bool(extension.register_handler)

    def register(self, target: str, address: int, platform: str) -> None:
        """Gives it a handler. It keeps the first of a target, and says nothing about others.

        Args:
            target: The custom call's name.
            address: Of an `XLA_FFI_Handler` that lives as long as the process.
            platform: As the client names it, such as `cpu`.

        Raises:
            CustomCallError: It has no such extension, or refused.
        """
        extension = self._extension()
        if extension is None or not extension.register_handler:
            raise CustomCallError(
                f"The plugin `{self.plugin}` takes no handlers of custom calls",
                details=["its PJRT library has no FFI extension"],
                advice="Use a fallback there, or another plugin.",
            )
        name, where = target.encode(), PLATFORMS.get(platform, platform).encode()
        wanted = _HandlerArguments(
            _HANDLER_ARGUMENTS, name, len(name), address, where, len(where), 0
        )
        error = _Function(extension.register_handler)(ctypes.addressof(wanted))
        if error:
            raise CustomCallError(
                f"The plugin `{self.plugin}` refused a handler for `{target}`",
                details=[self._message(error)],
                advice="Another version of the plugin may take it.",
            )

    def _extension(self) -> _FfiExtension | None:
        at = _Api.from_address(self.api).extension_start
        while at:
            extension = _Extension.from_address(at)
            if extension.type == _FFI:
                return _FfiExtension.from_address(at)
            at = extension.next
        return None

    def _message(self, error: int) -> str:
        api = _Api.from_address(self.api)
        asked = _MessageArguments(ctypes.sizeof(_MessageArguments), None, error, None, 0)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(api.error_message)(ctypes.addressof(asked))
        text = ctypes.string_at(asked.message or 0, asked.message_size) if asked.message else b""
        done = _DestroyArguments(ctypes.sizeof(_DestroyArguments), None, error)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(api.error_destroy)(ctypes.addressof(done))
        return text.decode(errors="replace")


def api_of_library(path: str) -> int:
    """The address of the `PJRT_Api` of a plugin's library that is loaded already."""
    get = ctypes.CDLL(path).GetPjrtApi
    get.restype = ctypes.c_void_p
    return int(get() or 0)
