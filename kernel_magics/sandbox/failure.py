"""The end of a child process as an error that a person can use."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from kernel_magics.errors import SandboxError
from kernel_magics.sandbox.last_words import meaningful, suspect

_PHRASES = {
    "parse": "Reading the program",
    "convert": "Converting the HLO",
    "compile": "Compiling the program",
    "run": "Running the program",
    "call_handler": "Calling the handler",
    "probe_plugin": "Trying the plugin",
}

_UNTOUCHED = "The kernel, its variables and its session are untouched."
_KILLED = f"{_UNTOUCHED} SIGKILL comes from outside: mostly from the system, when memory runs out."
_GIVE_TIME = f"{_UNTOUCHED} Allow more time, or change what was tried."


@dataclass(frozen=True, slots=True)
class Trial:
    """What was asked of the child, as far as an error needs it."""

    kind: str
    what: str
    """The subject of a sentence, such as "Trying `@main`"; empty for the kind's usual words."""
    memory_bytes: int | None

    @property
    def subject(self) -> str:
        """The subject of a sentence."""
        return self.what or _PHRASES[self.kind]


def ended(trial: Trial, code: int | None, lines: Sequence[str], seconds: float) -> SandboxError:
    """For a child that ended in the middle of a request."""
    name = _signal(code)
    how = name or f"exit code {code}"
    words = meaningful(lines)
    if trial.memory_bytes is not None:
        words.append(f"memory that it might take: {trial.memory_bytes / (1 << 20):,.0f} MiB")
    error = SandboxError(
        f"{trial.subject} ended the child process: {how} after {seconds:.1f} s",
        details=words,
        advice=_KILLED if name == "SIGKILL" else f"{_UNTOUCHED} Change what was tried.",
    )
    error.signal, error.exit_code = name, None if name else code
    return _told(error, trial, lines, seconds)


def timed_out(trial: Trial, timeout_s: float, lines: Sequence[str], seconds: float) -> SandboxError:
    """For a child that did not answer, and was ended."""
    error = SandboxError(
        f"{trial.subject} gave no answer in {timeout_s:g} s, so its child process was ended",
        details=meaningful(lines),
        advice=_GIVE_TIME,
    )
    error.is_timeout = True
    return _told(error, trial, lines, seconds)


def unreadable(
    trial: Trial, problem: Exception, lines: Sequence[str], seconds: float
) -> SandboxError:
    """For a message that cannot be written, or an answer that is none."""
    error = SandboxError(
        f"{trial.subject} in a child process failed: no message can be exchanged with it",
        details=[str(problem) or type(problem).__name__, *meaningful(lines)],
        advice=f"{_UNTOUCHED} Change what was tried.",
    )
    return _told(error, trial, lines, seconds)


def not_started(
    trial: Trial, problem: Exception | None, code: int | None, lines: Sequence[str]
) -> SandboxError:
    """For a child that cannot be started, or ends before it takes a request."""
    how = str(problem) if problem else f"it ended with {_signal(code) or f'exit code {code}'}"
    error = SandboxError(
        f"{trial.subject} needs a child process, which cannot be started: {how}",
        details=meaningful(lines),
        advice="The child runs the kernel's Python with its paths and its environment: "
        "look at what changed there since the kernel was started.",
    )
    error.signal = _signal(code)
    error.exit_code = None if error.signal else code
    return _told(error, trial, lines, 0.0)


def _told(error: SandboxError, trial: Trial, lines: Sequence[str], seconds: float) -> SandboxError:
    error.kind = trial.kind
    error.seconds = seconds
    error.stderr = tuple(lines)
    error.suspect = suspect(lines)
    return error


def _signal(code: int | None) -> str:
    """The name of the signal that ended a process; empty where none did."""
    if code is None or code >= 0:
        return ""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
