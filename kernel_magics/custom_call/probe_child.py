"""The program of a probe: loads a library and asks a function whether it is a handler.

It is run by its path, in a process of its own that may crash, and needs the standard library
alone. What it is asked stands on its stdin, its answer goes to the stdout that it had: JSON.
"""

import ctypes
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

_UNSET = -1


def main() -> None:
    """Answers one question and ends."""
    asked = json.loads(sys.stdin.readline())
    answers = os.dup(1)
    # What the library prints is not the answer.
    os.dup2(2, 1)
    if hasattr(signal, "alarm"):
        signal.alarm(int(asked["timeout_s"]) + 1)
    os.write(answers, json.dumps(_answer(asked)).encode())
    # Ends without what the library wants done at the end, which may hang.
    os._exit(0)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        kept = [ctypes.CDLL(path) for path in asked["preload"]]
        library = ctypes.CDLL(asked["library"], mode=os.RTLD_NOW)
    except OSError as error:
        return {"load": str(error)}
    if asked["symbol"] is None:
        return {"loaded": len(kept)}
    try:
        function = getattr(library, asked["symbol"])
    except AttributeError:
        return {"missing": asked["symbol"]}
    os.write(2, b"asking\n")
    return _ask(function, asked["minor"])


def _ask(function: Any, minor: int) -> dict[str, Any]:
    """Calls it as a host does that wants to know its version, as one of `minor`."""
    abi = _load_abi()
    metadata = abi.Metadata()
    metadata.struct_size = ctypes.sizeof(metadata)
    metadata.version.struct_size = ctypes.sizeof(metadata.version)
    metadata.version.major = metadata.version.minor = _UNSET
    extension = abi.MetadataExtension()
    extension.base.struct_size, extension.base.type = ctypes.sizeof(extension), abi.METADATA
    extension.metadata = ctypes.addressof(metadata)
    api, errors = _api(abi, minor)
    frame = abi.CallFrame()
    # Up to `attributes`: a field behind it, which this version may not have, is no part of it.
    frame.struct_size = abi.CallFrame.future.offset
    for part in (frame.arguments, frame.results, frame.attributes):
        part.struct_size = ctypes.sizeof(part)
    frame.extension_start, frame.api = ctypes.addressof(extension), ctypes.addressof(api)
    frame.stage = 3
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    error = function(ctypes.addressof(frame))
    if errors:
        return {"error": errors[0]}
    version = [metadata.version.major, metadata.version.minor]
    return {"version": None if error or _UNSET in version else version}


def _api(abi: Any, minor: int) -> tuple[Any, list[str]]:
    """A host that can make errors and nothing else, and the errors that it was asked to make."""
    errors: list[str] = []

    def create(address: int | None) -> int:
        wanted = abi.ErrorCreate.from_address(address)
        errors.append((wanted.message or b"").decode(errors="replace"))
        return 1

    def refuse(_: int | None) -> int:
        errors.append("it uses what a host has for calls alone")
        return 1

    class Host(ctypes.Structure):
        _fields_ = (("head", abi.Api), ("more", ctypes.c_void_p * 64))

    host = Host()
    functions = (abi.HandlerFunction(create), abi.HandlerFunction(refuse))
    made, refused = (ctypes.cast(function, ctypes.c_void_p).value for function in functions)
    host.head.struct_size = ctypes.sizeof(host)
    host.head.version.struct_size = ctypes.sizeof(host.head.version)
    host.head.version.minor = minor
    host.head.error_create = made
    host.head.error_message = host.head.error_destroy = refused
    host.more[:] = [refused] * len(host.more)
    # They live as long as what points at them.
    host.functions = functions
    return host, errors


def _load_abi() -> Any:
    """By its path: the package that it belongs to would import JAX."""
    path = Path(__file__).with_name("abi.py")
    spec = importlib.util.spec_from_file_location("kernel_magics_abi", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
