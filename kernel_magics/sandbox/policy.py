"""When something is tried in the child first, and for how long."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

When = Literal["always", "auto", "never"]
"""`auto`: where nothing shows that it is safe."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a user wants of trials."""

    when: When = "auto"
    timeout_s: float = 120.0
    """How long one may take; what takes longer is refused."""


_kernel_wide = [Policy()]
_here: ContextVar[Policy | None] = ContextVar("kernel_magics_trial_policy", default=None)


def policy() -> Policy:
    """What holds here and now."""
    return _here.get() or _kernel_wide[0]


def set_policy(wanted: Policy) -> None:
    """Says what holds in this process from now on, where nothing else is said."""
    _kernel_wide[0] = wanted


@contextmanager
def using(wanted: Policy) -> Generator[None]:
    """Says what holds within a block."""
    token = _here.set(wanted)
    try:
        yield
    finally:
        _here.reset(token)
