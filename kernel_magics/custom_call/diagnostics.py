"""What a compiler says, as diagnostics that point into the user's cell."""

import re
from collections.abc import Iterator, Sequence

from kernel_magics.errors import Diagnostic
from kernel_magics.ir.diagnostics import excerpts
from kernel_magics.ir.source import Source

_MESSAGE = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:(?P<column>\d+):)? "
    r"(?P<kind>fatal error|error|warning|note): (?P<text>.*)$"
)
_FROM = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:(?P<column>\d+):)?\s+"
    r"(?:recursively )?(?:required|in 'constexpr' expansion|in instantiation)"
)
_LINKER = re.compile(r"undefined reference to [`'‘](?P<name>[^'’]+)['’]")
_OPTION = re.compile(r" \[(-W[\w=+-]+|-fpermissive)\]$")
_QUOTES = str.maketrans("‘’", "``")


def read_messages(messages: str, source: Source) -> list[Diagnostic]:
    """Errors, warnings and notes of a compiler, in its order; notes that point elsewhere are out.

    What is wrong within a header stands at the line of the cell that led there.

    Args:
        messages: What it wrote, without carets.
        source: The cell; its name stands in `messages` as that of the file.
    """
    # A linker says the same thing for each use.
    return list(dict.fromkeys(_diagnostics(messages.split("\n"), source)))


def errors_of(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Errors and their notes, warnings left out."""
    return [d for d in diagnostics if not d.message.startswith("warning: ")]


def warnings_of(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Warnings that stand in the cell."""
    return [d for d in diagnostics if d.message.startswith("warning: ") and d.line]


def shown(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """What to print of them: excerpts with carets, words alone where there is no place."""
    placeless = [d.message for d in diagnostics if not d.excerpt]
    return [*excerpts(diagnostics), *placeless[:4]]


def _diagnostics(lines: Sequence[str], source: Source) -> Iterator[Diagnostic]:
    led_here: tuple[int, int] | None = None
    in_error = False
    for line in lines:
        if (found := _FROM.match(line)) and found["file"] == source.name:
            led_here = _at(found)
        elif found := _MESSAGE.match(line):
            is_here, is_note = found["file"] == source.name, found["kind"] == "note"
            at = _at(found) if is_here else led_here
            is_noise = is_note and not (is_here and in_error)
            if is_noise or found["text"].startswith("each undeclared identifier"):
                continue
            in_error = not is_note or in_error
            text = _OPTION.sub("", found["text"]).translate(_QUOTES)
            if found["kind"] == "warning":
                if not is_here:
                    continue
                text = f"warning: {text}"
            yield _placed(text, at, source, is_note=is_note)
            led_here = None if not is_note else led_here
        elif found := _LINKER.search(line):
            yield _undefined(found["name"], source)


def _at(found: re.Match[str]) -> tuple[int, int]:
    return int(found["line"]), int(found["column"] or 1)


def _placed(
    text: str, at: tuple[int, int] | None, source: Source, *, is_note: bool = False
) -> Diagnostic:
    if at is None:
        return Diagnostic(text, 0, 0, "", is_note)
    line, column = at
    return Diagnostic(
        text, line, column, source.excerpt(line - source.first_line + 1, column, text), is_note
    )


def _undefined(name: str, source: Source) -> Diagnostic:
    """The linker's complaint, at the last place in the cell that has the name."""
    text = f"`{name}` is used, and nothing defines it"
    bare = re.search(r"[\w~]+(?=\(|$)", name)
    content = source.content
    if bare is None or isinstance(content, bytes):
        return _placed(text, None, source)
    uses = list(re.finditer(rf"\b{re.escape(bare[0])}\b", content))
    if not uses:
        return _placed(text, None, source)
    before = content[: uses[-1].start()]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode()) + 1
    return _placed(text, (line + source.first_line - 1, column), source)
