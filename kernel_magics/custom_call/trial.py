"""A handler runs once in a child process before this one trusts it."""

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import jax

from kernel_magics.custom_call import trial_errors as errors
from kernel_magics.custom_call.abi import CODES
from kernel_magics.custom_call.cache import digest, kernel_cache
from kernel_magics.custom_call.contract import Contract
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.host_child import NEEDS_HOST
from kernel_magics.custom_call.library import Library, Loaded
from kernel_magics.custom_call.probe import Called, call_handler, ffi_version
from kernel_magics.custom_call.samples import Sample, light_call, sample_call
from kernel_magics.errors import SandboxError
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
    """Calls it, in a process without XLA where that will do: it starts in milliseconds."""
    name = f"`{symbol}` of {library.name}"
    began = time.perf_counter()
    question = light_call(sample)
    if question is not None:
        called = call_handler(library.file, library.preload, symbol, question, policy().timeout_s)
        if not called.answer.get("needs_host") and NEEDS_HOST not in called.words:
            _judge_light(name, sample, called)
            return time.perf_counter() - began
    _try_with_xla(name, library, symbol, sample, sandbox)
    return time.perf_counter() - began


def _judge_light(name: str, sample: Sample, called: Called) -> None:
    lines = [line for line in called.words.split("\n") if line.strip() and line != "calling"]
    if called.code is None:
        raise errors.hung(name, sample, policy().timeout_s)
    if called.code != 0:
        raise errors.ended(name, sample, called.code, lines)
    if error := called.answer.get("error"):
        names = {code: word for word, code in CODES.items()}
        raise errors.failed(name, sample, f"{names.get(error['code'], 'UNKNOWN')}: {error['text']}")
    if called.answer["findings"]:
        raise errors.misbehaved(name, sample, called.answer["findings"])


def _try_with_xla(
    name: str, library: Library, symbol: str, sample: Sample, sandbox: _Asker
) -> None:
    call = HandlerCall(
        library.file, symbol, sample.arguments, sample.results, sample.attributes, library.preload
    )
    try:
        found = sandbox.request(
            "call_handler", *call.message(), timeout_s=policy().timeout_s, what=f"Trying {name}"
        )
    except SandboxError as error:
        if error.is_timeout:
            raise errors.hung(name, sample, policy().timeout_s) from error
        if not error.signal and error.exit_code is None:
            raise
        ending = -signal.Signals[error.signal] if error.signal in _SIGNALS else error.exit_code
        raise errors.ended(name, sample, ending or 0, error.stderr) from error
    if isinstance(found, Refusal):
        raise errors.failed(name, sample, found.text)
    if found.head["findings"]:
        raise errors.misbehaved(name, sample, found.head["findings"])


_SIGNALS = {known.name for known in signal.Signals}
