"""A contract as text: `(x: f32[b, n], eps: f32 = 1e-6) -> f32[b, n] where n % 8 == 0`."""

import ast
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from kernel_magics.custom_call.contract_dims import Dimension, read_dimension
from kernel_magics.custom_call.contract_parts import ContractParts
from kernel_magics.custom_call.contract_types import (
    ELLIPSIS,
    ArrayType,
    AttributeType,
    CastError,
    dtype_of,
)
from kernel_magics.errors import UsageError
from kernel_magics.ir.source import Source

_EXAMPLE = '"(x: f32[b, n], w: f32[n], eps: f32 = 1e-6) -> f32[b, n]"'
_TOKEN = re.compile(r"\s*(?:(->|\.\.\.|[A-Za-z_]\w*|[()\[\],:=|;])|(\S))")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_LITERALS = ("inf", "-inf", "nan")
_VARIABLE = re.compile(r"[A-Z]\w*")


@dataclass(slots=True)
class _Reader:
    """A text and a place in it."""

    text: str
    at: int = 0
    attributes: dict[str, AttributeType] = field(default_factory=dict[str, AttributeType])

    def refuse(self, problem: str, at: int | None = None) -> NoReturn:
        """Raises with a caret at a place, or at the next token."""
        start = self.at if at is None else at
        start += len(self.text[start:]) - len(self.text[start:].lstrip())
        before = self.text[:start]
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode()) + 1
        raise UsageError(
            f"The contract cannot be read: {problem}",
            where=[Source(self.text, "contract").excerpt(line, column)],
            advice=f"A contract looks like {_EXAMPLE}.",
        )

    def peek(self) -> str:
        """The next token; empty at the end."""
        found = _TOKEN.match(self.text, self.at)
        return (found[1] or found[2]) if found else ""

    def take(self, *wanted: str) -> str:
        """The next token, which is one of those wanted; empty where it is none of them."""
        found = _TOKEN.match(self.text, self.at)
        if not found or (found[1] or found[2]) not in wanted:
            return ""
        self.at = found.end()
        return found[1] or found[2]

    def want(self, token: str) -> None:
        """Takes a token that must be next."""
        if not self.take(token):
            self.refuse(f"`{token}` is wanted here")

    def word(self) -> str:
        """Takes a name."""
        token = self.peek()
        if not _WORD.fullmatch(token):
            self.refuse("a name or a type is wanted here")
        self.take(token)
        return token

    def until(self, stops: str) -> str:
        """Text up to one of some characters outside brackets and quotation marks."""
        depth, quote, start = 0, "", self.at
        while self.at < len(self.text):
            here = self.text[self.at]
            if quote:
                quote = "" if here == quote else quote
            elif here in "'\"":
                quote = here
            elif depth == 0 and here in stops:
                break
            else:
                depth += (here in "([") - (here in ")]")
            self.at += 1
        return self.text[start : self.at].strip()


def read_contract(text: str) -> ContractParts:
    """Reads the text of a contract.

    Raises:
        UsageError: It cannot be read; a caret shows where.
    """
    reader = _Reader(text)
    reader.want("(")
    arguments = _items(reader, takes_attributes=True)
    reader.want("->")
    results = _items(reader) if reader.take("(") else (_item(reader),)
    kinds: dict[str, tuple[str, ...]] = {}
    conditions: list[Dimension] = []
    if reader.take("where"):
        _clauses(reader, kinds, conditions)
    if reader.peek():
        reader.refuse("the text goes on where it should end")
    return ContractParts(
        tuple(a for a in arguments if a),
        tuple(r for r in results if r),
        reader.attributes,
        kinds,
        tuple(conditions),
    )


def _items(reader: _Reader, *, takes_attributes: bool = False) -> tuple[ArrayType | None, ...]:
    """The list up to its closing bracket; None stands for an attribute."""
    found: list[ArrayType | None] = []
    while not reader.take(")"):
        if found and not reader.take(","):
            reader.refuse("`,` or `)` is wanted here")
        if found and reader.take(")"):
            break
        found.append(_item(reader, takes_attributes=takes_attributes))
    return tuple(found)


