"""Work in a thread that the user need not wait for."""

from collections.abc import Callable
from threading import Event, Thread
from typing import Generic, TypeVar

T = TypeVar("T")

_STEP_S = 0.1


class Job(Generic[T]):
    """Runs a function in a thread of its own.

    XLA compiles without Python's lock and cannot be stopped. A daemon thread lets the kernel
    end all the same, and the waiting main thread stay open to Ctrl-C.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._done = Event()
        self._result: T | None = None
        self._error: BaseException | None = None
        Thread(target=self._run, daemon=True, name="kernel_magics job").start()

    def wait(self) -> T:
        """The result of the work.

        Raises:
            KeyboardInterrupt: The user did not want to wait; the work goes on.
            Exception: What the work raised.
        """
        # In steps: a signal that another thread receives does not wake this one.
        while not self._done.wait(_STEP_S):
            pass
        if self._error is not None:
            raise self._error
        return self._result  # pyright: ignore[reportReturnType]

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits
            self._error = error
        finally:
            self._done.set()
