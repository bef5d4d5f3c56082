"""What is said when HLO cannot be read: XLA's words, at their place in the user's text."""

import re

from jax.extend.mlir import ir

from kernel_magics.errors import Diagnostic, FormatError, ParseError, SourceError
from kernel_magics.ir.hlo_convert import HloConversion
from kernel_magics.ir.source import Source

_SYNTAX_ERROR = re.compile(r"^was parsing (\d+):(\d+): error: (.*)$", re.MULTILINE)
_STATUS = re.compile(r"\A[A-Z_]+: ")
_INSTRUCTION = re.compile(r'error: "([^"]+)": (.*)')

# Strings and comments are matched first, so that dots inside of them are passed over.
_ELIDED = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|[{(,]\s*(\.\.\.)', re.DOTALL)

_CORRECT_IT = "Correct it and run it again; nothing was changed."


def refuse_elided(source: Source) -> None:
    """Raises for text without all values.

    XLA prints large constants as `{...}`, and reads that as values of its own making.

    Raises:
        FormatError: Points at the first constant.
    """
    if isinstance(source.content, bytes) or "..." not in source.content:
        return
    places = [m.start(1) for m in _ELIDED.finditer(source.content) if m[1]]
    if not places:
        return
    count = f" of {len(places):,} constants" if len(places) > 1 else " of a constant"
    raise FormatError(
        f"The HLO of the {source.name} leaves out the values{count}: `{{...}}`",
        where=[_excerpt(source, places[0])],
        advice="Print it with all constants, as `--xla_dump_large_constants` does, or give the "
        "serialized module.",
    )


def refusal(source: Source, converted: HloConversion) -> SourceError:
    """The error for what XLA could not read or convert, or on which it ended its process."""
    syntax = _SYNTAX_ERROR.findall(converted.problem)
    if syntax and isinstance(source.content, str):
        return _syntax_error(source, [(int(line), int(col), m) for line, col, m in syntax])
    words = [_STATUS.sub("", line) for line in converted.problem.split("\n") if line.strip()][:8]
    if isinstance(source.content, bytes):
        what = f"The {len(source.content):,} bytes look like a serialized HLO module"
        kind, advice = FormatError, "The file may be cut short or damaged: write or copy it again."
    else:
        what, kind, advice = f"The {source.name} is HLO text", ParseError, _CORRECT_IT
    if converted.end:
        what += f", on which XLA's reader ends its process ({converted.end})"
    else:
        what += ", but XLA cannot read it" if kind is ParseError else ", but XLA cannot read them"
    return kind(what, details=words, advice=advice)


def _syntax_error(source: Source, found: list[tuple[int, int, str]]) -> ParseError:
    """XLA tells first what it tried, and last what stopped it: the middle says it best."""
    line, column, message = next((f for f in found if "does not exist" in f[2]), found[0])
    diagnostics = tuple(
        Diagnostic(m, at + source.first_line - 1, c, source.excerpt(at, c)) for at, c, m in found
    )
    others = dict.fromkeys(m for *_, m in found if m != message)
    error = ParseError(
        f"XLA refused the {source.name}: {message}",
        where=[source.excerpt(line, column)],
        details=list(others),
        advice=_CORRECT_IT,
    )
    error.diagnostics = diagnostics
    return error


def ill_typed(source: Source, error: ir.MLIRError) -> SourceError:
    """What reads as HLO, and is not right: XLA's text parser does not check types."""
    found = [m.groups() for m in _INSTRUCTION.finditer(str(error))]
    message = found[0][1] if found else str(error).strip().split("\n")[-1]
    where = [place for name, _ in found if (place := _instruction(source, name))]
    kind = ParseError if isinstance(source.content, str) else FormatError
    what = f"The HLO of the {source.name} does not verify: {message}"
    return kind(what, where=where[:8], advice=_CORRECT_IT)


def unsayable(source: Source, problem: str) -> FormatError:
    """The error for HLO whose values StableHLO would not give; the problem names it."""
    names = re.findall(r"`([\w.-]+)`", problem)
    where = [place for n in names if (place := _instruction(source, n))]
    return FormatError(
        f"StableHLO cannot say what the HLO of the {source.name} says: {problem}",
        where=where[:1],
        advice="Give the HLO from before optimisation, or the program it was made from.",
    )


def _instruction(source: Source, name: str) -> str:
    """The excerpt of the line that defines an instruction; empty where there is none."""
    if isinstance(source.content, bytes):
        return ""
    pattern = re.compile(rf"^[ \t]*(?:ROOT[ \t]+)?(%?{re.escape(name)})[ \t]*=", re.MULTILINE)
    found = pattern.search(source.content)
    if not found:
        return ""
    return _excerpt(source, found.start(1))


def _excerpt(source: Source, start: int) -> str:
    """The excerpt of the place at an offset into the text."""
    assert isinstance(source.content, str)
    line = source.content.count("\n", 0, start) + 1
    before = source.content[source.content.rfind("\n", 0, start) + 1 : start]
    return source.excerpt(line, len(before.encode()) + 1)
