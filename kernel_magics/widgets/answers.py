"""Answers the questions that a view asks about a module: texts, symbols, names."""

from collections.abc import Callable
from functools import cached_property

from kernel_magics.widgets.protocol import FunctionText, SymbolRow, TextRange, TextView
from kernel_magics.widgets.protocol_commands import (
    FunctionAnswer,
    LinesAnswer,
    SymbolsAnswer,
)
from kernel_magics.widgets.subject import Snapshot
from kernel_magics.widgets.symbols import symbol_rows
from kernel_magics.widgets.texts import ranges, signature

MERGED = -1
MOST_LINES = 500
_MOST_FUNCTION_LINES = 400
_MOST_LINE = 2_000


class Answers:
    """What is known about one snapshot; each text is read when it is first asked for."""

    def __init__(self, snapshot: Snapshot, printed: Callable[[], str]) -> None:
        """Keeps `printed` for later: it is called once, by whoever first needs the text."""
        self.snapshot = snapshot
        self._printed = printed
        self._lines: dict[int, list[str]] = {}
        self._ranges: dict[int, list[TextRange]] = {}

    def symbols(self) -> SymbolsAnswer:
        """The rename map."""
        return {"rows": self._rows}

    def text(self, text: int) -> TextView:
        """How long a text is and which functions it holds.

        Raises:
            LookupError: There is no such text.
        """
        lines = self.lines_of(text)
        return {"text": text, "line_count": len(lines), "ranges": self._ranges_of(text)}

    def lines(self, text: int, first: int, count: int) -> LinesAnswer:
        """Lines of a text, at most 500 of them.

        Raises:
            LookupError: There is no such text.
        """
        first = max(1, first)
        count = min(count, MOST_LINES)
        lines = self.lines_of(text)[first - 1 : first - 1 + count]
        return {"first": first, "lines": [shortened(line) for line in lines]}

    def all_lines(self, text: int) -> list[str]:
        """The whole text, with what is too long for a line cut.

        Raises:
            LookupError: There is no such text.
        """
        return [shortened(line) for line in self.lines_of(text)]

    def function(self, node_id: str) -> FunctionAnswer:
        """One function in the printed module and in the units that define it.

        Raises:
            LookupError: There is no such function.
        """
        graph = self.snapshot.graph
        node = next((node for node in graph.nodes if node.id == node_id), None)
        if node is None:
            raise LookupError("the module has no such function any more")
        places = {unit.name: number for number, unit in enumerate(self.snapshot.units)}
        numbers = [MERGED, *(places[unit] for unit in node.units if unit in places)]
        texts = [text for number in numbers if (text := self._function_text(number, node_id))]
        head = texts[0]["lines"][0] if texts and texts[0]["text"] == MERGED else ""
        return {
            "texts": texts,
            "type": signature(head),
            "callers": list(dict.fromkeys(e.caller for e in graph.edges if e.callee == node_id)),
            "callees": list(dict.fromkeys(e.callee for e in graph.edges if e.caller == node_id)),
        }

    def merged_text(self) -> str:
        """The printed module, whole."""
        return self._merged

    @cached_property
    def _rows(self) -> list[SymbolRow]:
        return symbol_rows(self.snapshot)

    @cached_property
    def _merged(self) -> str:
        return self._printed()

    def _function_text(self, text: int, node_id: str) -> FunctionText | None:
        try:
            lines = self.lines_of(text)
        except LookupError:
            return None
        found = next((r for r in self._ranges_of(text) if r["node"] == node_id), None)
        if found is None:
            return None
        body = lines[found["first"] - 1 : found["last"]]
        return {
            "text": text,
            "first": found["first"],
            "lines": [shortened(line) for line in body[:_MOST_FUNCTION_LINES]],
            "left_out": max(0, len(body) - _MOST_FUNCTION_LINES),
        }

    def lines_of(self, text: int) -> list[str]:
        """The whole text as it is.

        Raises:
            LookupError: There is no such text.
        """
        if text not in self._lines:
            self._lines[text] = self._content(text).split("\n")
        return self._lines[text]

    def _content(self, text: int) -> str:
        if text == MERGED:
            return self._merged.rstrip("\n")
        units = self.snapshot.units
        content = units[text].text if 0 <= text < len(units) else None
        if content is None:
            raise LookupError("this unit came in as bytes: it has no text of its author")
        return content

    def _ranges_of(self, text: int) -> list[TextRange]:
        if text not in self._ranges:
            self._ranges[text] = ranges(self.lines_of(text), self._ids(text))
        return self._ranges[text]

    def _ids(self, text: int) -> dict[str, str]:
        if text == MERGED:
            return dict(self.snapshot.printed_names)
        report = self.snapshot.units[text].report
        if report is None:
            return {node.author_name: node.id for node in self.snapshot.graph.nodes}
        return {symbol.old_name: symbol.new_name for symbol in report.symbols}


def shortened(line: str) -> str:
    """Constants fill lines with megabytes of digits."""
    if len(line) <= _MOST_LINE:
        return line
    left_out = len(line) - _MOST_LINE
    return f"{line[:_MOST_LINE]} … {left_out:,} more characters"
