"""What a word of a `%%hlo` cell means, in a line of code and a sentence or two."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernel_magics.ir.op_docs import OpDoc, op_docs
from kernel_magics.magics.arguments import MagicParser, cell_parser, custom_call_parser
from kernel_magics.magics.editor.cell_text import CUSTOM_CALL, CellText
from kernel_magics.magics.editor.scan import Scan, Symbol, Value, scan, symbols, type_end
from kernel_magics.magics.editor.types import closing, described, result_types
from kernel_magics.sessions import Session

_OPERATION = re.compile(r"[a-z_]\w*(?:\.[\w$-]+)+")
_SHAPED = re.compile(r"(?:tensor|vector|memref)<(?:[^<>\n]|<[^<>\n]*>)*>")
_SHORT_NAMES = {
    "return": "func.return",
    "call": "func.call",
    "func": "func.func",
    "module": "builtin.module",
}
_ARROW = re.compile(r"\s*->\s*")
_BRACES = re.compile(r"\s*\{[^{}]*\}")
"""Attributes of arguments and results: a signature is read without them."""
_LONGEST = 300
"""Longest line of code in an answer, in characters."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word means."""

    start: int
    """Where the word begins in the cell, in characters."""
    end: int
    code: str
    """One line: a type, a signature, an op with its operands."""
    words: str
    """Sentences, one a line; empty where the code says all."""

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.code, self.words]))


def meaning(text: str, offset: int, session: Session) -> Meaning | None:
    """What the word at a place means; None where nothing is known of it.

    Args:
        text: A `%%hlo` or `%%custom_call` cell, also one that does not parse.
        offset: In characters.
        session: What `@` may name beside the cell's own symbols.
    """
    cell = CellText(text)
    start, end = cell.word_at(offset)
    if start == end:
        return None
    if CUSTOM_CALL.match(text):
        is_first = "\n" not in text[:offset].lstrip()
        return _of_magic(text, start, end, custom_call_parser()) if is_first else None
    if offset < cell.body:
        return _of_magic(text, start, end, cell_parser())
    if cell.is_silent(offset) and cell.is_silent(start + 1):
        return None
    word = text[start:end]
    explain = _BY_SIGIL.get(word[0], _of_bare_word)
    found = explain(cell, start, end, session)
    if found is None:
        return None
    code, words = found
    return Meaning(start, end, _short(code), words)


_Answer = tuple[str, str] | None


def _of_magic(text: str, start: int, end: int, parser: MagicParser) -> Meaning | None:
    magic = text.index("%"), text.index("%") + len(parser.prog)
    if start < magic[1]:
        usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
        return Meaning(*magic, usage, parser.description or "")
    word = text[start:end]
    words = parser.help_of(word)
    return Meaning(start, end, word, words[:1].upper() + words[1:] + ".") if words else None


def _of_value(cell: CellText, start: int, end: int, session: Session) -> _Answer:
    """`%0: tensor<4xf32>`, and what makes it."""
    del session
    name, _, number = cell.text[start:end].partition("#")
    found = scan(cell.code)
    value = found.value_at(start, name)
    if value is None:
        return None
    kind = _type_of(cell, found, value, int(number) if number else None)
    where = f"line {cell.text.count(chr(10), 0, value.start) + 1}"
    if value.results is None:
        words = f"Argument, {where}"
    else:
        operation = _OPERATION.search(cell.code, *value.statement)
        by = f" by `{operation[0]}`" if operation else ""
        words = f"Defined{by}, {where}"
    return f"{cell.text[start:end]}: {kind or 'its type is not in the text'}", _ended(
        [words, described(kind)]
    )


