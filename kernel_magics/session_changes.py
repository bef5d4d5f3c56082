"""What happened to a session's units: who wants to hear of it, and what the units said before."""

from collections.abc import Callable
from weakref import WeakMethod

MOST_VERSIONS = 20
"""How many earlier texts of one unit are kept."""
MOST_CHARACTERS = 8_000_000
"""How much is kept of all units together; the oldest texts go first."""


class SessionChanges:
    """Listeners of one session, and the texts that its units had before they were replaced."""

    def __init__(self) -> None:
        self._listeners: list[WeakMethod[Callable[[], None]]] = []
        self._earlier: list[tuple[str, str]] = []

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Has a bound method called after each change, for as long as its object lives."""
        self._listeners.append(WeakMethod(listener))

    def announce(self) -> None:
        """Tells all listeners that units are others than before."""
        alive = [(known, listener) for known in self._listeners if (listener := known())]
        self._listeners = [known for known, _ in alive]
        for _, listener in alive:
            listener()

    def keep(self, unit: str, text: str | None) -> None:
        """Remembers what a unit said until it was replaced; bytes are not remembered."""
        if text is None or len(text) > MOST_CHARACTERS:
            return
        self._earlier.append((unit, text))
        if sum(name == unit for name, _ in self._earlier) > MOST_VERSIONS:
            self._earlier.remove(next(item for item in self._earlier if item[0] == unit))
        while sum(len(text) for _, text in self._earlier) > MOST_CHARACTERS:
            self._earlier.pop(0)

    def earlier(self, unit: str) -> tuple[str, ...]:
        """The texts that a unit had before its present one, the oldest first."""
        return tuple(text for name, text in self._earlier if name == unit)

    def undo(self, unit: str) -> None:
        """Forgets the latest of a unit's earlier texts: it is the present one again."""
        for place in reversed(range(len(self._earlier))):
            if self._earlier[place][0] == unit:
                del self._earlier[place]
                return

    def forget(self, unit: str) -> None:
        """Forgets the earlier texts of a unit that is dropped."""
        self._earlier = [item for item in self._earlier if item[0] != unit]
