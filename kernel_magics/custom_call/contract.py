"""What a custom call takes and gives, checked when it is traced."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from kernel_magics.custom_call.contract_match import Match, Mismatch, match_call
from kernel_magics.custom_call.contract_parts import ContractParts, check_parts
from kernel_magics.custom_call.contract_text import read_contract
from kernel_magics.custom_call.contract_types import ArrayKind, attribute_type, kind_of
from kernel_magics.custom_call.registration import CheckedCall
from kernel_magics.errors import SignatureError, UsageError

ResultsOf = Callable[..., Any]
"""Takes a `jax.ShapeDtypeStruct` for each argument, and attributes by keyword; gives one for each
result, or one alone."""


@dataclass(frozen=True, slots=True)
class Contract:
    """Arguments, attributes and results of a custom call; equal when they say the same."""

    text: str
    """As `contract` reads it, defaults of attributes included."""
    parts: ContractParts = field(repr=False, compare=False)
    results_of: ResultsOf | None = field(default=None, repr=False)
    """Gives the results where a text cannot say them."""

    def check(
        self, target: str, avals: Sequence[Any], attributes: Mapping[str, Any]
    ) -> CheckedCall:
        """Types a call: its results, and its attributes as they are declared.

        Args:
            target: For messages.
            avals: Arrays, or what has a shape and a dtype, for each argument.
            attributes: As the caller gave them.

        Raises:
            SignatureError: The call does not fit; names argument and wanted type.
        """
        kinds = [kind_of(aval) for aval in avals]
        found = match_call(self.parts, kinds, attributes)
        if isinstance(found, Mismatch):
            raise self._error(target, found, kinds)
        if self.results_of is not None:
            return CheckedCall(self._asked(target, avals, found.attributes), found.attributes)
        assert all(None not in kind.shape for kind in found.results)
        results = [jax.ShapeDtypeStruct(kind.shape, kind.dtype) for kind in found.results]
        return CheckedCall(tuple(results), found.attributes)

    def check_results(
        self, target: str, wanted: Sequence[Any], avals: Sequence[Any], checked: CheckedCall
    ) -> None:
        """Holds the results that a caller declares against those of the contract.

        Args:
            target: For messages.
            wanted: As the caller declares them: a handler writes as much as the contract says,
                whatever room there is.
            avals: The arguments, for messages.
            checked: What `check` gave.

        Raises:
            SignatureError: They are others.
        """
        given, true = [kind_of(r) for r in wanted], [kind_of(r) for r in checked.results]
        if given != true:
            sentence = f"{_listed(given)} is declared as its result; it gives {_listed(true)}"
            advice = "Leave the results out: the contract says what they are."
            kinds = [kind_of(aval) for aval in avals]
            raise self._error(target, Mismatch(sentence, advice), kinds)

    def match(
        self, arguments: Sequence[ArrayKind], attributes: Mapping[str, Any]
    ) -> Match | Mismatch:
        """As `check`, for dimensions that may be open, without raising."""
        return match_call(self.parts, arguments, attributes)

    def _asked(
        self, target: str, avals: Sequence[Any], attributes: Mapping[str, Any]
    ) -> tuple[jax.ShapeDtypeStruct, ...]:
        assert self.results_of is not None
        shapes = [jax.ShapeDtypeStruct(tuple(a.shape), a.dtype) for a in avals]
        found = self.results_of(*shapes, **attributes)
        results = tuple(found) if isinstance(found, list | tuple) else (found,)
        if not all(hasattr(r, "shape") and hasattr(r, "dtype") for r in results):
            raise UsageError(
                f"The function that gives the results of custom call `{target}` gave {found!r}",
                advice="It gives a `jax.ShapeDtypeStruct` for each result.",
            )
        return tuple(jax.ShapeDtypeStruct(tuple(r.shape), r.dtype) for r in results)

    def _error(self, target: str, found: Mismatch, given: Sequence[ArrayKind]) -> SignatureError:
        return SignatureError(
            f"Custom call `{target}`: {found.sentence}",
            details=[f"contract: {self.text}", f"given: {_listed(given)}"],
            advice=found.advice,
        )

    def __str__(self) -> str:
        return self.text


def contract(text: str, /, *, results_of: ResultsOf | None = None, **attributes: Any) -> Contract:
    """Says what a custom call takes and gives.

    `"(x: f32[b, n], w: f32[n], eps: f32 = 1e-6) -> f32[b, n]"`: an argument is a type with
    dimensions, a name before it is for messages. A dimension is a number, a name that is the same
    number everywhere, or made of them (`2*n + 1`). `...` stands for any dimensions in front.
    `f32 | f64[n]` takes either; `T[n]` any type, the same for every `T`. What has no brackets is
    an attribute; integer attributes may stand in dimensions. After `where` come the types of a
    variable and conditions: `where T: f32 | bf16, n % 8 == 0`.

    Args:
        text: As above.
        results_of: Gives the results where a text cannot say them: takes a
            `jax.ShapeDtypeStruct` for each argument, and attributes by keyword. Then `text` may
            end with `-> ()`.
        attributes: More attributes: a default (`eps=np.float32(1e-6)`), or a type where a call
            must give it (`k=np.int64`, `axes=[np.int64]`, `mode=str`). A Python float is f64.

    Raises:
        UsageError: The text cannot be read, or does not determine its results.
    """
    parts = read_contract(text)
    merged = {**parts.attributes, **{k: _attribute(k, v) for k, v in attributes.items()}}
    if double := [name for name in attributes if name in parts.attributes]:
        raise UsageError(
            f"The attribute `{double[0]}` stands in the contract's text and beside it",
            advice="Say it once.",
        )
    whole = ContractParts(parts.arguments, parts.results, merged, parts.kinds, parts.conditions)
    check_parts(whole, text, knows_results=results_of is not None)
    return Contract(str(whole), whole, results_of)


def _attribute(name: str, value: Any) -> Any:
    try:
        return attribute_type(value)
    except ValueError as error:
        raise UsageError(
            f"The attribute `{name}` of a contract: {error}",
            details=[f"given: {value!r}"],
            advice="As in `eps=np.float32(1e-6)`, `k=np.int64`, `axes=[np.int64]`, `mode=str`.",
        ) from None


def _listed(kinds: Sequence[ArrayKind]) -> str:
    return ", ".join(map(str, kinds)) or "nothing"