def _item(reader: _Reader, *, takes_attributes: bool = False) -> ArrayType | None:
    start, name = reader.at, ""
    if reader.peek() != "[":
        name = reader.word()
        if not reader.take(":"):
            reader.at, name = start, ""
    if takes_attributes and reader.peek() == "[":
        return _attribute(reader, name, start, is_array=True)
    words = _dtypes(reader)
    if reader.peek() == "[":
        return _array(reader, words, name)
    if not takes_attributes:
        reader.refuse("`[` and the dimensions are wanted here; `[]` is a scalar")
    reader.at = start
    if name:
        reader.word()
        reader.want(":")
    return _attribute(reader, name, start, is_array=False)


def _dtypes(reader: _Reader) -> tuple[str, ...]:
    words: list[str] = []
    while True:
        start = reader.at
        word = reader.word()
        if dtype_of(word) is None and not _VARIABLE.fullmatch(word) and word != "str":
            reader.refuse(f"`{word}` is no type of elements", start)
        words.append(word)
        if not reader.take("|"):
            break
    return tuple(words)


def _array(reader: _Reader, words: tuple[str, ...], name: str) -> ArrayType:
    if "str" in words:
        reader.refuse("there is no array of text")
    if len(words) > 1 and any(_VARIABLE.fullmatch(word) for word in words):
        reader.refuse("one variable stands for all types by itself")
    reader.want("[")
    leading, dims = False, list[Dimension]()
    while not reader.take("]"):
        if (leading or dims) and not reader.take(","):
            reader.refuse("`,` or `]` is wanted here")
        if not leading and not dims and reader.take(ELLIPSIS):
            leading = True
            continue
        start = reader.at
        dims.append(_dimension(reader, reader.until(",]"), start))
    return ArrayType(words, tuple(dims), leading, name)


def _dimension(reader: _Reader, text: str, start: int, *, is_condition: bool = False) -> Dimension:
    try:
        return read_dimension(text, is_condition=is_condition)
    except ValueError as error:
        what = "condition" if is_condition else "dimension"
        reader.refuse(f"`{text}` is no {what}, for {error}", start)


def _attribute(reader: _Reader, name: str, start: int, *, is_array: bool) -> None:
    if not name:
        reader.refuse("an attribute has a name, as in `eps: f32 = 1e-6`", start)
    if name in reader.attributes:
        reader.refuse(f"the attribute `{name}` is there twice", start)
    if is_array:
        reader.want("[")
    word_at = reader.at
    word = reader.word()
    if word != "str" and dtype_of(word) is None:
        reader.refuse(f"`{word}` is no type of an attribute", word_at)
    if is_array:
        reader.want("]")
    kind = AttributeType(word, is_array)
    if reader.take("="):
        kind = AttributeType(word, is_array, _default(reader, kind))
    reader.attributes[name] = kind


def _default(reader: _Reader, kind: AttributeType) -> Any:
    start = reader.at
    text = reader.until(",)")
    try:
        # Python's literals, in small letters too, and what no literal says.
        words = re.sub(r"\b(true|false)\b", lambda found: found[0].title(), text)
        value = float(text) if text in _NO_LITERALS else ast.literal_eval(words)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        reader.refuse(f"`{text}` is no number and no text in quotation marks", start)
    try:
        return kind.cast(value)
    except CastError as error:
        reader.refuse(f"the default does not fit `{kind.type_text}`: {error}", start)


def _clauses(
    reader: _Reader, kinds: dict[str, tuple[str, ...]], conditions: list[Dimension]
) -> None:
    while True:
        start = reader.at
        name = reader.peek()
        if _VARIABLE.fullmatch(name) and reader.take(name) and reader.take(":"):
            kinds[name] = _dtypes(reader)
        else:
            reader.at = start
            conditions.append(_dimension(reader, reader.until(",;"), start, is_condition=True))
        if not reader.take(",", ";"):
            break
