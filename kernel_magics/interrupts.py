"""Ctrl-C between steps that belong together: it waits until all of them are done."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager


class _Held:
    """A handler that notes the signal."""

    def __init__(self) -> None:
        self.is_wanted = False

    def __call__(self, *_: object) -> None:
        self.is_wanted = True


@contextmanager
def uninterrupted() -> Generator[None]:
    """Holds a Ctrl-C back until the end of the block; for steps that take no time to wait for.

    Within another such block the outer one holds it.

    Raises:
        KeyboardInterrupt: At the end, if the user wanted to interrupt in between.
    """
    is_main = threading.current_thread() is threading.main_thread()
    # Signals interrupt the main thread only.
    if not is_main or isinstance(signal.getsignal(signal.SIGINT), _Held):
        yield
        return
    held = _Held()
    before = signal.signal(signal.SIGINT, held)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held.is_wanted:
        raise KeyboardInterrupt
