"""Loading a library and asking a function for its FFI version, in a process that may crash."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax

from kernel_magics.errors import LibraryError

_TIMEOUT_S = 30
_MISSING = re.compile(r"^(?P<name>\S+?): cannot open shared object file: No such file")
_UNDEFINED = re.compile(r"undefined symbol: (?P<name>\S+)")
_MINOR = re.compile(r"^#define XLA_FFI_API_MINOR (\d+)", re.MULTILINE)
_UNTOUCHED = "The kernel has not loaded it."


@cache
def ffi_version() -> tuple[int, int]:
    """The version of the FFI that this jaxlib has, as its headers say."""
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    found = _MINOR.search(header.read_text())
    return 0, int(found[1]) if found else 1


def probe_library(name: str, file: Path, preload: Sequence[Path]) -> None:
    """Loads a library in a process of its own.

    Args:
        name: What the user calls it.
        file: The copy that is to be loaded.
        preload: Libraries beside the original, to be loaded before.

    Raises:
        LibraryError: It cannot be loaded, or ends the process, or does not come to an end.
    """
    _ask(name, file, preload, None)


def probe_handler(name: str, file: Path, preload: Sequence[Path], symbol: str) -> tuple[int, int]:
    """Asks a function of a library which version of the FFI it was compiled for.

    Raises:
        LibraryError: It is no handler, or of a version that cannot work here; or as
            `probe_library`.
    """
    answer = _ask(name, file, preload, symbol)
    version = answer.get("version")
    if version is None:
        said = answer.get("error", "")
        raise LibraryError(
            f"`{symbol}` of {name} is no handler of the FFI",
            details=[f"asked for its version it said: {said}" if said else "it tells no version"],
            advice=_ADVICE,
        )
    if version[0] != ffi_version()[0]:
        raise LibraryError(
            f"`{symbol}` of {name} is a handler of FFI {version[0]}.{version[1]}, which cannot "
            "work here",
            details=[f"this jaxlib has FFI {ffi_version()[0]}.{ffi_version()[1]}"],
            advice="Compile it with the headers in `jax.ffi.include_dir()`.",
        )
    return int(version[0]), int(version[1])


_ADVICE = (
    "A handler takes one `XLA_FFI_CallFrame*`; `XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, "
    "binding)` makes one of a C++ function."
)


@dataclass(frozen=True, slots=True)
class Called:
    """How a call of a handler in a process of its own ended."""

    code: int | None
    """The process's exit code; None where it took too long."""
    answer: Mapping[str, Any]
    """`findings`, `error`, or `needs_host`; empty where the process ended before."""
    words: str
    """What it wrote to stderr."""


def call_handler(
    file: Path, preload: Sequence[Path], symbol: str, call: Mapping[str, Any], timeout_s: float
) -> Called:
    """Calls a handler in a process that has no XLA, and therefore starts at once.

    Args:
        file: The library.
        preload: Libraries beside the original, to be loaded before.
        symbol: The handler's name.
        call: As `host_child.call` takes it.
        timeout_s: When the process is ended.
    """
    question = {**_question(file, preload, symbol, timeout_s), "call": call}
    code, output, words = _run(json.dumps(question), timeout_s)
    is_timeout = code is not None and -code == getattr(signal, "SIGALRM", 0)
    answer: Mapping[str, Any] = json.loads(output) if code == 0 and output else {}
    return Called(None if is_timeout else code, answer, words)


def _question(
    file: Path, preload: Sequence[Path], symbol: str | None, timeout_s: float
) -> dict[str, Any]:
    return {
        "library": str(file),
        "preload": [str(path) for path in preload],
        "symbol": symbol,
        "minor": ffi_version()[1],
        "timeout_s": timeout_s,
    }


def _ask(name: str, file: Path, preload: Sequence[Path], symbol: str | None) -> Mapping[str, Any]:
    question = _question(file, preload, symbol, _TIMEOUT_S)
    code, output, words = _run(json.dumps(question), _TIMEOUT_S)
    if code == 0:
        answer: dict[str, Any] = json.loads(output)
        if "load" in answer:
            raise _cannot_load(name, answer["load"])
        return answer
    was_asked = "asking" in words.split("\n")
    how = _ending(code)
    if was_asked:
        raise LibraryError(
            f"`{symbol}` of {name} is no handler of the FFI: asked for its version it {how}",
            details=["That was in a process of its own; the kernel is untouched."],
            advice=_ADVICE,
        )
    raise LibraryError(
        f"Loading {name} {how}",
        details=[line for line in words.split("\n") if line.strip()][-6:],
        advice=f"That was in a process of its own. {_UNTOUCHED}",
    )


def _run(question: str, timeout_s: float) -> tuple[int | None, str, str]:
    """Exit code (None: it took too long), answer, and what was written to stderr."""
    program = Path(__file__).with_name("probe_child.py")
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, words = process.communicate(question + "\n", timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _kill(process)
        return None, "", process.communicate()[1]
    except BaseException:
        _kill(process)
        process.communicate()
        raise
    return process.returncode, output, words


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _ending(code: int | None) -> str:
    if code is None or (code < 0 and -code == getattr(signal, "SIGALRM", 0)):
        return f"gave no answer in {_TIMEOUT_S} s"
    if code >= 0:
        return f"ended the process with exit code {code}"
    try:
        return f"ended the process: {signal.Signals(-code).name}"
    except ValueError:
        return f"ended the process: signal {-code}"


def _cannot_load(name: str, words: str) -> LibraryError:
    """The dynamic linker's words in ours."""
    if found := _MISSING.match(words):
        return LibraryError(
            f"{name} needs `{found['name']}`, which cannot be found",
            details=[words],
            advice="Install it, or set `LD_LIBRARY_PATH` before the kernel is started.",
        )
    if found := _UNDEFINED.search(words):
        return LibraryError(
            f"{name} uses `{found['name']}`, which no library defines",
            details=[words],
            advice="Link it with the library that has it (`-l...`), or define it.",
        )
    return LibraryError(
        f"{name} cannot be loaded", details=[words], advice="Build it as a shared library."
    )
