"""The program of the child process: it takes care of its pipes and its end, then serves.

It is run by its path, or as text. It needs the standard library alone, so that all is in place
before anything is imported that could print, crash or hang.
"""

import contextlib
import json
import os
import signal
import sys
from typing import IO

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Runs until the kernel closes the pipe; the one argument is JSON."""
    options = json.loads(sys.argv[1])
    # Ctrl-C is for the kernel.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent(options["parent"])
    _write_no_core()
    requests, answers = _take_pipes()
    sys.path[:] = options["path"]
    from kernel_magics.sandbox.serve import serve  # noqa: PLC0415 - this is what may fail

    serve(requests, answers, options)
    # Nothing here is worth an orderly end, which can hang.
    os._exit(0)


def _end_with_parent(parent: int) -> None:
    """Has Linux kill this process with its parent, even while C++ holds Python's lock.

    Linux means the thread that started it: that one lives as long as this process.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - for Linux alone

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        os.kill(parent, 0)
    except OSError:
        # It was gone before it could be watched.
        os._exit(0)


def _write_no_core() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every platform

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keeps the pipes for messages: what is printed goes to stderr, and nothing is to be read."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb", buffering=0), os.fdopen(answers, "wb", buffering=0)


if __name__ == "__main__":
    main()
