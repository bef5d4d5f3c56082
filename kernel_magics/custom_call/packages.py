"""Handlers that installed packages bring: listed without an import, loaded when first wanted.

A package says in its metadata which targets it serves: an entry point of the group
`kernel_magics.custom_calls` has the target's name and leads to a mapping with what
`km.custom_calls.register` takes by keyword, or to a function without arguments that gives one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from kernel_magics.errors import CustomCallError

GROUP = "kernel_magics.custom_calls"


@dataclass(frozen=True, slots=True)
class Offer:
    """A target that an installed package would serve."""

    target: str
    package: str
    """The distribution's name, as `pip list` has it."""
    version: str
    place: str
    """Module and name of what says how it is registered."""
    entry: EntryPoint = field(repr=False, compare=False)


class Packages:
    """What installed packages offer, and which of them is taken. Reads take no lock."""

    def __init__(self, register: Callable[..., Any]) -> None:
        """Looks for nothing yet.

        Args:
            register: As `CustomCallRegistry.register`.
        """
        self._register = register
        self._offers: tuple[Offer, ...] | None = None
        self._preferred: dict[str, str] = {}
        self._declined: frozenset[str] = frozenset()

    @property
    def offers(self) -> tuple[Offer, ...]:
        """All offers, by target and package; no package is imported for that."""
        if self._offers is None:
            found = [_offer(entry) for entry in entry_points(group=GROUP)]
            self._offers = tuple(sorted(found, key=lambda o: (o.target, o.package)))
        return self._offers

    def prefer(self, choices: Mapping[str, str]) -> None:
        """Says which packages serve which targets, where several would.

        Args:
            choices: Targets, to names of packages.

        Raises:
            CustomCallError: The package offers no such target.
        """
        for target, package in choices.items():
            offering = [offer.package for offer in self.offers if offer.target == target]
            if package not in offering:
                close = get_close_matches(package, offering, 1)
                hint = f"; did you mean `{close[0]}`?" if close else ""
                raise CustomCallError(
                    f"The package `{package}` offers no custom call `{target}`{hint}",
                    details=[f"offered by: {', '.join(offering)}"] if offering else [],
                    advice="`km.custom_calls.offers` lists what installed packages offer.",
                )
        self._preferred = {**self._preferred, **choices}
        self._declined -= set(choices)

    def chosen(self, target: str) -> Offer | None:
        """The offer that is taken when a target is wanted; None where there is none."""
        offers = [offer for offer in self.offers if offer.target == target]
        preferred = [o for o in offers if o.package == self._preferred.get(target)]
        return next(iter([*preferred, *offers]), None)

    def targets(self) -> frozenset[str]:
        """Targets that packages would serve, but for those that the user has unregistered."""
        return frozenset(offer.target for offer in self.offers) - self._declined

    def bring(self, target: str) -> bool:
        """Registers what a package offers for a target; whether one does.

        Raises:
            CustomCallError: The package cannot be imported, or says nothing useful.
        """
        offer = None if target in self._declined else self.chosen(target)
        if offer is None:
            return False
        self._register(target, **_options(offer))
        return True

    def decline(self, target: str) -> bool:
        """Has a target not brought again: the user has unregistered it. Whether one offers it."""
        if target not in self.targets():
            return False
        self._declined |= {target}
        return True

    def reset(self) -> None:
        """Forgets preferences, and looks again when asked."""
        self._offers, self._preferred, self._declined = None, {}, frozenset()


def _offer(entry: EntryPoint) -> Offer:
    dist: Any = entry.dist
    name = dist.metadata["Name"] if dist is not None else "?"
    return Offer(entry.name, name, dist.version if dist is not None else "?", entry.value, entry)


def _options(offer: Offer) -> Mapping[str, Any]:
    try:
        found: Any = offer.entry.load()
        options = found() if callable(found) else found
    # A package of strangers is run here: whatever it raises is told with its name.
    except Exception as error:
        raise CustomCallError(
            f"The package `{offer.package}` offers the custom call `{offer.target}`, and fails: "
            f"{type(error).__name__}: {error}",
            details=[f"entry point: {offer.place}"],
            advice="Update or remove the package, or register a handler of your own.",
        ) from error
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        raise CustomCallError(
            f"The package `{offer.package}` offers the custom call `{offer.target}`, and does not "
            "say how it is registered",
            details=[f"entry point: {offer.place}", f"given: {options!r}"],
            advice="A mapping of keywords of `km.custom_calls.register` is wanted.",
        )
    return options
