"""The text of a cell read with patience: it need not parse, and quotes in comments do no harm."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

MAGIC = re.compile(r"\s*%%hlo\b")
CUSTOM_CALL = re.compile(r"\s*%%custom_call\b")
"""Its body is C++: of such a cell only the first line is ours."""
_SILENT = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    # A string ends with its line at the latest.
    r'|"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*(?:"|\\?(?=\n)|\\?\Z)',
    re.DOTALL,
)
_OP_NAME = re.compile(r'"[a-z_]\w*\.[\w$.-]*"?')
"""An op's quoted name, also while it is being typed."""
_VISIBLE = re.compile(r"[^\n]")
_WORD_BEFORE = re.compile(r"%[\w$.-]+#\d*\Z|(?:%%?|[@^!#])?[\w$.-]*\Z")
_WORD_AFTER = re.compile(r"[\w$.-]*(?:#\d+)?")


@dataclass(frozen=True)
class CellText:
    """A cell's text, and the same with comments and strings blanked out, one for one."""

    text: str

    @cached_property
    def code(self) -> str:
        """The text with blanks for comments and strings; an op's quoted name stays."""
        return _SILENT.sub(_blank, self.text)

    @cached_property
    def body(self) -> int:
        """Where the line after the magic's begins; behind the end where there is none."""
        found = MAGIC.match(self.text)
        end = self.text.find("\n", found.end()) if found else -1
        return (end if end >= 0 else len(self.text)) + 1

    def is_silent(self, offset: int) -> bool:
        """Whether a place is inside a comment or a string."""
        starts, ends = self._silences
        at = bisect_right(starts, offset - 1) - 1
        return at >= 0 and offset - 1 < ends[at] - (self.text[ends[at] - 1] == '"')

    def word_before(self, offset: int) -> str:
        """What has been typed of a word, its sigil included."""
        line = self.text.rfind("\n", 0, offset) + 1
        found = _WORD_BEFORE.search(self.text, line, offset)
        return found[0] if found else ""

    def word_at(self, offset: int) -> tuple[int, int]:
        """Start and end of the word that a place is in or behind."""
        start = offset - len(self.word_before(offset))
        if start == offset and self.text[offset : offset + 1] in {"%", "@", "^", "!", "#"}:
            offset += 1
        found = _WORD_AFTER.match(self.text, offset)
        return start, found.end() if found else offset

    @cached_property
    def _silences(self) -> tuple[list[int], list[int]]:
        spans = [found.span() for found in _SILENT.finditer(self.text) if _is_blanked(found)]
        return [start for start, _ in spans], [end for _, end in spans]


def _is_blanked(found: re.Match[str]) -> bool:
    return found[0][0] == "/" or not _OP_NAME.fullmatch(found[0])


def _blank(found: re.Match[str]) -> str:
    silent = found[0]
    if not _is_blanked(found):
        return silent
    return _VISIBLE.sub(" ", silent) if "\n" in silent else " " * len(silent)
