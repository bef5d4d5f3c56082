"""Which trampoline stands for which target where: as lasting as XLA's own registries.

XLA takes one handler for a target and keeps it for the life of the process. So there is one slot
for each target and scope in this process, whoever asks; what it runs is for registries to say.
"""

import threading
from dataclasses import dataclass

import jax

from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.custom_call.clients import IN_PROCESS, Reached
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.trampoline import CallStats, Trampoline, new_trampoline
from kernel_magics.errors import CustomCallError


@dataclass(frozen=True, slots=True)
class Slot:
    """A target in a scope."""

    target: str
    scope: str


class Slots:
    """The trampolines of this process."""

    def __init__(self) -> None:
        self._made: dict[Slot, Trampoline] = {}
        self._lock = threading.RLock()

    def switch(
        self,
        target: str,
        reached: Reached | None,
        handler: Handler | None,
        *,
        native: bool | None = None,
    ) -> None:
        """Has a target run a handler from now on, or fail in words.

        Args:
            target: The custom call's name.
            reached: Where; None for jaxlib's own clients, which may not be there yet.
            handler: None takes the one before away; where there was none, nothing happens.
            native: Whether a trampoline that must be made is machine code; None for if it can be.

        Raises:
            CustomCallError: XLA or the plugin refused a trampoline.
        """
        slot = Slot(target, IN_PROCESS if reached is None else reached.scope)
        with self._lock:
            made = self._made.get(slot)
            if made is None and handler is not None:
                made = new_trampoline(target, native=native)
                _give(target, reached, made)
                self._made = {**self._made, slot: made}
            if made is not None:
                made.switch(handler)

    def reserve(self, target: str) -> None:
        """Gives jaxlib's own clients a trampoline of a target that runs nothing yet."""
        slot = Slot(target, IN_PROCESS)
        with self._lock:
            if slot not in self._made:
                made = new_trampoline(target)
                _give(target, None, made)
                self._made = {**self._made, slot: made}

    def clear(self, target: str) -> None:
        """Takes a target's handlers away, everywhere."""
        with self._lock:
            for slot, trampoline in self._made.items():
                if slot.target == target:
                    trampoline.switch(None)

    def targets(self, scope: str) -> set[str]:
        """Targets that have a trampoline in a scope."""
        return {slot.target for slot in self._made if slot.scope == scope}

    def stats(self, target: str) -> dict[str, CallStats]:
        """Scopes to what went through a target's trampolines there."""
        return {s.scope: t.stats() for s, t in self._made.items() if s.target == target}


slots = Slots()
"""Those of this process."""


def _give(target: str, reached: Reached | None, made: Trampoline) -> None:
    if reached is None or reached.scope == IN_PROCESS:
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(made.address), platform="cpu")
        return
    if reached.ffi is None:
        raise CustomCallError(
            f"The plugin `{reached.name}` cannot be given handlers of custom calls",
            details=["this version of JAX does not say where its PJRT library is"],
            advice=f'Load it with `km.plugins.load("{reached.name}")`.',
        )
    reached.ffi.register(target, made.address, reached.platform)


def refuse_taken(target: str) -> None:
    """Raises where XLA has a handler for a target that is not ours to give away.

    XLA keeps the first and, asked before it has started, fails when it starts: for good.

    Raises:
        CustomCallError: JAX or somebody else has registered the target.
    """
    if target in slots.targets(IN_PROCESS):
        return
    own = target in private_ffi.stable_targets() or target.startswith(_RESERVED)
    if own or target in private_ffi.taken_targets():
        owner = "JAX and XLA have" if own else "`jax.ffi` was given"
        raise CustomCallError(
            f"The target `{target}` is taken: {owner} a handler for it",
            details=["XLA keeps the first handler of a target for the life of the process"],
            advice="Choose another name; one with a prefix, such as `mine.rms_norm`, is safe.",
        )


_RESERVED = (
    "lapack_",
    "xla_",
    "xla.",
    "__",
    "mhlo.",
    "stablehlo.",
    "cu_",
    "hipsolver_",
    "cusolver_",
)
"""Begin names that JAX and XLA use, or may come to use."""
