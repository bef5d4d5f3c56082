"""Ctrl-C between steps that belong together: it waits until all of them are done."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Generator[None]:
    """Holds a Ctrl-C back until the end of the block; for steps that take no time to wait for.

    Raises:
        KeyboardInterrupt: At the end, if the user wanted to interrupt in between.
    """
    if threading.current_thread() is not threading.main_thread():
        # Signals interrupt the main thread only.
        yield
        return
    pending: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        pending.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pending:
        raise KeyboardInterrupt
