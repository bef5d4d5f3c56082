"""The compilers of this machine: found, told apart, and run so that they can be interrupted."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from kernel_magics.errors import BuildError

Language = Literal["c++", "c"]
Progress = Callable[[str, float], None]
"""Takes what is going on and for how many seconds; called some times a second."""

_VARIABLES = {"c++": "CXX", "c": "CC"}
_NAMES = {"c++": ("g++", "clang++", "c++"), "c": ("gcc", "clang", "cc")}
_SPOKEN = {"c++": "C++", "c": "C"}
_INSTALL = (
    "Install one: `apt install g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora), `conda "
    "install -c conda-forge cxx-compiler`, `xcode-select --install` (macOS)."
)
_STEP_S = 0.1


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that can be run."""

    command: tuple[str, ...]
    """The program and what its environment variable has behind it, such as `ccache g++`."""
    language: Language
    version: str
    """The first line of what it says of itself."""

    @property
    def is_clang(self) -> bool:
        """Whether it is Clang by any name."""
        return "clang" in self.version.lower()

    @property
    def name(self) -> str:
        """For people: `g++`."""
        programs = [word for word in self.command if not word.startswith("-")]
        return Path(programs[-1]).name

    def message_flags(self) -> tuple[str, ...]:
        """What makes its messages plain lines, columns in bytes."""
        if self.is_clang:
            return ("-fno-caret-diagnostics", "-fno-color-diagnostics")
        plain = ("-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-fmessage-length=0")
        return (*plain, "-fdiagnostics-column-unit=byte")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of a compiler ended."""

    code: int
    messages: str
    seconds: float


def find_compiler(language: Language) -> Compiler:
    """The compiler that the environment names (`CXX`, `CC`), or the first that is installed.

    Raises:
        BuildError: There is none.
    """
    variable = _VARIABLES[language]
    named = os.environ.get(variable, "").strip()
    for words in [shlex.split(named)] if named else [[name] for name in _NAMES[language]]:
        program = shutil.which(words[0])
        if program is not None:
            command = (program, *words[1:])
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                return Compiler(command, language, _version(command, _changed_at(program)))
    looked = f"`{named}`, which `{variable}` names" if named else ", ".join(_NAMES[language])
    raise BuildError(
        f"There is no {_SPOKEN[language]} compiler on this machine",
        details=[f"looked for: {looked}"],
        advice=_INSTALL,
    )


def run_compiler(
    compiler: Compiler,
    flags: Sequence[str],
    folder: Path,
    progress: Progress | None,
    what: str,
) -> Outcome:
    """Runs a compiler to its end; on Ctrl-C it and what it has started are ended at once.

    Args:
        compiler: Which.
        flags: What stands behind its name.
        folder: In which it runs, and in which it leaves its temporary files.
        progress: Told `what` and the seconds so far.
        what: What is going on, for people.
    """
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - a compiler, which the user has asked for
        [*compiler.command, *flags],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        # Its messages are read here, and are English in this locale.
        env={**os.environ, "TMPDIR": str(folder), "LC_ALL": "C.UTF-8", "LANGUAGE": ""},
        # A group of its own: a driver starts others, and all of them are ended together.
        start_new_session=True,
    )
    try:
        while True:
            if progress is not None:
                progress(what, time.perf_counter() - began)
            with contextlib.suppress(subprocess.TimeoutExpired):
                messages = process.communicate(timeout=_STEP_S)[1]
                return Outcome(process.returncode, messages, time.perf_counter() - began)
    except BaseException:
        _kill(process)
        raise


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


@lru_cache(maxsize=16)
def _version(command: tuple[str, ...], changed_at: float) -> str:
    del changed_at  # Another file, another answer.
    found = subprocess.run(  # noqa: S603 - as above
        [*command, "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    return found.stdout.split("\n", 1)[0]


def _changed_at(program: str) -> float:
    return Path(program).stat().st_mtime
