"""Work that takes long, in threads: what is being done can be told at any moment."""

import threading
import time
from collections.abc import Callable, Mapping

_STEP_S = 1.0


class Working:
    """What is being done, by name. Each piece of work has a thread of its own."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """Calls `changed` when work begins, once a second while it goes on, and when it ends."""
        self._changed = changed
        self._begun: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def begin(self, name: str, words: str, work: Callable[[], object]) -> bool:
        """Does work in a thread, unless something is being done under this name.

        Args:
            name: What it is done with.
            words: What is done, such as `trying it`.
            work: Takes care of its own errors.
        """
        with self._lock:
            if name in self._begun:
                return False
            self._begun[name] = (words, time.monotonic())
        done = threading.Event()
        threading.Thread(target=self._do, args=(name, work, done), daemon=True).start()
        threading.Thread(target=self._tell, args=(done,), daemon=True).start()
        return True

    def words(self) -> Mapping[str, str]:
        """What is being done with what, and since when."""
        with self._lock:
            begun = dict(self._begun)
        now = time.monotonic()
        return {name: f"{words}, {now - since:.0f} s" for name, (words, since) in begun.items()}

    def _do(self, name: str, work: Callable[[], object], done: threading.Event) -> None:
        try:
            work()
        finally:
            with self._lock:
                del self._begun[name]
            done.set()

    def _tell(self, done: threading.Event) -> None:
        self._changed()
        while not done.wait(_STEP_S):
            self._changed()
        self._changed()