def _type_of(cell: CellText, found: Scan, value: Value, number: int | None) -> str:
    """The type of a value as the text has it; empty where it does not."""
    start, end = value.statement
    if value.results is not None:
        first, count = value.results
        total = _result_count(found, value)
        types = result_types(cell.code[start:end], total)
        mine = types[first : first + count]
        return ", ".join(mine) if number is None else (mine[number : number + 1] or [""])[0]
    if start != end:
        return " ".join(cell.code[start:end].split())
    # It begins with another value: `while(%i = %c)`.
    initial = re.match(r"\s*(%[\w$.-]+)(?:#(\d+))?", cell.code[start : start + 200])
    other = found.visible(value.start).get(initial[1]) if initial else None
    if initial is None or other is None:
        return ""
    return _type_of(cell, found, other, int(initial[2]) if initial[2] else None)


def _result_count(found: Scan, value: Value) -> int:
    """How many results the statement of a value has."""
    same = [v for v in found.values if v.results and v.statement == value.statement]
    return sum(v.results[1] for v in same if v.results)


def _of_symbol(cell: CellText, start: int, end: int, session: Session) -> _Answer:
    """A function's signature: the cell's own, else that of the session."""
    name = cell.text[start + 1 : end]
    for symbol in symbols(cell.text, cell.code):
        if symbol.name == name:
            return _of_own(cell, symbol)
    function = session.functions.get(name)
    if function is None:
        return None
    report = function.link_report
    return str(function.signature), f"In the session, of unit `{report.unit if report else name}`."


def _of_own(cell: CellText, symbol: Symbol) -> _Answer:
    start, code = symbol.start, cell.code
    line = f"Line {cell.text.count(chr(10), 0, start) + 1} of this cell."
    if symbol.kind != "func.func":
        return f"{symbol.kind} @{symbol.name}", line
    end = closing(code, code.find("(", start)) + 1 if "(" in code[start:] else start
    arrow = _ARROW.match(code, end)
    if arrow:
        begin = arrow.end()
        is_list = code[begin : begin + 1] == "("
        end = closing(code, begin) + 1 if is_list else type_end(code, begin)
    kept = cell.text[start:end]
    # Found where strings are blank: those may hold braces.
    for found in reversed(list(_BRACES.finditer(code, start, end))):
        kept = kept[: found.start() - start] + kept[found.end() - start :]
    return " ".join(kept.split()), line


def _of_block(cell: CellText, start: int, end: int, session: Session) -> _Answer:
    del session
    name = cell.text[start:end]
    for block in scan(cell.code).blocks:
        if block.name == name:
            line = cell.code[block.start :].split("\n", 1)[0].strip()
            return line.removesuffix(":"), "A block."
    return None


def _of_bare_word(cell: CellText, start: int, end: int, session: Session) -> _Answer:
    """An op, a type, or an attribute of the op that it stands in."""
    del session
    word = cell.text[start:end]
    doc = op_docs().get(_SHORT_NAMES.get(word, word))
    if doc is not None:
        return doc.signature, doc.line
    line = cell.code.rfind("\n", 0, start) + 1
    for found in _SHAPED.finditer(cell.code, line, line + _LONGEST * 10):
        if found.start() <= start < found.end() and described(found[0]):
            return found[0], f"{described(found[0])}."
    return _of_attribute(cell, start, word)


def _of_attribute(cell: CellText, start: int, word: str) -> _Answer:
    begins = max((at for at in scan(cell.code).statements if at <= start), default=start)
    for found in _OPERATION.finditer(cell.code, begins, start):
        doc: OpDoc | None = op_docs().get(found[0])
        if doc is not None and word in doc.attributes:
            return word, f"Attribute of `{doc.name}`."
        if doc is not None and word in doc.words:
            return word, f"Part of `{doc.name}`."
    return None


_BY_SIGIL: Mapping[str, Callable[[CellText, int, int, Session], _Answer]] = {
    "%": _of_value,
    "@": _of_symbol,
    "^": _of_block,
}


def _ended(sentences: list[str]) -> str:
    return "\n".join(f"{sentence}." for sentence in sentences if sentence)


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
