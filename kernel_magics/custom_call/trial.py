"""A handler runs once in a child process before this one trusts it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import jax

from kernel_magics.custom_call.cache import digest, kernel_cache
from kernel_magics.custom_call.contract import Contract
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.library import Library, Loaded
from kernel_magics.custom_call.probe import ffi_version
from kernel_magics.custom_call.samples import Sample, sample_call
from kernel_magics.errors import HandlerError, SandboxError
from kernel_magics.sandbox.handlers import HandlerCall
from kernel_magics.sandbox.kernel import kernel_sandbox
from kernel_magics.sandbox.policy import policy
from kernel_magics.sandbox.process import Answer, Refusal

REVISION = "1"
"""Of what a trial looks at: handlers that passed an earlier one are tried again."""

State = Literal["passed", "remembered", "no contract", "no shapes", "no library"]


@dataclass(frozen=True, slots=True)
class TrialReport:
    """What is known of a handler that nothing speaks against."""

    state: State
    call: str = ""
    """What it was called with; empty where it was not."""
    seconds: float = 0.0

    @property
    def is_tried(self) -> bool:
        """Whether it ran, in this process's child or that of an earlier one."""
        return self.state in ("passed", "remembered")

    def __str__(self) -> str:
        match self.state:
            case "passed":
                return f"tried in a child process: {self.call}"
            case "remembered":
                return "tried in a child process before"
            case "no contract":
                return "not tried: without a contract nobody knows what it takes"
            case "no library":
                return "not tried: it lies in no library that a child process could load"
            case _:
                return "not tried: no small shapes fit the contract"


class _Asker(Protocol):
    def request(
        self,
        kind: str,
        head: Mapping[str, Any],
        blobs: Sequence[bytes] = (),
        *,
        timeout_s: float,
        memory_bytes: int | None = None,
        what: str = "",
    ) -> Answer | Refusal: ...


def try_handler(
    library: Library, symbol: str, contract: Contract | None, *, sandbox: _Asker | None = None
) -> TrialReport:
    """Calls a handler once, on shapes that its contract allows, in the sandbox's child.

    Each buffer lies between guard bytes. What passed once is not tried again, in no kernel, until
    its code, its contract or jaxlib is another.

    Args:
        library: Which has it.
        symbol: Its name there.
        contract: What it takes and gives.
        sandbox: Another one than this kernel's.

    Raises:
        HandlerError: It crashed, hung, wrote where it must not, left a result as it was, threw an
            exception or returned an error.
        SandboxError: The child cannot be started.
    """
    if contract is None:
        return TrialReport("no contract")
    major, minor = ffi_version()
    key = digest(
        REVISION, library.sha256, symbol, str(contract), f"{major}.{minor}", jax.__version__
    )
    store = kernel_cache()
    if contract.results_of is None and store.find("trials", key) is not None:
        return TrialReport("remembered")
    sample = sample_call(contract)
    if sample is None:
        return TrialReport("no shapes")
    seconds = _try(library, symbol, sample, sandbox or kernel_sandbox())
    if contract.results_of is None:
        # What a function does cannot be compared: with one it is tried in each kernel.
        with store.workspace() as folder:
            (folder / "made").mkdir()
            store.keep("trials", key, folder / "made")
    return TrialReport("passed", str(sample), seconds)


def try_code(code: Handler, contract: object, *, sandbox: _Asker | None = None) -> TrialReport:
    """As `try_handler`, for a handler that is loaded already.

    Args:
        code: The handler.
        contract: What it takes and gives; one of another make counts as none.
        sandbox: Another one than this kernel's.
    """
    loaded = code.keep_alive
    if not isinstance(loaded, Loaded):
        return TrialReport("no library")
    known = contract if isinstance(contract, Contract) else None
    return try_handler(loaded.library, loaded.symbol, known, sandbox=sandbox)


def _try(library: Library, symbol: str, sample: Sample, sandbox: _Asker) -> float:
    call = HandlerCall(
        library.file, symbol, sample.arguments, sample.results, sample.attributes, library.preload
    )
    name = f"`{symbol}` of {library.name}"
    try:
        found = sandbox.request(
            "call_handler", *call.message(), timeout_s=policy().timeout_s, what=f"Trying {name}"
        )
    except SandboxError as error:
        if not error.signal and not error.is_timeout and error.exit_code is None:
            raise
        raise _ended(name, sample, error) from error
    if isinstance(found, Refusal):
        raise _failed(name, sample, found.text)
    problems = [_finding(finding) for finding in found.head["findings"]]
    if any(problems):
        raise _error(
            f"{name} {' and '.join(filter(None, problems))}",
            sample,
            advice="Compare its loops with the shapes of its buffers; the contract says how large "
            "each is.",
        )
    return found.seconds


def _ended(name: str, sample: Sample, error: SandboxError) -> HandlerError:
    if error.is_timeout:
        what = f"{name} did not come to an end in {policy().timeout_s:g} s"
        return _error(what, sample, advice="Look for a loop that does not end.")
    words = error.suspect
    if "terminate called" in words or words.startswith("what():"):
        thrown = " ".join(line.strip() for line in error.stderr if "terminate called" in line)
        thrown = thrown.replace("terminate called after throwing an instance of", "").strip()
        said = "".join(line.strip() for line in error.stderr if line.strip().startswith("what():"))
        return _error(
            f"{name} threw a C++ exception {thrown}".rstrip(),
            sample,
            [said.removeprefix("what():").strip()] if said else [],
            "Catch it and return an `ffi::Error`.",
        )
    how = error.signal or f"exit code {error.exit_code}"
    return _error(f"{name} ended the process: {how}", sample, [words] if words else [])


def _failed(name: str, sample: Sample, text: str) -> HandlerError:
    """What XLA, or the handler by way of it, said."""
    first = text.strip().split("\n", 1)[0]
    details = [line for line in text.strip().split("\n") if line.strip()][:8]
    if "Wrong number of" in text or "Wrong buffer" in text or "Wrong scalar" in text:
        return _error(
            f"{name} is bound to other arguments, results or attributes than its contract says",
            sample,
            details,
            "Make the binding and the contract say the same.",
        )
    if "exception" in text.lower() or "XLA FFI call failed" in text:
        return _error(
            f"{name} threw a C++ exception",
            sample,
            details,
            "Catch it and return an `ffi::Error`.",
        )
    if "Unexpected XLA_FFI" in text or "incompatible" in text:
        return _error(
            f"{name} was compiled with headers that do not fit this jaxlib",
            sample,
            details,
            "Compile it with the headers in `jax.ffi.include_dir()`.",
        )
    return _error(
        f"{name} returned an error: {first}",
        sample,
        details[1:],
        "If it does not take such arrays, say so in the contract (`where n % 4 == 0`).",
    )


def _finding(found: Mapping[str, Any]) -> str:
    """Half a sentence for what a guard has seen; empty where it is no problem."""
    if found["what"] == "asynchronous":
        return ""
    buffer = f"{found['kind']} {found['at'] + 1}"
    if found["what"] == "untouched":
        return f"leaves {buffer} as it was"
    if found["what"] == "argument written":
        return f"writes into {buffer}, which others may use"
    sides = [
        f"up to {found[side]:,} bytes {word}"
        for side, word in (("before", "before"), ("behind", "behind"))
        if found[side]
    ]
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
