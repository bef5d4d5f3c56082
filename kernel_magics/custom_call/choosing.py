"""Who serves a call: a handler, what stands in for it, or nobody; and what was said so far.

What was compiled stays compiled. Where a registration changes what an earlier call would be told,
JAX has to forget what it has traced and compiled: it has no way to forget a part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernel_magics.call.serving import CallUse
from kernel_magics.custom_call.clients import IN_PROCESS, Reached
from kernel_magics.custom_call.registration import Registration, says_the_same


@dataclass(frozen=True, slots=True)
class Decision:
    """Who serves a call."""

    kind: str
    """`handler`, `fallback`, or `nobody`."""
    registration: Registration | None = None
    """Of the target; None where it is not registered."""

    def is_replaced_by(self, now: "Decision") -> bool:
        """Whether what was compiled for this decision is wrong by now."""
        if self.kind != now.kind:
            return True
        old, new = self.registration, now.registration
        if old is None or new is None or old is new:
            return old is not new
        pairs = zip(old.meaning, new.meaning, strict=True)
        return old.target != new.target or not all(says_the_same(a, b) for a, b in pairs)


@dataclass(frozen=True, slots=True)
class Targets:
    """What is registered, as one value."""

    registrations: Mapping[str, Registration] = field(default_factory=dict[str, Registration])
    serves: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of blocks or targets, to the targets that serve them."""

    def of(self, name: str) -> Registration | None:
        """What serves a name."""
        return self.registrations.get(self.serves.get(name, name))

    def decide(self, use: CallUse, reached: Reached | None) -> Decision:
        """Who serves a call.

        Args:
            use: The call.
            reached: Where it is compiled; None where that is open, as for an export: a custom
                call stays one there, and a block stays a block.
        """
        known = self.of(use.name)
        if known is None:
            return Decision("nobody")
        if reached is None:
            has_handler = bool(known.served) and not use.is_block
            return Decision("handler" if has_handler else _without(known, use), known)
        in_process = reached.scope == IN_PROCESS
        served = known.handler_for(reached.name, reached.platform, is_in_process=in_process)
        if served is None or not reached.takes_handlers or not _supports(known, use, reached):
            return Decision(_without(known, use), known)
        return Decision("handler", known)


def _without(known: Registration, use: CallUse) -> str:
    # A block has a function that says the same; its own is the one to take.
    return "fallback" if known.fallback is not None and not use.is_block else "nobody"


def _supports(known: Registration, use: CallUse, reached: Reached) -> bool:
    if known.supports is None:
        return True
    return bool(known.supports(reached.name, use.arguments, use.attributes))


@dataclass(slots=True)
class Said:
    """What calls were told when they were lowered."""

    _decisions: dict[Any, tuple[CallUse, Reached | None, Decision]] = field(
        default_factory=dict[Any, tuple[CallUse, Reached | None, Decision]]
    )

    _traced: dict[tuple[str, int], Registration | None] = field(
        default_factory=dict[tuple[str, int], Registration | None]
    )

    def note(self, use: CallUse, reached: Reached | None, decision: Decision) -> None:
        """Remembers a decision; takes no lock."""
        kinds = [(tuple(a.shape), str(a.dtype)) for a in use.arguments]
        key = (use.name, use.is_block, id(reached), repr(kinds), repr(dict(use.attributes)))
        self._decisions[key] = (use, reached, decision)

    def note_trace(self, name: str, known: Registration | None) -> None:
        """Remembers what a call was traced by: how it is typed, batched and differentiated."""
        self._traced[name, id(known)] = known

    def is_outdated(self, targets: Targets) -> bool:
        """Whether one of the calls would be told something else by now."""
        for (name, _), then in list(self._traced.items()):
            known = targets.of(name)
            if known is not None and Decision("", then).is_replaced_by(Decision("", known)):
                return True
        for use, reached, then in list(self._decisions.values()):
            now = targets.decide(use, reached)
            # Its trampoline says so when it is called, and follows when it is registered again.
            is_gone = then.kind == "handler" and now.kind == "nobody" and not use.is_block
            if not is_gone and then.is_replaced_by(now):
                return True
        return False

    def forget(self) -> None:
        """Forgets all: nothing that was compiled is left."""
        self._decisions.clear()
        self._traced.clear()
