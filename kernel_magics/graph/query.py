"""The query language of searches: one syntax for functions and for ops."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from kernel_magics.errors import UsageError

KEYS: Mapping[str, str] = {
    "op": "the op's name, such as `op:dot_general` or `op:dynamic_*`",
    "type": "an element type or a whole type of operands or results, such as `type:bf16`",
    "shape": "a shape of operands or results, such as `shape:128x*`",
    "calls": "a part of the name of what is called, such as `calls:layer_`",
    "unit": "a part of the name of the unit, such as `unit:model`",
    "status": "kept, renamed, reused or missing",
    "target": "a part of a custom call's target, such as `target:lapack`",
}
"""What may stand before a colon, and what it means."""

OP_KEYS = frozenset({"op", "type", "shape"})
"""Those that ask for ops; without one of them a search finds functions."""

STATUSES = ("kept", "renamed", "reused", "missing")

_PARTS = frozenset({"calls", "unit", "target"})
_TOKEN = re.compile(r'(?P<minus>-?)(?:(?P<key>\w+):)?(?P<value>"[^"]*"?|[^\s"]*)')
_TYPE = re.compile(r"((?:(?:\d+|\?)x)*)(.*)", re.DOTALL)
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Term:
    """One condition of a query."""

    key: str
    """One of `KEYS`, or nothing for a word."""
    value: str
    is_negated: bool = False
    column: int = 0
    """Where it begins in the query, from 0."""
    length: int = 0

    @property
    def test(self) -> Callable[[str], bool]:
        """What a text must be for this term, negation left aside; cases are not told apart."""
        value = self.value.lower()
        if "*" in value:
            pattern = re.compile(".*".join(map(re.escape, value.split("*"))), re.DOTALL)
            # A word and a name are looked for anywhere in the text, a type is all of it.
            match = pattern.search if self.is_part else pattern.fullmatch
            return _remembering(lambda text: match(text) is not None)
        if self.is_part:
            return _remembering(lambda text: value in text)
        return _remembering(lambda text: value == text)

    @property
    def is_part(self) -> bool:
        """Whether it is enough that the text contains the value."""
        return not self.key or self.key in _PARTS


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: all terms must hold."""

    text: str
    terms: tuple[Term, ...]

    @property
    def asks_for_ops(self) -> bool:
        """Whether it finds ops rather than functions."""
        return any(term.key in OP_KEYS for term in self.terms)

    def of(self, *keys: str) -> Iterator[Term]:
        """The terms with one of these keys."""
        return (term for term in self.terms if term.key in keys)


def _remembering(test: Callable[[str], bool]) -> Callable[[str], bool]:
    """Texts of a module repeat: each is looked at once."""
    known: dict[str, bool] = {}

    def remembered(text: str) -> bool:
        found = known.get(text)
        if found is None:
            found = known[text] = test(text.lower())
        return found

    return remembered


def parse_query(text: str) -> Query:
    """Reads a query: `op:dot_general type:bf16 shape:128x* -calls:layer_ "two words"`.

    Raises:
        UsageError: It is no query; says what is understood, with a caret.
    """
    terms: list[Term] = []
    at = 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        if at >= len(text):
            break
        found = _TOKEN.match(text, at)
        assert found is not None  # every part of it may be empty
        end = max(found.end(), at + 1)
        terms.append(_term(text, found, end - at))
        at = end
    return Query(text, tuple(terms))


def _term(text: str, found: re.Match[str], length: int) -> Term:
    at, key, value = found.start(), found["key"] or "", found["value"]
    if value.startswith('"'):
        if len(value) == 1 or not value.endswith('"'):
            raise refusal(text, found.start("value"), "A quote is not closed", length=1)
        value = value[1:-1]
    if key in ("", "calls") and len(value) > 1:
        # As symbols are written in the text; names are held without it.
        value = value.removeprefix("@")
    if key and key not in KEYS:
        close = get_close_matches(key, KEYS, 1)
        hint = f"; did you mean `{close[0]}:`?" if close else ""
        what = f"A query knows no `{key}:`{hint}"
        raise refusal(text, found.start("key"), what, length=len(key) + 1)
    if not value:
        what = f"`{key}:` has no value" if key else "A word is missing"
        raise refusal(text, at, what, length=length)
    if key == "status" and value.lower() not in STATUSES:
        what = f"There is no status {value!r}"
        raise refusal(text, found.start("value"), what, length=len(value))
    return Term(key, value, bool(found["minus"]), at, length)


def refusal(text: str, at: int, what: str, length: int = 1) -> UsageError:
    """Returns the error for a place in a query."""
    shown = text.replace("\n", " ").replace("\t", " ")
    left = max(0, at - _SHOWN // 2)
    lead = "… " if left else ""
    shown = shown[left : left + _SHOWN]
    carets = "^" * max(1, min(length, _SHOWN - (at - left)))
    return UsageError(
        what,
        where=[f"{lead}{shown}\n{' ' * (len(lead) + at - left)}{carets}"],
        details=[f"{key}: {means}" for key, means in KEYS.items()],
        advice='Other words are parts of names; quote those with blanks or colons: `"a b"`. '
        "A minus in front means not.",
    )


def split_type(text: str) -> tuple[str, str]:
    """Returns the shape and the element type of a type: `8x64` and `f32`."""
    found = _TYPE.match(text)
    assert found is not None  # both parts may be empty
    return found[1].rstrip("x"), found[2].partition(",")[0].strip()
