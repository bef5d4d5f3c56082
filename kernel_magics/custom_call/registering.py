"""What a user registers, read and checked before anything changes."""

import ctypes
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernel_magics import _jax_private
from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.custom_call.clients import Reached
from kernel_magics.custom_call.contract import contract as contract_of
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.library import Libraries, Loaded
from kernel_magics.custom_call.probe import probe_handler
from kernel_magics.custom_call.python_handler import cfunc_handler, is_cfunc, python_handler
from kernel_magics.custom_call.registration import Contract, Registration, says_the_same
from kernel_magics.custom_call.trial import try_code
from kernel_magics.errors import CustomCallError, UsageError

_LONGEST_NAME = 200
_FUNCTION: Any = ctypes.CFUNCTYPE(None).__mro__[1]
"""What ctypes makes of each function that it finds in a library."""


def refuse_name(target: str, reserved: str) -> None:
    """Raises where a name cannot be that of a custom call.

    Raises:
        CustomCallError: It is empty, too long, has characters that end strings of C, or is ours.
    """
    problem = ""
    if not target or not target.isprintable() or target.strip() != target:
        problem = "a name has characters that can be seen, no blanks around them"
    elif len(target.encode()) > _LONGEST_NAME:
        problem = f"a name has {_LONGEST_NAME} bytes at most"
    elif target.startswith(reserved):
        problem = f"names that begin with `{reserved}` are those of Kernel Magics"
    if problem:
        raise CustomCallError(
            f"{target!r} cannot be the name of a custom call: {problem}",
            advice="Choose another name, such as `mine.rms_norm`.",
        )


def plugin_names(
    given: str | Iterable[str] | None, known: Sequence[Reached]
) -> frozenset[str] | None:
    """The plugins where a handler serves.

    Args:
        given: As the user said it.
        known: Clients that are here by now.

    Raises:
        CustomCallError: One of them is not known here.
    """
    if given is None:
        return None
    names = frozenset([given] if isinstance(given, str) else given)
    here = {"cpu", *(reached.name for reached in known), *_jax_private.registered_platforms()}
    here |= _found_plugins()
    if strange := sorted(names - here):
        raise CustomCallError(
            f"No plugin `{strange[0]}` is known here",
            details=[f"known: {', '.join(sorted(here))}"],
            advice="`km.plugins.discover()` lists plugins; without `plugins=` a handler serves "
            "on all of them, those that are loaded later included.",
        )
    if not names:
        raise CustomCallError(
            "A handler that serves on no plugin was given",
            advice="Leave `plugins=` out to serve on all of them.",
        )
    return names


def read_contract(given: Contract | str | None) -> Contract | None:
    """A contract, also one that is written down."""
    return contract_of(given) if isinstance(given, str) else given


def kept_where_same(kept: Registration, options: Mapping[str, Any]) -> Registration:
    """A registration with what is new; what says the same stays what it is."""
    new = {
        name: value
        for name, value in options.items()
        if value is not None and not says_the_same(value, getattr(kept, name))
    }
    return replace(kept, **new) if new else kept


def code_of(
    target: str, handler: Any, library: Any, symbol: str | None, libraries: Libraries
) -> Handler | None:
    """The handler that is registered; None where there is none.

    Raises:
        CustomCallError: It is nothing that could be a handler.
        LibraryError: The library has no such handler.
        UsageError: Both a library and a handler are given.
    """
    if library is not None:
        if handler is not None:
            raise UsageError(
                f"`{target}` was given both a library and a handler",
                advice="Say one of `library=` and `handler=`.",
            )
        found = libraries.find(library)
        only = symbol is None and target not in found.symbols
        return found.handler(None if only else symbol or target)
    if symbol is not None:
        raise UsageError(
            f"`{target}` was given the symbol `{symbol}` and no library to find it in",
            advice="Say `library=`, too.",
        )
    return None if handler is None else _read_handler(handler)


def promised(given: Contract | str | None, code: Handler | None) -> Contract | None:
    """The contract that is given, or that stands in the source of the handler.

    Raises:
        UsageError: It cannot be read.
    """
    if given is None and code is not None and isinstance(code.keep_alive, Loaded):
        return code.keep_alive.library.contract
    return read_contract(given)


def ensure_tried(code: Handler, agreed: Contract | None, *, is_wanted: bool) -> bool:
    """Has machine code run in a child first; whether it is known to have survived.

    Python functions need none: what they do wrong is an exception.
    """
    if code.kind == "python":
        return True
    if not is_wanted:
        return False
    return try_code(code, agreed).is_tried


def _read_handler(given: Any) -> Handler:
    if isinstance(given, Handler):
        return given
    if is_cfunc(given):
        return cfunc_handler(given)
    address = _address(given)
    if address:
        return _located(address, given)
    if callable(given):
        return python_handler(given)
    raise CustomCallError(
        f"{given!r} cannot be a handler",
        details=["wanted: a Python function, a numba `cfunc`, a capsule, or a `Handler`"],
        advice="`library=` and `symbol=` name a handler in a shared library.",
    )


def _address(given: Any) -> int:
    """Of a capsule or of a function that ctypes found in a library; zero of other things."""
    if isinstance(given, _FUNCTION):
        return ctypes.cast(given, ctypes.c_void_p).value or 0
    if type(given).__name__ == "PyCapsule":
        return private_ffi.capsule_address(given)
    return 0


class _DlInfo(ctypes.Structure):
    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _located(address: int, given: Any) -> Handler:
    """Machine code at an address: asked for its version in a child, where a file holds it.

    Raises:
        CustomCallError: There is no code at the address.
        LibraryError: It is no handler.
    """
    found = _DlInfo()
    is_found = hasattr(ctypes.pythonapi, "dladdr") and ctypes.CDLL(None).dladdr(
        ctypes.c_void_p(address), ctypes.byref(found)
    )
    file, symbol = found.file or b"", found.symbol or b""
    if is_found and symbol and found.address == address:
        path = Path(file.decode(errors="replace"))
        name = symbol.decode(errors="replace")
        version = probe_handler(f"`{path.name}`", path, (), name)
        return Handler(
            f"{name} in `{path.name}`", "native", address, ("address", address), str(path),
            keep_alive=given, ffi_version=version,
        )  # fmt: skip
    if not _is_code(address):
        raise CustomCallError(
            f"There is no machine code at address {address:#x}",
            details=["a capsule for a handler holds the address of a function"],
            advice="`jax.ffi.pycapsule(library.symbol)` makes one of a function in a library.",
        )
    return Handler(
        f"code at {address:#x}",
        "native",
        address,
        ("address", address),
        "capsule",
        keep_alive=given,
    )


def _is_code(address: int) -> bool:
    """Whether memory can be run there; taken for granted on systems that do not tell."""
    if not sys.platform.startswith("linux"):
        return True
    with Path("/proc/self/maps").open() as maps:
        for line in maps:
            place, rights = line.split(maxsplit=2)[:2]
            start, end = (int(part, 16) for part in place.split("-"))
            if start <= address < end:
                return "x" in rights
    return False


def _found_plugins() -> set[str]:
    """Names of plugins that were discovered, if anybody asked for that."""
    manager = sys.modules.get("kernel_magics.plugin.kernel")
    plugins = getattr(manager, "plugins", None)
    return {row.name for row in plugins.table()} if plugins is not None else set()
