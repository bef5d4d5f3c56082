"""Trampolines: one stable address for each target, whose handler can be replaced while it serves.

The fast ones are machine code that a wheel brings along, or that a compiler makes where it brings
none for this machine. Without either, or when their slots are used up, ctypes makes them: they do
the same but for catching exceptions of C++, and take some microseconds more.
"""

import ctypes
import platform
import sys
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Protocol

from kernel_magics.custom_call.abi import (
    CallFrame,
    HandlerFunction,
    answer_metadata,
    create_error,
    error_text,
)
from kernel_magics.custom_call.build_compiler import find_compiler, run_compiler
from kernel_magics.custom_call.cache import digest, kernel_cache
from kernel_magics.custom_call.handler import Handler
from kernel_magics.errors import BuildError

REVISION = 1
"""Of the functions that the library of trampolines has; another is not used."""
_TEXT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class CallStats:
    """What went through a trampoline so far."""

    calls: int = 0
    errors: int = 0
    mean_us: float | None = None
    """Of calls with a handler; None before the first."""
    last_error: str = ""


class Trampoline(Protocol):
    """An address that XLA is given once, in front of a handler that changes."""

    @property
    def address(self) -> int:
        """Of an `XLA_FFI_Handler`; the same for the life of the process."""
        ...

    def switch(self, handler: Handler | None) -> None:
        """Calls that begin from now on run this; none: they fail in words."""
        ...

    def stats(self) -> CallStats:
        """What went through it."""
        ...


def library_name() -> str:
    """The file name of the library of trampolines for this machine."""
    return f"trampoline-{sys.platform}-{platform.machine().lower()}.so"


SOURCE = Path(__file__).with_name("trampoline.cc")
FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden")
LIBRARY = Path(__file__).parents[1] / "static" / library_name()
"""Where a wheel puts it, if it was built where there is a C compiler."""


def new_trampoline(target: str, *, native: bool | None = None) -> Trampoline:
    """A trampoline that lives as long as the process.

    Args:
        target: For the message of a call without handler.
        native: Whether it is machine code; None for where that is at hand.
    """
    library = None if native is False else _library(LIBRARY) or _compiled(LIBRARY)
    slot = library.km_claim(target.encode()) if library is not None else -1
    made: Trampoline = NativeTrampoline(library, slot) if slot >= 0 else CtypesTrampoline(target)
    # XLA keeps the address for the life of the process.
    _kept.append(made)
    return made


_kept: list[Trampoline] = []


class NativeTrampoline:
    """A slot of the library."""

    def __init__(self, library: Any, slot: int) -> None:
        self._library, self._slot = library, slot
        self._handlers: list[Handler] = []

    @property
    def address(self) -> int:
        """As the protocol says."""
        return int(self._library.km_address(self._slot))

    def switch(self, handler: Handler | None) -> None:
        """As the protocol says."""
        kept = None if handler is None else _kept_one(self._handlers, handler)
        self._library.km_switch(self._slot, kept.address if kept else None)

    def stats(self) -> CallStats:
        """As the protocol says; the mean is of the first calls and of some of those after."""
        counts, text = (ctypes.c_int64 * 4)(), ctypes.create_string_buffer(_TEXT_BYTES)
        self._library.km_counts(self._slot, counts)
        self._library.km_last_error(self._slot, text)
        calls, timed, ns, errors = counts
        mean = ns / timed / 1000 if timed else None
        return CallStats(calls, errors, mean, text.value.decode(errors="replace"))


class CtypesTrampoline:
    """A Python function that C can call."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._handlers: list[Handler] = []
        self._run: Any = None
        self._lock = threading.Lock()
        self._calls = self._errors = self._timed = self._ns = 0
        self._last_error = ""
        self._entry = HandlerFunction(self._dispatch)

    @property
    def address(self) -> int:
        """As the protocol says."""
        address = ctypes.cast(self._entry, ctypes.c_void_p).value
        assert address is not None
        return address

    def switch(self, handler: Handler | None) -> None:
        """As the protocol says."""
        kept = None if handler is None else _kept_one(self._handlers, handler)
        self._run = HandlerFunction(kept.address) if kept else None

    def stats(self) -> CallStats:
        """As the protocol says."""
        with self._lock:
            mean = self._ns / self._timed / 1000 if self._timed else None
            return CallStats(self._calls, self._errors, mean, self._last_error)

    def _dispatch(self, address: int) -> int | None:
        frame = CallFrame.from_address(address)
        if answer_metadata(frame):
            return None
        run, began = self._run, perf_counter_ns()
        if run is None:
            text = missing_text(self._target)
            error: int | None = create_error(frame, text, "FAILED_PRECONDITION")
        else:
            error, text = run(address), None
        ended = perf_counter_ns()
        if error and text is None:
            text = error_text(frame, error)
        with self._lock:
            self._calls += 1
            self._errors += bool(error)
            self._last_error = text or self._last_error
            if run is not None:
                self._timed += 1
                self._ns += ended - began
        return error


def _kept_one(handlers: list[Handler], handler: Handler) -> Handler:
    """The handler to run: one of the same code that is kept already, else this one from now on.

    None is let go: a call may be within the one before, for as long as it likes. Equal ones have
    addresses of their own, and only those that are kept stay valid.
    """
    for known in handlers:
        if known == handler:
            return known
    handlers.append(handler)
    return handler


def missing_text(target: str) -> str:
    """What a call says that has no handler; the library says the same."""
    return f"the custom call `{target}` has no handler here any more; register one and call again"


@lru_cache(maxsize=4)
def _compiled(path: Path) -> Any:
    """The library, compiled here and kept for all kernels; None where nobody can.

    Without it a C++ exception of a handler would pass through Python, which ends the process; and
    who has handlers in C++ most often has a compiler.
    """
    del path  # of the library that is not there
    try:
        compiler = find_compiler("c++")
        store, key = kernel_cache(), digest(SOURCE.read_text(), compiler.version, library_name())
        entry = store.find("trampolines", key)
        if entry is None:
            with store.workspace() as folder:
                (folder / "made").mkdir()
                flags = [*FLAGS, "-o", str(folder / "made" / library_name()), str(SOURCE)]
                if run_compiler(compiler, flags, folder, None, "trampolines").code:
                    return None
                entry = store.keep("trampolines", key, folder / "made")
    except (BuildError, OSError):
        return None
    return _library(entry / library_name())


@lru_cache(maxsize=4)
def _library(path: Path) -> Any:
    """The library of trampolines; None where there is none that runs here."""
    try:
        library: Any = ctypes.CDLL(str(path))
        if library.km_revision() != REVISION:
            return None
    except (OSError, AttributeError):
        return None
    library.km_claim.argtypes = (ctypes.c_char_p,)
    library.km_address.restype = ctypes.c_void_p
    library.km_address.argtypes = (ctypes.c_int,)
    library.km_switch.argtypes = (ctypes.c_int, ctypes.c_void_p)
    library.km_counts.argtypes = (ctypes.c_int, ctypes.c_void_p)
    library.km_last_error.argtypes = (ctypes.c_int, ctypes.c_char_p)
    return library
