"""The view that stays in a notebook: what can be shown of a module without a kernel."""

import json
from typing import Any

from kernel_magics.widgets.answers import MERGED, Answers
from kernel_magics.widgets.protocol import ModuleView, SavedTexts

SAVED_VIEW_TYPE = "application/vnd.kernel-magics.view+json"
MOST_BYTES = 200_000


def saved_view(view: ModuleView, answers: Answers, note: str = "") -> ModuleView:
    """Returns the view with the rename map and the merged text, as far as there is room.

    Args:
        view: What is drawn.
        answers: What is known about its module.
        note: What else the status line says.

    Returns:
        A view of less than 200 kB as JSON. One that is larger by itself loses its edges, for the
        nodes tell more without them than the other way round, and then its last nodes.
    """
    kept: ModuleView = {**view}
    if _size(kept) > MOST_BYTES:
        kept["edges"] = []
        kept["folded"] = " · ".join(filter(None, [view["folded"], "edges not saved"]))
    while _size(kept) > MOST_BYTES:
        kept["nodes"] = kept["nodes"][: len(kept["nodes"]) // 2]
    saved: SavedTexts = {"note": note}
    left = MOST_BYTES - _size(kept)
    rows = answers.symbols()["rows"]
    if (size := _size(rows)) < left:
        saved["symbols"] = rows
        left -= size
    text = answers.text(MERGED)
    if text["line_count"] * 12 < left:
        lines = answers.all_lines(MERGED)
        if _size([text, lines]) < left:
            saved["merged"] = text
            saved["lines"] = lines
    return {**kept, "saved": saved}


def _size(value: Any) -> int:
    # Two keys, quotes and separators more or less: the limit is ours and has room.
    return len(json.dumps(value)) + 100
