"""One child process: the pipes to it, and the two threads that serve them."""

import contextlib
import os
import pkgutil
import signal
import subprocess
import sys
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any

from kernel_magics.sandbox.last_words import Tail
from kernel_magics.sandbox.messages import Message, MessageError, read_message, write_message
from kernel_magics.sandbox.options import Options

ENVIRONMENT_MARK = "KERNEL_MAGICS_SANDBOX"
"""Set in the child: code there does its trials in place."""

_STEP_S = 0.1
_GRACE_S = 1.0
_READ_BYTES = 1 << 16


class Connection:
    """A child process from its start to its end.

    The thread that starts it reads its stderr until it ends: Linux ends a child with the thread
    that started it. The other thread writes requests and reads answers, so that whoever waits
    for one can stop waiting.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._started = Event()
        self._is_ready = False
        self._stderr = Tail()
        self._requests = SimpleQueue[Message | None]()
        self._answers = SimpleQueue[Message | Exception | None]()
        self._keeper = Thread(target=self._keep, daemon=True, name="kernel_magics sandbox")
        self._keeper.start()

    @property
    def options(self) -> Options:
        """What the child was told when it started."""
        return self._options

    @property
    def pid(self) -> int | None:
        """The child's process id; None where it could not be started."""
        self._started.wait()
        return self._process.pid if self._process else None

    def is_alive(self) -> bool:
        """Whether the child runs, or is being started."""
        if not self._started.is_set():
            return True
        return self._process is not None and self._process.poll() is None

    def send(self, request: Message) -> None:
        """Has a request written; what was on stderr before is forgotten."""
        self._stderr.clear()
        self._requests.put(request)

    def receive(self, timeout_s: float) -> Message | None:
        """The next message; None where the child ended before it.

        Raises:
            TimeoutError: There was none in time.
            MessageError: It cannot be read.
            OSError: The child could not be started, or written to.
        """
        deadline = monotonic() + timeout_s
        # In steps: a signal that another thread receives does not wake this one.
        while (left := deadline - monotonic()) > 0:
            with contextlib.suppress(Empty):
                answer = self._answers.get(timeout=min(_STEP_S, left))
                if isinstance(answer, BrokenPipeError):
                    return None
                if isinstance(answer, Exception):
                    raise answer
                return answer
        raise TimeoutError

    def wait_until_ready(self, timeout_s: float) -> bool:
        """Whether the child takes requests; raises as `receive` does."""
        if not self._is_ready:
            self._is_ready = self.receive(timeout_s) is not None
        return self._is_ready

    def kill(self) -> None:
        """Ends the child, and what it started, without waiting for that."""
        self._started.wait()
        if self._process is None or self._process.poll() is not None:
            return
        with contextlib.suppress(OSError):
            if sys.platform != "win32":
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def close(self, wait_s: float) -> None:
        """Ends the child, and waits so long until it, its threads and its pipes are gone."""
        self.kill()
        self._keeper.join(wait_s)

    def abandon(self) -> None:
        """Closes the pipes in a copy of the process, made by a fork, which has no child."""
        for pipe in self._pipes():
            pipe.close()

    def ending(self, grace_s: float = _GRACE_S) -> tuple[int | None, tuple[str, ...]]:
        """How the child ended: the exit code as Python tells it, and the last lines on stderr.

        Args:
            grace_s: How long it may take to end by itself.
        """
        if self._process is None:
            return None, ()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(grace_s)
        self.close(_GRACE_S)
        return self._process.returncode, self._stderr.lines()

    def _keep(self) -> None:
        try:
            self._process = process = _start(self._options)
        except (OSError, ValueError) as error:
            self._answers.put(error)
            return
        finally:
            self._started.set()
        talker = Thread(target=self._talk, daemon=True, name="kernel_magics sandbox pipe")
        talker.start()
        assert process.stderr
        while content := os.read(process.stderr.fileno(), _READ_BYTES):
            self._stderr.add(content)
        process.wait()
        self._requests.put(None)
        talker.join()
        for pipe in self._pipes():
            pipe.close()

    def _talk(self) -> None:
        assert self._process
        requests, answers = self._process.stdin, self._process.stdout
        assert requests
        assert answers
        try:
            self._answers.put(read_message(answers, ("ready",)))
            while request := self._requests.get():
                write_message(requests, request)
                self._answers.put(read_message(answers, ("answer", "refusal")))
        except (MessageError, OSError, MemoryError) as error:
            self._answers.put(error)

    def _pipes(self) -> list[Any]:
        process = self._process
        found = [process.stdin, process.stdout, process.stderr] if process else []
        return [pipe for pipe in found if pipe]


def _start(options: Options) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own program
        # `-P` keeps the files beside the program out of its imports.
        [sys.executable or "", "-P", *_program(), options.argument()],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A device's memory is for the kernel.
        env={**os.environ, ENVIRONMENT_MARK: "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        # Ctrl-C in a terminal goes to all processes of its session.
        start_new_session=True,
    )


def _program() -> list[str]:
    """The child's program as Python takes it: a file, or its text out of an archive."""
    path = Path(__file__).with_name("child.py")
    if path.is_file():
        return [str(path)]
    text = pkgutil.get_data("kernel_magics.sandbox", "child.py")
    assert text
    return ["-c", text.decode()]
