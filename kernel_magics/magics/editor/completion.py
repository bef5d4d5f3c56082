"""Completions for IPython: in `%%hlo` cells, and on the lines of the magics."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from kernel_magics.magics.arguments import (
    MagicParser,
    cell_parser,
    custom_call_parser,
    line_parser,
)
from kernel_magics.magics.editor.candidates import Candidate, candidates
from kernel_magics.magics.editor.cell_text import CUSTOM_CALL, MAGIC, CellText
from kernel_magics.magics.editor.scan import symbols
from kernel_magics.sessions import Session

_LINE_MAGIC = re.compile(r"\s*%hlo\s")
_UNIT_COMMANDS = {"drop", "doctor"}
_FILE_COMMANDS = {"load", "save", "restore"}
"""IPython itself completes the names of files."""


def make_matcher(session: Session) -> Any:
    """A matcher of IPython that knows what a session holds."""

    def kernel_magics_matcher(context: CompletionContext) -> SimpleMatcherResult:
        lines = context.full_text.split("\n")
        column = context.cursor_position
        offset = sum(len(line) + 1 for line in lines[: context.cursor_line]) + column
        found = complete(context.full_text, offset, session)
        if found is None:
            return {"completions": []}
        word, offered = found
        return {
            "completions": [SimpleCompletion(text=one.text, type=one.kind) for one in offered],
            "matched_fragment": word,
            "suppress": True,
            "ordered": True,
        }

    mark: Any = context_matcher()
    return mark(kernel_magics_matcher)


def complete(text: str, offset: int, session: Session) -> tuple[str, list[Candidate]] | None:
    """What has been typed of a word and what it may become; None where that is not ours to say.

    Args:
        text: A cell, of any language.
        offset: The cursor, in characters.
        session: What `@` may name beside the cell's own symbols.
    """
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:offset]
    if MAGIC.match(text):
        cell = CellText(text)
        if offset >= cell.body:
            return candidates(cell, offset, session.functions)
        functions = [s.name for s in symbols(text, cell.code) if s.kind == "func.func"]
        return _words(cell_parser(), line, {"--func": functions, "": list(session.units)})
    if CUSTOM_CALL.match(line):
        return _words(custom_call_parser(), line, {"": _targets(session)})
    if _LINE_MAGIC.match(line):
        return _words(line_parser(), line, {"": list(session.units)})
    return None


def _targets(session: Session) -> list[str]:
    """The custom calls that the session's programs make."""
    ops = [op for unit in session.units.values() for op in unit.index.ops]
    return list(dict.fromkeys(target for op in ops for target in op.custom_calls))


def _words(
    parser: MagicParser, line: str, names: Mapping[str, Sequence[str]]
) -> tuple[str, list[Candidate]] | None:
    """Options, their values, and commands.

    Args:
        parser: Of the magic.
        line: Up to the cursor.
        names: What options take beside choices; what stands by itself under the empty name.
    """
    before = line.split()
    word = "" if line[-1:].isspace() else before.pop() if before else ""
    if not before:
        return None
    last = before[-1]
    if last in names:
        return word, _offer(word, names[last], "function")
    inner = parser.inner(before[1:])
    choices = inner.choices(last)
    if choices is not None:
        return (word, _offer(word, choices, "keyword")) if choices else None
    if set(before) & _FILE_COMMANDS and word[:1] != "-":
        return None
    offered = _offer(word, inner.words(), "keyword")
    if parser.prog.startswith("%%") or set(before) & _UNIT_COMMANDS:
        offered += _offer(word, names[""], "instance") if word[:1] != "-" else []
    return (word, offered) if offered else None


def _offer(word: str, offered: Sequence[str], kind: str) -> list[Candidate]:
    return [Candidate(text, kind) for text in offered if text.startswith(word)]
