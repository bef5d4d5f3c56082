"""`Sandbox`: a child process, kept warm, that tries what could end the kernel."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import Any

from kernel_magics.errors import SandboxError
from kernel_magics.sandbox import failure
from kernel_magics.sandbox.connection import ENVIRONMENT_MARK, Connection
from kernel_magics.sandbox.messages import Message, MessageError
from kernel_magics.sandbox.options import current_options
from kernel_magics.sandbox.work import LEAVES_TRACES, MEMORY, WORKERS, perform

_START_TIMEOUT_S = 120.0
_END_S = 5.0
_DROP_S = 0.5

_OF_ITS_OWN = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV")
"""Signals that a process brings upon itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the work of a request gave."""

    head: Mapping[str, Any]
    blobs: tuple[bytes, ...]
    seconds: float
    """From the request to the answer; the start of the child is not counted."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An exception in the work of a request: the child is well, what was tried is not."""

    type_name: str
    """The exception's class, such as `JaxRuntimeError`."""
    text: str
    seconds: float


class Sandbox:
    """Does trials in one child process, which is started when first needed and when it died.

    Requests come from any thread, and are answered one at a time. A copy of this process that
    `os.fork` made gets a child of its own.
    """

    def __init__(self, workers: Mapping[str, str] = WORKERS) -> None:
        """Makes a sandbox without a child.

        Args:
            workers: A function for each kind of request, as `module:name`: it takes head and
                blobs of the request, and gives those of the answer.
        """
        self._workers = workers
        self._pid = os.getpid()
        self._lock = Lock()
        self._connection: Connection | None = None
        self._inherited: Connection | None = None
        self._used: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the child that waits for requests; None without one."""
        self.forget_if_copied()
        connection = self._connection
        return connection.pid if connection and connection.is_alive() else None

    def warm_up(self) -> None:
        """Starts the child without waiting for it."""
        self.forget_if_copied()
        # Whoever holds the lock has a child, or is about to start it.
        if not is_child() and self._lock.acquire(blocking=False):
            try:
                self._connected()
            finally:
                self._lock.release()

    def request(
        self,
        kind: str,
        head: Mapping[str, Any],
        blobs: Sequence[bytes] = (),
        *,
        timeout_s: float,
        memory_bytes: int | None = None,
        what: str = "",
    ) -> Answer | Refusal:
        """Has something tried in the child, and waits for the outcome.

        In a child, where code of ours may come here too, it is done in place.

        Args:
            kind: One of `messages.REQUESTS`.
            head: What JSON can say, for the function that does the work.
            blobs: Bytes for it.
            timeout_s: From when the child has it. Its start, and requests of other threads
                that are before this one, are not counted.
            memory_bytes: How much more address space the work may take, where the system can
                limit that; beyond it, Python raises `MemoryError` and C++ ends the child. The
                threads of a compile alone reserve some hundred megabytes.
            what: The subject of an error's first sentence, such as "Trying `@main`".

        Raises:
            SandboxError: The child died, did not answer in time, or cannot be started.
            KeyboardInterrupt: The user did not want to wait; the child is ended.
        """
        self.forget_if_copied()
        request = Message(kind, {**head, MEMORY: memory_bytes}, tuple(blobs))
        if is_child():
            return _outcome(perform(self._workers, request), perf_counter())
        trial = failure.Trial(kind, what, memory_bytes)
        with self._lock:
            is_used = self._connection is not None and self._connection is self._used
            try:
                return self._tried(trial, request, timeout_s)
            except SandboxError as error:
                # What was tried before may have spoilt the child's memory: not this one's fault.
                if not is_used or error.signal not in _OF_ITS_OWN:
                    raise
            return self._tried(trial, request, timeout_s)

    def end(self) -> None:
        """Ends the child and all that belongs to it; a later request starts another one.

        A request that is waiting for the child fails.
        """
        self.forget_if_copied()
        connection, self._connection = self._connection, None
        if connection:
            connection.close(_END_S)

    def forget_if_copied(self) -> None:
        """Leaves the child to the process that started it, if this one is a copy of that."""
        if self._pid == os.getpid():
            return
        self._pid = os.getpid()
        self._lock = Lock()
        # Kept: what Python does when it is collected is not for a copy.
        self._inherited, self._connection = self._connection, None
        if self._inherited:
            self._inherited.abandon()

    def _tried(self, trial: failure.Trial, request: Message, timeout_s: float) -> Answer | Refusal:
        connection = self._connected()
        is_well = False
        try:
            _wait_until_ready(connection, trial)
            outcome = _ask(connection, trial, request, timeout_s)
            is_well = trial.kind not in LEAVES_TRACES
            self._used = connection
            return outcome
        finally:
            # After an error, or when the user did not wait, its next words could be of then.
            if not is_well:
                connection.close(_DROP_S)
                self._connection = None

    def _connected(self) -> Connection:
        """The child, which may still be starting."""
        options = current_options(self._workers)
        connection = self._connection
        if connection and connection.is_alive() and connection.options == options:
            return connection
        if connection:
            connection.close(_DROP_S)
        self._connection = Connection(options)
        return self._connection


def _wait_until_ready(connection: Connection, trial: failure.Trial) -> None:
    problem = None
    try:
        if connection.wait_until_ready(_START_TIMEOUT_S):
            return
    except (TimeoutError, MessageError, OSError) as error:
        problem = error
    raise failure.not_started(trial, problem, *connection.ending()) from problem


def _ask(
    connection: Connection, trial: failure.Trial, request: Message, timeout_s: float
) -> Answer | Refusal:
    began = perf_counter()
    connection.send(request)
    try:
        message = connection.receive(timeout_s)
    except TimeoutError:
        lines = connection.ending(0.0)[1]
        raise failure.timed_out(trial, timeout_s, lines, perf_counter() - began) from None
    except (MessageError, OSError, MemoryError) as error:
        lines = connection.ending()[1]
        raise failure.unreadable(trial, error, lines, perf_counter() - began) from error
    if message is None:
        seconds = perf_counter() - began
        raise failure.ended(trial, *connection.ending(), seconds)
    return _outcome(message, began)


def _outcome(message: Message, began: float) -> Answer | Refusal:
    seconds = perf_counter() - began
    if message.kind == "answer":
        return Answer(message.head, message.blobs, seconds)
    return Refusal(str(message.head.get("type")), str(message.head.get("text")), seconds)


def is_child() -> bool:
    """Whether this process is the child of a sandbox: trials are done in place here."""
    return ENVIRONMENT_MARK in os.environ
