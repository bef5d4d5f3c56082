"""The program of a probe: loads a library, asks a function whether it is a handler, or calls it.

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
        signal.alarm(int(asked["timeout_s"]) + 2)
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
    if asked.get("call") is not None:
        os.write(2, b"calling\n")
        abi, areas, host = _load("abi"), _load("guard_area"), _load("host_child")
        answer: dict[str, Any] = host.call(function, abi, areas, asked["call"], asked["minor"])
        return answer
    os.write(2, b"asking\n")
    return _ask(function, asked["minor"])


def _ask(function: Any, minor: int) -> dict[str, Any]:
    """Calls it as a host does that wants to know its version, as one of `minor`."""
    abi = _load("abi")
    host = _load("host_child").Host(abi, minor)
    metadata = abi.Metadata()
    metadata.struct_size = ctypes.sizeof(metadata)
    metadata.version.struct_size = ctypes.sizeof(metadata.version)
    metadata.version.major = metadata.version.minor = _UNSET
    extension = abi.MetadataExtension()
    extension.base.struct_size, extension.base.type = ctypes.sizeof(extension), abi.METADATA
    extension.metadata = ctypes.addressof(metadata)
    frame = host.frame()
    frame.extension_start = ctypes.addressof(extension)
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    error = function(ctypes.addressof(frame))
    if host.errors:
        return {"error": host.errors[0][0]}
    version = [metadata.version.major, metadata.version.minor]
    return {"version": None if error or _UNSET in version else version}


def _load(name: str) -> Any:
    """A module beside this one, by its path: the package that it belongs to would import JAX."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"kernel_magics_{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
