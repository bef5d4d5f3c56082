"""Processes of the tests: whether they are there, and waiting for what they do."""

import fcntl
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 60
"""Against hanging; nothing is measured with it."""

GONE_S = 5
"""A child may outlive its kernel by so much: part of the contract, and no measurement."""

SANDBOX = """
import os, signal, sys, threading, time
from kernel_magics.sandbox.messages import REQUESTS
from kernel_magics.sandbox.process import Sandbox
sandbox = Sandbox(dict.fromkeys(REQUESTS, "tests.sandbox.workers:act"))
def do(action, *given):
    return sandbox.request("parse", {"action": action, "with": given}, timeout_s=60).head["said"]
print(do("tell")["session"], flush=True)
"""

KERNEL = """
from kernel_magics.ir.hlo_convert import convert_hlo
from kernel_magics.sandbox.kernel import kernel_sandbox
ADD = "ENTRY e {\\n  p = f32[2] parameter(0)\\n  ROOT s = f32[2] add(p, p)\\n}"
assert convert_hlo(ADD).bytecode
print(kernel_sandbox().pid, flush=True)
"""


def is_running(pid: int) -> bool:
    """Whether a process is there; one that has ended and was not waited for is not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def is_stopped(pid: int) -> bool:
    """Whether all of a process stands still after `SIGSTOP`."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def unread_bytes(pipe) -> int:
    """How many bytes are in a pipe that its reader has not taken; 0 where it is closed."""
    if pipe.closed:
        return 0
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def comes_true(claim: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
    """Waits for something to be so; whether it was in time."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if claim():
            return True
        time.sleep(0.01)
    return False


def start_kernel(script: str, **options) -> subprocess.Popen[str]:
    """A process that stands for a kernel, in a session of its own as one from a terminal."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def finish(kernel: subprocess.Popen[str]) -> str:
    """What a kernel printed that ended well, and complained of nothing."""
    # Not `communicate`: it passes over lines that `readline` has already fetched.
    watch = threading.Timer(PATIENCE_S, kernel.kill)
    watch.start()
    out, problems = kernel.stdout.read(), kernel.stderr.read()
    kernel.wait()
    watch.cancel()
    kernel.stdout.close()
    kernel.stderr.close()
    assert kernel.returncode == 0, problems
    assert problems == ""
    return out
