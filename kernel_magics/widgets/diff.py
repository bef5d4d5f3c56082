"""The texts of a unit, side by side: as written, as printed, as merged, and what it said before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kernel_magics.widgets.answers import MERGED, MOST_LINES, Answers, shortened
from kernel_magics.widgets.diff_runs import diff_runs
from kernel_magics.widgets.protocol_diff import (
    DiffAnswer,
    DiffCommand,
    SavedDiff,
    UnitVersions,
    Version,
    VersionLines,
    VersionLinesCommand,
    VersionsAnswer,
    VersionsCommand,
)
from kernel_magics.widgets.subject import UnitText, printed_program
from kernel_magics.widgets.texts import ranges

_WRITTEN: Version = {"key": "written", "label": "as written"}
_PRINTED: Version = {"key": "printed", "label": "as MLIR prints it"}
_MERGED: Version = {"key": "merged", "label": "in the module"}


@dataclass(frozen=True, slots=True)
class _Lines:
    """A text, and the numbers that its lines have where it stands."""

    lines: Sequence[str]
    numbers: Sequence[int]


class Diffs:
    """Compares the texts of the units of one snapshot; not in the thread that runs the cells."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._texts: dict[tuple[int, str], _Lines] = {}

    def versions(self) -> VersionsAnswer:
        """What can be compared: all texts of all units."""
        units = enumerate(self._answers.snapshot.units)
        return {"units": [self._versions(place, unit) for place, unit in units]}

    def answer(
        self, command: VersionsCommand | DiffCommand | VersionLinesCommand
    ) -> VersionsAnswer | DiffAnswer | VersionLines:
        """What a command asks for.

        Raises:
            LookupError: There is no such unit, or it has no such text.
        """
        match command["kind"]:
            case "versions":
                return self.versions()
            case "diff":
                return self.diff(command["unit"], command["left"], command["right"])
            case _:
                first, count = command["first"], command["count"]
                return self.lines(command["unit"], command["version"], first, count)

    def diff(self, unit: int, left: str, right: str) -> DiffAnswer:
        """Two texts of a unit as runs of lines.

        Raises:
            LookupError: There is no such unit, or it has no such text.
        """
        one, other = self._text(unit, left), self._text(unit, right)
        runs = diff_runs(one.lines, other.lines)
        return {
            "runs": runs,
            "left_count": len(one.lines),
            "right_count": len(other.lines),
            "changes": sum(run["kind"] == "changed" for run in runs),
        }

    def lines(self, unit: int, version: str, first: int, count: int) -> VersionLines:
        """Lines of one text, at most 500 of them.

        Raises:
            LookupError: There is no such unit, or it has no such text.
        """
        first = max(0, first)
        return self._cut(self._text(unit, version), first, min(count, MOST_LINES))

    def saved(self) -> list[SavedDiff]:
        """Each unit as printed against the module, whole."""
        found: list[SavedDiff] = []
        if not self._is_linked:
            return found
        for place in range(len(self._answers.snapshot.units)):
            left, right = (self._text(place, key) for key in ("printed", "merged"))
            found.append(
                {
                    "unit": place,
                    "left": _PRINTED,
                    "right": _MERGED,
                    "diff": self.diff(place, "printed", "merged"),
                    "left_lines": self._cut(left, 0, len(left.lines)),
                    "right_lines": self._cut(right, 0, len(right.lines)),
                }
            )
        return found

    def _cut(self, text: _Lines, first: int, count: int) -> VersionLines:
        lines = text.lines[first : first + count]
        return {
            "first": first,
            "lines": [shortened(line) for line in lines],
            "numbers": list(text.numbers[first : first + count]),
        }

    def _text(self, unit: int, version: str) -> _Lines:
        key = (unit, version)
        if key not in self._texts:
            self._texts[key] = self._read(unit, version)
        return self._texts[key]

    def _read(self, place: int, version: str) -> _Lines:
        units = self._answers.snapshot.units
        if not 0 <= place < len(units):
            raise LookupError("the module has no such unit any more")
        unit = units[place]
        match version:
            case "merged":
                return _functions(self._answers.lines_of(MERGED), self._names(unit, "new_name"))
            case "printed":
                printed = printed_program(unit.source).rstrip("\n").split("\n")
                return _functions(printed, self._names(unit, "old_name"))
            case "written":
                content = unit.text
            case _:
                number = int(version) if version.isdecimal() else 0
                found = 0 < number <= len(unit.earlier)
                content = unit.earlier[number - 1] if found else None
        if content is None:
            raise LookupError("the unit has no such text")
        lines = content.rstrip("\n").split("\n")
        return _Lines(lines, range(1, len(lines) + 1))

    def _names(self, unit: UnitText, attribute: Literal["old_name", "new_name"]) -> list[str]:
        """The functions of a unit, in the order in which its author defined them."""
        if unit.report is None:
            return [node.author_name for node in self._answers.snapshot.graph.nodes]
        return list(dict.fromkeys(getattr(symbol, attribute) for symbol in unit.report.symbols))

    def _versions(self, place: int, unit: UnitText) -> UnitVersions:
        count = len(unit.earlier)
        earlier: list[Version] = [
            {"key": str(number), "label": f"version {number} of {count + 1}"}
            for number in range(1, count + 1)
        ]
        written = [_WRITTEN] if unit.text is not None else []
        merged = [_MERGED] if self._is_linked else []
        return {"unit": place, "versions": [*earlier, *written, _PRINTED, *merged]}

    @property
    def _is_linked(self) -> bool:
        """Whether there is a module that several units are in, and not one program alone."""
        return self._answers.snapshot.text_word == "Merged"


def _functions(lines: Sequence[str], names: Sequence[str]) -> _Lines:
    """The functions with these names alone, in this order."""
    found = {part["node"]: part for part in ranges(lines, {name: name for name in names})}
    parts = [found[name] for name in dict.fromkeys(names) if name in found]
    numbers = [n for part in parts for n in range(part["first"], part["last"] + 1)]
    return _Lines([lines[number - 1] for number in numbers], numbers)
