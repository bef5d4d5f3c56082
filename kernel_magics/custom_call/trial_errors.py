"""What a trial found out about a handler, as errors that a person can use."""

import signal
from collections.abc import Mapping, Sequence
from typing import Any

from kernel_magics.custom_call.samples import Sample
from kernel_magics.errors import HandlerError
from kernel_magics.sandbox.last_words import suspect


def hung(name: str, sample: Sample, timeout_s: float) -> HandlerError:
    """For a handler that did not come to an end."""
    what = f"{name} did not come to an end in {timeout_s:g} s"
    return _error(what, sample, advice="Look for a loop that does not end.")


def ended(name: str, sample: Sample, code: int, lines: Sequence[str]) -> HandlerError:
    """For a handler that ended its process.

    Args:
        name: Of the handler.
        sample: What it was called with.
        code: As Python tells how a process ended: negative for a signal.
        lines: The last lines that the process wrote to stderr.
    """
    words = suspect(lines)
    stripped = [line.strip() for line in lines]
    if "terminate called" in words or words.startswith("what():"):
        thrown = [line for line in stripped if line.startswith("terminate called")]
        kind = thrown[0].partition("instance of")[2].strip() if thrown else ""
        said = [line[len("what():") :].strip() for line in stripped if line.startswith("what():")]
        return _threw(name, sample, kind, said)
    try:
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        how = f"signal {-code}"
    return _error(f"{name} ended the process: {how}", sample, [words] if words else [])


def failed(name: str, sample: Sample, text: str) -> HandlerError:
    """For a handler that returned an error, or that XLA refused.

    Args:
        name: Of the handler.
        sample: What it was called with.
        text: XLA's words, the error's code first.
    """
    lines = [line for line in text.strip().split("\n") if line.strip()][:8]
    if "Wrong number of" in text or "Wrong buffer" in text or "Wrong scalar" in text:
        return _error(
            f"{name} is bound to other arguments, results or attributes than its contract says",
            sample,
            lines,
            "Make the binding and the contract say the same.",
        )
    if "XLA FFI call failed: " in text:
        return _threw(name, sample, "", [text.partition("XLA FFI call failed: ")[2].strip()])
    if "Unexpected XLA_FFI" in text or "incompatible" in text:
        return _error(
            f"{name} was compiled with headers that do not fit this jaxlib",
            sample,
            lines,
            "Compile it with the headers in `jax.ffi.include_dir()`.",
        )
    return _error(
        f"{name} returned an error: {lines[0] if lines else 'without words'}",
        sample,
        lines[1:],
        "If it does not take such arrays, say so in the contract (`where n % 4 == 0`).",
    )


def misbehaved(name: str, sample: Sample, findings: Sequence[Mapping[str, Any]]) -> HandlerError:
    """For a handler that wrote where it must not, or not where it must."""
    return _error(
        f"{name} {' and '.join(map(_finding, findings))}",
        sample,
        advice="Compare its loops with the shapes of its buffers; the contract says how large "
        "each is.",
    )


def _threw(name: str, sample: Sample, kind: str, said: Sequence[str]) -> HandlerError:
    what = f"{name} threw a C++ exception {kind}".rstrip()
    return _error(what, sample, said, "Catch it and return an `ffi::Error`.")


def _finding(found: Mapping[str, Any]) -> str:
    """Half a sentence for what a guard has seen."""
    buffer = f"{found['kind']} {found['at'] + 1}"
    if found["what"] == "untouched":
        return f"leaves {buffer} as it was"
    if found["what"] == "argument written":
        return f"writes into {buffer}, which others may use"
    sides = [f"up to {found[side]:,} bytes {side}" for side in ("before", "behind") if found[side]]
    return f"writes {' and '.join(sides)} {buffer}"


def _error(
    what: str, sample: Sample, details: Sequence[str] = (), advice: str = ""
) -> HandlerError:
    untouched = "It was tried in a child process: the kernel is untouched."
    return HandlerError(
        what,
        details=[f"tried with: {sample}", *details],
        advice=f"{advice} {untouched}".strip(),
    )
