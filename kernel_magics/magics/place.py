"""Where in a cell the body of its magic begins: lines in messages count in the cell."""

from kernel_magics.ir.source import Source


def body_source(raw_cell: str, body: str) -> Source:
    """The body with the line at which it begins in the cell, blank lines in front included.

    Args:
        raw_cell: The cell before IPython took the magic off; empty where it is not known.
        body: What the magic was given.
    """
    text = body.rstrip()
    before, found, _ = raw_cell.rpartition(text) if text else ("", "", "")
    in_this_cell = bool(found) and before.lstrip().startswith("%%")
    return Source(body, "cell", before.count("\n") + 1 if in_this_cell else 2)
