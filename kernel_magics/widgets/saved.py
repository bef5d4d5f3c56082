"""The view that stays in a notebook: what can be shown of a module without a kernel."""

import json
from typing import Any

from kernel_magics.widgets.answers import MERGED, Answers
from kernel_magics.widgets.diff import Diffs
from kernel_magics.widgets.protocol import ModuleView, SavedText, SavedTexts
from kernel_magics.widgets.protocol_ops import OpsDrawing

SAVED_VIEW_TYPE = "application/vnd.kernel-magics.view+json"
MOST_BYTES = 200_000
_LEAST_LINE = 12
_LEAST_ROW = 100


def saved_view(
    view: ModuleView, answers: Answers, note: str = "", first_tab: str = ""
) -> ModuleView:
    """Returns the view with the rename map and the merged text, as far as there is room.

    Args:
        view: What is drawn.
        answers: What is known about its module.
        note: What else the status line says.
        first_tab: What is shown first; empty for the functions.

    Returns:
        A view of less than 200 kB as JSON. One that is larger by itself loses its edges, for the
        nodes tell more without them than the other way round, and then its last nodes.
    """
    kept: ModuleView = {**view}
    if (size := _size(kept)) > MOST_BYTES:
        kept["edges"] = []
        kept["folded"] = " · ".join(filter(None, [view["folded"], "edges not saved"]))
        size = _size(kept)
    while size > MOST_BYTES:
        kept["nodes"] = kept["nodes"][: len(kept["nodes"]) // 2]
        size = _size(kept)
    saved: SavedTexts = {"note": note, "first_tab": first_tab, "texts": []}
    left = MOST_BYTES - size - len(note)
    if _symbol_count(answers) * _LEAST_ROW < left:
        rows = answers.symbols()["rows"]
        if (size := _size(rows)) < left:
            saved["symbols"] = rows
            left -= size
    # The merged text tells most: the author's own stands in the cell.
    for number in (MERGED, *range(len(answers.snapshot.units))):
        text = _text(answers, number, left)
        if text is not None:
            saved["texts"].append(text)
            left -= _size(text)
    return {**kept, "saved": saved}


def whole_view(
    view: ModuleView, answers: Answers, drawings: list[OpsDrawing], note: str = ""
) -> ModuleView:
    """Returns the view with all that is known of its module, for a page of its own."""
    numbers = (MERGED, *range(len(answers.snapshot.units)))
    texts = [text for number in numbers if (text := _text(answers, number, None))]
    saved: SavedTexts = {
        "note": note,
        "first_tab": "",
        "texts": texts,
        "symbols": answers.symbols()["rows"],
        "diffs": Diffs(answers).saved(),
        "drawings": drawings,
    }
    return {**view, "saved": saved}


def _symbol_count(answers: Answers) -> int:
    reports = [unit.report for unit in answers.snapshot.units]
    return sum(len(report.symbols) for report in reports if report)


def _text(answers: Answers, number: int, room: int | None) -> SavedText | None:
    """A text with its lines; None where it is of bytes, or does not fit into `room`."""
    try:
        count = len(answers.lines_of(number))
    except LookupError:
        return None
    # Before anything is looked for in it: most texts that do not fit are far too long.
    if room is not None and count * _LEAST_LINE > room:
        return None
    facts = answers.text(number)
    text: SavedText = {"facts": facts, "lines": answers.all_lines(number)}
    return text if room is None or _size(text) < room else None


def _size(value: Any) -> int:
    # Some keys, quotes and separators more or less: the limit is ours and has room.
    return len(json.dumps(value)) + 100
