"""Registered targets in the child process: known there, so that programs with them compile.

The handlers themselves are not there: they may be Python functions of the kernel.
"""

from collections.abc import Collection, Sequence
from typing import Any

from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.call.serving import CallUse, Choice, Handled, resolve_calls_with
from kernel_magics.custom_call.slots import slots
from kernel_magics.ir.targets import TargetForm, resolve_targets_with


class KnownTargets:
    """Targets that the kernel has handlers for."""

    def __init__(self, targets: Sequence[str]) -> None:
        self._targets = frozenset(targets)

    def form(self, target: str) -> TargetForm | None:
        """How a call of a declaration is written."""
        return TargetForm() if target in self._targets else None

    def choose(self, use: CallUse, client: Any) -> Choice:
        """A handler, for all that the kernel has registered."""
        del client
        is_known = use.name in self._targets and not use.is_block
        return Handled(use.name, use.attributes) if is_known else None

    def traced(self, use: CallUse) -> None:
        """Nothing: what is compiled here is lowered, not traced."""

    @property
    def registered(self) -> frozenset[str]:
        """Those of the kernel."""
        return self._targets

    def targets(self, client: Any) -> Collection[str]:
        """Those of jaxlib, and those of the kernel."""
        del client
        return private_ffi.host_targets().keys() | self._targets

    def name_of(self, client: Any) -> str:
        """The child has no plugins."""
        return str(client.platform)


def know_targets(targets: Sequence[str]) -> None:
    """Has programs of the child call targets of the kernel: they compile, and fail when run."""
    for target in targets:
        slots.reserve(target)
    known = KnownTargets(targets)
    resolve_calls_with(known)
    resolve_targets_with(known)
