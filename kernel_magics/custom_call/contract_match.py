"""A call held against a contract: what it gives, or the first thing that does not fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from kernel_magics.custom_call.contract_parts import ContractParts
from kernel_magics.custom_call.contract_types import (
    ArrayKind,
    ArrayType,
    CastError,
    dtype_of,
    word_of,
)


@dataclass(frozen=True, slots=True)
class Match:
    """A call that fits."""

    results: tuple[ArrayKind, ...]
    """Dimensions are None where the arguments leave them open."""
    attributes: dict[str, Any]
    """All of them, of their declared types."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a call does not fit."""

    sentence: str
    """Names argument or attribute, what is wanted and what is given."""
    advice: str
    argument: int | None = None
    """Which one it is about."""
    attribute: str | None = None


class _DoesNotFit(Exception):  # noqa: N818 - carries a value within this file
    def __init__(self, mismatch: Mismatch) -> None:
        self.mismatch = mismatch


@dataclass(slots=True)
class _Known:
    """What the arguments looked at so far have told."""

    sizes: dict[str, Any]
    told_by: dict[str, str] = field(default_factory=dict[str, str])
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    leading: tuple[Any, ...] | None = None

    def tell(self, name: str, value: Any, by: str) -> None:
        self.sizes[name], self.told_by[name] = value, by


def match_call(
    parts: ContractParts, arguments: Sequence[ArrayKind], attributes: Mapping[str, Any]
) -> Match | Mismatch:
    """Types a call.

    Args:
        parts: What the contract says.
        arguments: What is given; dimensions may be symbolic, or None where they are open.
        attributes: As given.
    """
    try:
        cast = _cast(parts, attributes)
        known = _Known({name: int(cast[name]) for name in parts.sizes()})
        known.told_by.update((name, "the attribute") for name in known.sizes)
        _match_arguments(parts, arguments, known)
        _check_conditions(parts, known)
        return Match(tuple(_result(result, known) for result in parts.results), cast)
    except _DoesNotFit as error:
        return error.mismatch


