"""What may stand at a place of a cell: names, ops, types, attributes, each with its kind."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kernel_magics.ir.op_docs import OpDoc, op_docs
from kernel_magics.magics.editor.cell_text import CellText
from kernel_magics.magics.editor.scan import Scan, scan, symbols


@dataclass(frozen=True, slots=True)
class Candidate:
    """One word to offer."""

    text: str
    kind: str
    """In Jupyter's words, which front ends have icons for: `function`, `class`, `instance`…"""


_ELEMENTS = (
    *("f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"),
    *("i2", "i4", "ui2", "ui4", "index", "tf32", "f8E4M3FN", "f8E5M2", "f8E4M3B11FNUZ"),
    *("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3", "f8E3M4", "f8E8M0FNU"),
    *("f4E2M1FN", "f6E2M3FN", "f6E3M2FN"),
)
_CONTAINERS = ("tensor<", "tuple<", "complex<", "memref<", "vector<", "none", "!stablehlo.token")
_MARKED = (
    *("!stablehlo.token", "!stablehlo.future", "#stablehlo.dot", "#stablehlo.gather"),
    *("#stablehlo.scatter", "#stablehlo.conv", "#stablehlo.channel_handle", "#stablehlo.bounds"),
    *("#stablehlo.output_operand_alias", "#stablehlo.dot_algorithm", "#stablehlo<precision"),
    *("#stablehlo<comparison_direction", "#sdy.sharding", "#sdy.sharding_per_value", "#sdy.mesh"),
)
_KEYWORDS = {"return": "func.return", "call": "func.call", "module": "builtin.module"}
"""What may be written without a dialect."""

_TYPE = re.compile(r"(?:tensor|memref|vector|tuple|complex)<(?:[^<>\n]|<[^<>\n]*>)*>")
_USED_MARK = re.compile(r"[!#][a-z_][\w.]*\w")
_OPERATION = re.compile(r"\"?\b([a-z_]\w*(?:\.[\w$-]+)+)")
_TYPE_PLACE = re.compile(r"(?:->|:)\s*\(?(?:[^%={}@:]*[,(<]\s*)?\Z")
_TYPE_PART = re.compile(r"((?:tensor|memref|vector|complex)<(?:(?:\d+|\?)x)*)[\w?]*\Z")
_OP_PLACE = re.compile(r"(?:\A|=|\n|\{[ \t]*\n|\}|\bapplies)[ \t]*\"?\Z")
_BARE_NAME = re.compile(r"[A-Za-z_][\w$.-]*")
"""What needs no quotes; names that do are not offered, as editors complete words."""
_SHORTEST = 2
"""Letters from which on an op is found without its dialect."""


def candidates(
    cell: CellText, offset: int, session: Mapping[str, object]
) -> tuple[str, list[Candidate]]:
    """What a place may hold, the likely first; and what has been typed of it.

    Args:
        cell: A `%%hlo` cell.
        offset: A place behind its first line.
        session: The session's functions by name.
    """
    word = cell.word_before(offset)
    if cell.is_silent(offset):
        return word, []
    found = scan(cell.code)
    if word.startswith("%"):
        return word, _starting(word, _values(found, offset))
    if word.startswith("@"):
        return word, _starting(word, _symbols(cell, session))
    if word.startswith("^"):
        blocks = [block for block in found.blocks if offset <= block.until]
        return word, _starting(word, (Candidate(block.name, "namespace") for block in blocks))
    if word.startswith(("!", "#")):
        here = offset - len(word)
        used = [m[0] for m in _USED_MARK.finditer(cell.code) if m.start() != here]
        return word, _starting(word, (Candidate(mark, "class") for mark in [*used, *_MARKED]))
    return _bare(cell, offset, word, found)


def _bare(cell: CellText, offset: int, word: str, found: Scan) -> tuple[str, list[Candidate]]:
    """A word without a sigil: a type, an op, an attribute, or a keyword."""
    start = max((at for at in found.statements if at <= offset), default=cell.body)
    before = cell.code[start : offset - len(word)]
    if part := _TYPE_PART.search(cell.code, start, offset):
        return part[0], _starting(part[0], _completed(cell, offset, part[1]))
    if _TYPE_PLACE.search(before):
        return word, _starting(word, _types(cell, offset - len(word)))
    named = _OPERATION.search(before)
    doc = op_docs().get(named[1]) if named else None
    parts = _starting(word, _parts(doc)) if doc is not None else []
    if parts and not _OP_PLACE.search(before):
        return word, parts
    return word, [*parts, *_starting(word, _ops())]


def _starting(word: str, offered: Iterable[Candidate]) -> list[Candidate]:
    """Those that begin with what has been typed, each once; then ops without their dialect."""
    unique = list({candidate.text: candidate for candidate in reversed(list(offered))}.values())
    unique.reverse()
    exact = [candidate for candidate in unique if candidate.text.startswith(word)]
    return [*exact, *(candidate for candidate in unique if _fits_loosely(word, candidate))]


def _fits_loosely(word: str, candidate: Candidate) -> bool:
    if candidate.kind != "function" or len(word) < _SHORTEST or candidate.text.startswith(word):
        return False
    return candidate.text.partition(".")[2].startswith(word)


def _values(found: Scan, offset: int) -> Iterator[Candidate]:
    """Those defined last first; each of several results by its number."""
    visible = found.visible(offset)
    for value in sorted(visible.values(), key=lambda value: -value.start):
        count = value.results[1] if value.results else 1
        if count == 1:
            yield Candidate(value.name, "instance")
        else:
            yield from (Candidate(f"{value.name}#{at}", "instance") for at in range(count))


def _symbols(cell: CellText, session: Mapping[str, object]) -> Iterator[Candidate]:
    for symbol in symbols(cell.text, cell.code):
        kind = "function" if symbol.kind == "func.func" else "module"
        if _BARE_NAME.fullmatch(symbol.name):
            yield Candidate(f"@{symbol.name}", kind)
    yield from (Candidate(f"@{name}", "function") for name in session if _BARE_NAME.fullmatch(name))


def _completed(cell: CellText, offset: int, sizes: str) -> Iterator[Candidate]:
    """Whole types of which a part has been typed; an editor may have closed the bracket."""
    is_closed = cell.text[offset : offset + 1] == ">"
    begun = offset - len(sizes)
    whole = [one.text for one in _types(cell, begun) if one.text.endswith(">")]
    for text in [*whole, *(f"{sizes}{element}>" for element in _ELEMENTS)]:
        yield Candidate(text[:-1] if is_closed else text, "class")


def _types(cell: CellText, offset: int) -> Iterator[Candidate]:
    """Those that the cell has, the most frequent first, then what others are made of."""
    own = Counter(found[0] for found in _TYPE.finditer(cell.code) if found.start() != offset)
    for name, _ in own.most_common():
        yield Candidate(name, "class")
    for name in (*_CONTAINERS, *_ELEMENTS):
        yield Candidate(name, "class")


def _parts(doc: OpDoc) -> Iterator[Candidate]:
    for name in doc.words:
        yield Candidate(name, "keyword")
    for name in doc.attributes:
        yield Candidate(name, "property")


def _ops() -> Iterator[Candidate]:
    """StableHLO first: it is what most cells are made of."""
    for name in _KEYWORDS:
        yield Candidate(name, "keyword")
    names = sorted(op_docs(), key=lambda name: (_RANK.get(name.partition(".")[0], 9), name))
    for name in names:
        yield Candidate(name, "function")


_RANK = {"func": 0, "stablehlo": 1, "chlo": 2, "sdy": 3}
