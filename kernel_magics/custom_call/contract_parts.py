"""What the text of a contract says, and whether that determines what a call gives."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from kernel_magics.custom_call.contract_dims import Dimension
from kernel_magics.custom_call.contract_types import ArrayType, AttributeType, dtype_of
from kernel_magics.errors import UsageError


@dataclass(frozen=True, slots=True)
class ContractParts:
    """What the text of a contract says."""

    arguments: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    attributes: Mapping[str, AttributeType]
    kinds: Mapping[str, tuple[str, ...]]
    """For a variable of dtypes the words that it may stand for; absent: any."""
    conditions: tuple[Dimension, ...]

    def sizes(self) -> frozenset[str]:
        """Attributes that are whole numbers: they may stand in dimensions."""
        return frozenset(n for n, kind in self.attributes.items() if is_size(kind))

    def __str__(self) -> str:
        items = [str(a) for a in self.arguments]
        items += [f"{name}: {kind}" for name, kind in self.attributes.items()]
        results = [str(result) for result in self.results]
        shown = results[0] if len(results) == 1 else f"({', '.join(results)})"
        clauses = [f"{name}: {' | '.join(words)}" for name, words in self.kinds.items()]
        clauses += [str(condition) for condition in self.conditions]
        where = f" where {', '.join(clauses)}" if clauses else ""
        return f"({', '.join(items)}) -> {shown}{where}"


def is_size(kind: AttributeType) -> bool:
    """Whether an attribute is a whole number."""
    dtype = dtype_of(kind.word)
    return not kind.is_array and dtype is not None and dtype.kind in "iu"


def check_parts(parts: ContractParts, text: str, *, knows_results: bool) -> None:
    """Checks that a call determines every name that the results and conditions need.

    Args:
        parts: What the text says.
        text: For messages.
        knows_results: Whether a function gives the results.

    Raises:
        UsageError: It does not, or the text contradicts itself.
    """
    if knows_results and parts.results:
        _refuse(text, "a function gives the results, and its text gives some, too", "")
    names = [array.name for array in (*parts.arguments, *parts.results) if array.name]
    names += parts.attributes
    if double := [name for name in names if names.count(name) > 1]:
        _refuse(text, f"`{double[0]}` is the name of two things", "Give them two names.")
    known = _determined(parts)
    needed = [*(d for r in parts.results for d in r.dims), *parts.conditions]
    needed += [d for a in parts.arguments for d in a.dims]
    for dimension in needed:
        if missing := sorted(dimension.names() - known):
            _refuse(
                text,
                f"no argument says how much `{missing[0]}` in `{dimension}` is",
                "Name it as a dimension of an argument, or as an attribute that is a whole number.",
            )
    _check_variables(parts, text)


def _determined(parts: ContractParts) -> frozenset[str]:
    """Names of dimensions that a call tells."""
    known = parts.sizes()
    dims = [d for argument in parts.arguments for d in argument.dims]
    while more := frozenset(n for d in dims for n in d.determines(known)):
        known |= more
    return known


def _check_variables(parts: ContractParts, text: str) -> None:
    given = set(_variables(parts.arguments))
    for name in [*_variables(parts.results), *parts.kinds]:
        if name not in given:
            _refuse(text, f"no argument says what type `{name}` is", "Use it for an argument.")
    for result in parts.results:
        if len(result.dtypes) > 1:
            _refuse(
                text,
                f"`{result.type_text}` leaves open of what type a result is",
                "Name one type, or a variable such as `T` that stands for an argument's, too.",
            )
        if result.leading and not any(a.leading for a in parts.arguments):
            _refuse(text, "no argument says what `...` is", "Use `...` in an argument.")


def _variables(arrays: Sequence[ArrayType]) -> Iterable[str]:
    return (word for array in arrays for word in array.dtypes if dtype_of(word) is None)


def _refuse(text: str, problem: str, advice: str) -> NoReturn:
    raise UsageError(
        f"The contract cannot be used: {problem}", details=[f"contract: {text}"], advice=advice
    )