def _cast(parts: ContractParts, given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in parts.attributes:
            close = get_close_matches(name, parts.attributes, 1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            known = ", ".join(f"`{n}: {kind}`" for n, kind in parts.attributes.items())
            sentence = f"it has no attribute `{name}`{hint}"
            advice = f"Its attributes: {known}." if known else "It has no attributes."
            raise _DoesNotFit(Mismatch(sentence, advice, attribute=name))
    cast: dict[str, Any] = {}
    for name, kind in parts.attributes.items():
        value = given.get(name, kind.default)
        if value is None:
            sentence = f"the attribute `{name}: {kind}` is missing"
            advice = f"Give it by keyword: `{name}=...`."
            raise _DoesNotFit(Mismatch(sentence, advice, attribute=name))
        try:
            cast[name] = kind.cast(value)
        except CastError as error:
            sentence = f"the attribute `{name}: {kind.type_text}` does not fit: {error}"
            raise _DoesNotFit(Mismatch(sentence, "Give another value.", attribute=name)) from None
    return cast


def _match_arguments(parts: ContractParts, arguments: Sequence[ArrayKind], known: _Known) -> None:
    wanted = parts.arguments
    if len(wanted) != len(arguments):
        takes = f"{len(wanted)} argument" if len(wanted) == 1 else f"{len(wanted)} arguments"
        given = "1 is" if len(arguments) == 1 else f"{len(arguments)} are"
        advice = "Give one for each type in the contract."
        raise _DoesNotFit(Mismatch(f"it takes {takes}, and {given} given", advice))
    for at, (kind, array) in enumerate(zip(wanted, arguments, strict=True)):
        _match_dtype(parts, kind, array, known, at)
        _match_rank(kind, array, known, at)
    # Names by themselves first: a dimension made of names may come before they are told. And
    # twice, for what one of those tells another.
    for is_name in (True, False, False):
        for at, (kind, array) in enumerate(zip(wanted, arguments, strict=True)):
            _match_dims(kind, array, known, at, is_name=is_name)


def _match_dtype(
    parts: ContractParts, wanted: ArrayType, given: ArrayKind, known: _Known, at: int
) -> None:
    word, variable = word_of(given.dtype), wanted.dtypes[0]
    if dtype_of(variable) is not None:
        choices, why = wanted.dtypes, ""
    elif variable in known.kinds:
        choices, why = (known.kinds[variable],), f", and `{variable}` is {known.kinds[variable]}"
    else:
        choices = parts.kinds.get(variable, (word,))
        why = f", and `{variable}` is {' or '.join(choices)}"
    if given.dtype not in [dtype_of(choice) for choice in choices]:
        advice = f'Cast it, for example with `.astype("{_numpy_name(choices[0])}")`.'
        raise _wrong(wanted, given, at, why, advice)
    known.kinds.setdefault(variable, word)


def _numpy_name(word: str) -> str:
    dtype = dtype_of(word)
    return dtype.name if dtype is not None else word


def _match_rank(wanted: ArrayType, given: ArrayKind, known: _Known, at: int) -> None:
    spare = len(given.shape) - len(wanted.dims)
    if spare < 0 or (spare and not wanted.leading):
        count = len(wanted.dims)
        least = "at least " if wanted.leading else ""
        why = f", of {least}{count} dimension{'' if count == 1 else 's'}"
        raise _wrong(wanted, given, at, why, "Reshape it, or use `jax.vmap`.")
    if not wanted.leading:
        return
    leading = given.shape[:spare]
    if known.leading is not None and not _same(known.leading, leading):
        why = f", and `...` is {list(known.leading)}"
        raise _wrong(wanted, given, at, why, "Give arrays whose shapes fit each other.")
    known.leading = known.leading or leading


def _match_dims(
    wanted: ArrayType, given: ArrayKind, known: _Known, at: int, *, is_name: bool
) -> None:
    own = given.shape[len(given.shape) - len(wanted.dims) :]
    for dimension, size in zip(wanted.dims, own, strict=True):
        if size is None or (dimension.name is None) == is_name:
            continue
        value = dimension.value(known.sizes)
        if value is None:
            solved = dimension.solve(size, known.sizes)
            if solved is not None and not _is_negative(solved[1]):
                known.tell(*solved, _called(wanted, at))
                value = dimension.value(known.sizes)
            elif _is_solvable(dimension.names(), known):
                why = f", and no whole number makes `{dimension}` {size}"
                raise _wrong(wanted, given, at, why, "Give another shape.")
        if value is not None and not _same((value,), (size,)):
            why = _because(dimension.text, dimension.names(), value, known)
            raise _wrong(wanted, given, at, why, "Give arrays whose shapes fit each other.")


def _is_negative(size: Any) -> bool:
    return isinstance(size, int) and size < 0


def _is_solvable(names: frozenset[str], known: _Known) -> bool:
    return len([name for name in names if name not in known.sizes]) == 1


def _because(text: str, names: frozenset[str], value: Any, known: _Known) -> str:
    if not names:
        return ""
    by = sorted({known.told_by[name] for name in names if name in known.told_by})
    told = f" from {' and '.join(by)}" if by else ""
    return f", and `{text}` is {value}{told}"


def _check_conditions(parts: ContractParts, known: _Known) -> None:
    for condition in parts.conditions:
        # None where a dimension is open.
        if condition.value(known.sizes) is False:
            sizes = ", ".join(f"`{n}` is {known.sizes[n]}" for n in sorted(condition.names()))
            sentence = f"`{condition}` is wanted, and {sizes}"
            raise _DoesNotFit(Mismatch(sentence, "Give arrays of other shapes."))


def _result(result: ArrayType, known: _Known) -> ArrayKind:
    dims = tuple(dimension.value(known.sizes) for dimension in result.dims)
    for dimension, size in zip(result.dims, dims, strict=True):
        is_known = all(known.sizes.get(name) is not None for name in dimension.names())
        if _is_negative(size) or (size is None and is_known):
            why = _because(dimension.text, dimension.names(), size, known)
            why = f", and `{dimension}` has no value" if size is None else why
            sentence = f"{result.type_text} is no type of a result{why}"
            raise _DoesNotFit(Mismatch(sentence, "Give arrays of other shapes."))
    dtype = dtype_of(known.kinds.get(result.dtypes[0], result.dtypes[0]))
    assert dtype is not None
    return ArrayKind((*(known.leading or () if result.leading else ()), *dims), dtype)


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether shapes are equal, as far as they are known."""
    if len(one) != len(other):
        return False
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _called(wanted: ArrayType, at: int) -> str:
    return f"`{wanted.name}`" if wanted.name else f"argument {at + 1}"


def _wrong(wanted: ArrayType, given: ArrayKind, at: int, why: str, advice: str) -> _DoesNotFit:
    sentence = f"{_called(wanted, at)} is {given}; {wanted.type_text} is wanted{why}"
    return _DoesNotFit(Mismatch(sentence, advice, argument=at))
