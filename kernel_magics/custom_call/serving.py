"""What is registered, and what follows from it: slots switched, clients reached, calls decided."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import jax

from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.call.serving import (
    CallUse,
    Choice,
    Handled,
    StandIn,
    resolve_calls_with,
    unasked,
)
from kernel_magics.custom_call.choosing import Decision, Said, Targets
from kernel_magics.custom_call.clients import IN_PROCESS, Clients, Reached
from kernel_magics.custom_call.guard import guard_jax_callbacks
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.mirror import mirror
from kernel_magics.custom_call.registration import Registration, Served
from kernel_magics.custom_call.slots import slots
from kernel_magics.errors import SignatureError
from kernel_magics.ir.targets import TargetForm, resolve_targets_with


class Serving:
    """The state of a registry, and what the layers below ask of it.

    What is registered is one value, replaced as a whole: reads take no lock.
    """

    def __init__(self, *, native: bool | None = None) -> None:
        """Knows nothing yet, and starts nothing.

        Args:
            native: Whether trampolines are machine code; None for where that is at hand.
        """
        self._native = native
        self._said = Said()
        self._mirrored: dict[str, frozenset[str]] = {}
        self._lock = threading.RLock()
        self.now = Targets()
        """What is registered."""
        self.bring: Callable[[str], bool] = lambda target: False  # noqa: ARG005 - nobody brings any
        """Registers what a package offers for a target; whether one does."""
        self.offered: Callable[[], Iterable[str]] = tuple
        """Targets that packages would serve."""
        self.clients = Clients(self._reached)
        """Those that are given handlers."""

    def of(self, name: str) -> Registration | None:
        """What serves a name; what only a package offers is brought for that."""
        known = self.now.of(name)
        if known is None and self.bring(self.now.serves.get(name, name)):
            known = self.now.of(name)
        return known

    def attend(self) -> None:
        """Has the layers below ask here, before anything is registered."""
        resolve_targets_with(self)
        resolve_calls_with(self)

    def update(self, target: str, change: Callable[[Registration], Registration]) -> Registration:
        """Makes another registration of a target hold: handlers first, so that none is missing.

        Args:
            target: The custom call's name.
            change: Takes what is registered, an empty registration where nothing is.

        Returns:
            The one that holds: the one before where it says the same.
        """
        with self._lock:
            before = self.now.registrations.get(target)
            new = change(before or Registration(target))
            if before is not None and before == new:
                return before
            for reached in (None, *self.clients.all()):
                self._install(new, reached)
            self.change(replace(self.now, registrations={**self.now.registrations, target: new}))
            self.attend()
        return new

    def drop(self, target: str) -> bool:
        """Takes a target's handlers away; whether it was registered."""
        with self._lock:
            if target not in self.now.registrations:
                return False
            left = {k: v for k, v in self.now.registrations.items() if k != target}
            slots.clear(target)
            self.change(replace(self.now, registrations=left))
        return True

    def serve(self, serves: dict[str, str]) -> None:
        """Says which targets serve which names, beside those that are said."""
        with self._lock:
            self.change(replace(self.now, serves={**self.now.serves, **serves}))

    def clear(self) -> None:
        """Takes all handlers away."""
        with self._lock:
            for target in self.now.registrations:
                slots.clear(target)
            self.change(Targets())

    def form(self, target: str) -> TargetForm | None:
        """How a declaration that means a registered target is written as a custom call."""
        known = self.of(target)
        return None if known is None else TargetForm(has_side_effect=known.has_side_effect)

    def decide(self, use: CallUse, client: Any) -> Decision:
        """Who serves a call; remembered, so that a later registration can tell what is stale."""
        reached = None if client is None else self.clients.of(client)
        decision = self.now.decide(use, reached)
        self._said.note(use, reached, decision)
        return decision

    def trace(self, name: str) -> Registration | None:
        """What serves a name, for a trace; remembered, as `decide` does."""
        known = self.of(name)
        self._said.note_trace(name, known)
        return known

    def choose(self, use: CallUse, client: Any) -> Choice:
        """Who serves a call that a program has; checked against the contract."""
        known = self.of(use.name)
        if known is None:
            self.decide(use, client)  # remembered: somebody may serve it later
            return None
        attributes = use.attributes
        if known.contract is not None:
            try:
                checked = known.contract.check(known.target, use.arguments, attributes)
                known.contract.check_results(known.target, use.results, use.arguments, checked)
            except SignatureError as error:
                error.where = (*error.where, *([use.where] if use.where else ()))
                raise
            attributes = checked.attributes
        decision = self.decide(replace(use, attributes=attributes), client)
        if decision.kind == "handler":
            return Handled(known.target, attributes, known.has_side_effect)
        if decision.kind == "fallback" and known.fallback is not None:
            return StandIn(known.fallback, attributes)
        return None

    def traced(self, use: CallUse) -> Callable[..., Any] | None:
        """A registered target as a JAX function that gives a tuple; None where it is none."""
        if use.is_block or self.of(use.name) is None:
            return None

        def call(*args: Any) -> tuple[Any, ...]:
            from kernel_magics.custom_call.calling import call_target  # noqa: PLC0415 - a cycle

            made = call_target(self, use.name, args, use.results, dict(use.attributes))
            return made if isinstance(made, tuple) else (made,)

        return call

    @property
    def registered(self) -> frozenset[str]:
        """Targets that are registered here."""
        return frozenset(self.now.registrations)

    def targets(self, client: Any) -> frozenset[str]:
        """Targets that have a handler on a plugin."""
        reached = self.clients.of(client)
        is_in_process = reached.scope == IN_PROCESS
        served = {
            name
            for name, known in self.now.registrations.items()
            if known.handler_for(reached.name, reached.platform, is_in_process=is_in_process)
        }
        if is_in_process:
            others = private_ffi.host_targets().keys() - slots.targets(IN_PROCESS)
        else:
            others = self._mirrored.get(reached.scope, frozenset())
        return frozenset(served | others | frozenset(self.offered()))

    def name_of(self, client: Any) -> str:
        """The name of a client's plugin."""
        return self.clients.of(client).name

    def install(self, target: str, handler: Handler, *, has_side_effect: bool) -> None:
        """Serves a target of our own everywhere; the first handler stays."""
        if target not in self.now.registrations:
            served = (Served(handler),)
            ours = Registration(target, served, has_side_effect=has_side_effect, is_tried=True)
            self.update(target, lambda before: before if before.served else ours)

    def _install(self, known: Registration, reached: Reached | None) -> None:
        if reached is None:
            code = known.handler_in_process()
        elif reached.scope == IN_PROCESS or not reached.takes_handlers:
            return
        else:
            code = known.handler_for(reached.name, reached.platform, is_in_process=False)
        slots.switch(known.target, reached, code, native=self._native)

    def _reached(self, reached: Reached) -> None:
        """A client has become known: it gets what others have."""
        with self._lock:
            guard_jax_callbacks()
            resolve_calls_with(self)
            if reached.scope == IN_PROCESS or not reached.takes_handlers:
                return
            if reached.scope not in self._mirrored:
                self._mirrored[reached.scope] = mirror(reached)
            for known in self.now.registrations.values():
                self._install(known, reached)

    def change(self, targets: Targets) -> None:
        """Makes other targets hold; what JAX compiled goes where it would be another program."""
        self.now = targets
        names = targets.registrations.keys() | targets.serves.keys()
        if self._said.is_outdated(targets) or not unasked.isdisjoint(names):
            self._said.forget()
            unasked.clear()
            jax.clear_caches()
