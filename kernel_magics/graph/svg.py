"""Draws a function graph as a static picture: no script, no style sheet, a ground of its own."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kernel_magics.characters import visible
from kernel_magics.graph.fold import DEFAULT_LIMIT, Folded, fold
from kernel_magics.graph.layout import Engine, Layout, lay_out
from kernel_magics.graph.measure import cut_middle, sans_width
from kernel_magics.graph.model import CallGraph
from kernel_magics.graph.svg_card import CARD_STYLE, Card, CardMaker, draw_card
from kernel_magics.graph.svg_edges import draw_edges
from kernel_magics.graph.svg_frame import Phrase, document, status_lines, wrapped
from kernel_magics.graph.svg_marks import (
    ERROR,
    FOREGROUND,
    MEDIUM,
    SANS,
    SECOND,
    chip,
    chip_width,
    number,
    text,
    unit_colour,
)
from kernel_magics.graph.words import count_phrases, joined_names, new_name, plural, shown_name

_PADDING = 16.0
_LEAST_WIDTH = 400.0
_LEGEND_LINE = 24.0
_TITLE_CELLS = 40
_UNIT_CELLS = 24
_MOST_UNITS = 24
_STACK_ROOM = 8.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A graph that was folded and laid out by somebody else: Graphviz need not run again."""

    folded: Folded
    layout: Layout


def to_svg(
    graph: CallGraph,
    *,
    note: str = "",
    limit: int = DEFAULT_LIMIT,
    engine: Engine | None = None,
    placed: Placed | None = None,
) -> str:
    """Returns `graph` as an SVG document.

    Only presentation attributes are used, so the picture survives where style sheets and scripts
    are taken out, and it shows on dark pages, for it brings its own white ground.

    Args:
        graph: The graph, of any size.
        note: What else the status lines shall say, such as what a compile took.
        limit: How many nodes are drawn at most; the rest is folded into groups, which say so.
        engine: The layout engine; without it the best of this machine.
        placed: What was laid out of `graph` before; then `limit` and `engine` count for nothing.
    """
    if not graph.nodes:
        return _empty(graph, note)
    folded = placed.folded if placed else fold(graph, limit)
    calls: Counter[str] = Counter()
    for edge in graph.edges:
        calls[edge.callee] += edge.count
    groups = {group.node_id: group for group in folded.groups}
    maker = CardMaker(graph.unit_letters, groups, calls.__getitem__)
    cards = {node.id: maker.card(node) for node in reversed(folded.graph.nodes)}
    layout = placed.layout if placed else _lay_out(folded, cards, engine)
    drawn = (draw_card(cards[placed.node.id], placed.box) for placed in layout.nodes)
    nodes = f"<g {CARD_STYLE}>{''.join(drawn)}</g>"
    edges, counts_left_out = draw_edges(layout)
    left_out = _left_out(folded)
    if counts_left_out:
        left_out.append(f"no room for {plural(counts_left_out, 'count')}")
    return _frame(graph, folded, layout, edges + nodes, _Status(left_out, note))


def _lay_out(folded: Folded, cards: Mapping[str, Card], engine: Engine | None) -> Layout:
    return lay_out(folded.graph, {name: c.wanted_width for name, c in cards.items()}, engine)


@dataclass(frozen=True, slots=True)
class _Status:
    """What the lines below the picture say beside the counts."""

    left_out: list[str]
    note: str


def _frame(graph: CallGraph, folded: Folded, layout: Layout, picture: str, says: _Status) -> str:
    heading_width = sans_width(_title(graph), 12, bold=True) + 2 * _PADDING
    content = max(layout.width + (_STACK_ROOM if folded.groups else 0), heading_width)
    width = max(_LEAST_WIDTH, content + 2 * _PADDING)
    heading, top = _heading(graph, width)
    below = top + layout.height + (_STACK_ROOM if folded.groups else 0) + 24
    status, height = _status(graph, folded.graph, says, width, below)
    parts = [
        heading,
        f'<g transform="translate({number(_PADDING)} {number(top)})">{picture}</g>',
        status,
    ]
    described = _description(graph, says.left_out)
    return document(_named(graph), described, width, height, "\n".join(parts))


def _empty(graph: CallGraph, note: str) -> str:
    words = " ".join(
        [f"{_title(graph)}: this module holds no function.", *note.split("\n")]
    ).strip()
    style = f'{SANS} font-size="12" fill="{SECOND}"'
    width = max(_LEAST_WIDTH, sans_width(words, 12) + 2 * _PADDING)
    return document(_named(graph), words, width, 48, text(_PADDING, 28, words, style))


def _heading(graph: CallGraph, width: float) -> tuple[str, float]:
    """The title, and beside or below it the letter of every unit; returns where it ends."""
    title = _title(graph)
    letters = list(graph.unit_letters.items())
    x, y = _PADDING, 24.0
    parts: list[str] = []
    if len(letters) == 1:
        parts.append(chip(x, y - 12, letters[0][1], unit_colour(0)))
        x += chip_width(letters[0][1]) + 6
    parts.append(text(x, y, title, f'font-size="12" {MEDIUM}'))
    x += sans_width(title, 12, bold=True) + 24
    for index, (unit, letter) in enumerate(letters[:_MOST_UNITS] if len(letters) > 1 else []):
        name = cut_middle(visible(unit), _UNIT_CELLS)
        wide = chip_width(letter) + 6 + sans_width(name, 12)
        if x + wide > width - _PADDING:
            x, y = _PADDING, y + _LEGEND_LINE
        parts.append(chip(x, y - 12, letter, unit_colour(index)))
        name_x = x + chip_width(letter) + 6
        parts.append(text(name_x, y, name, 'font-size="12"'))
        x += wide + 20
    if len(letters) > _MOST_UNITS:
        words = f"and {plural(len(letters) - _MOST_UNITS, 'more unit')}"
        if x + sans_width(words, 12) > width - _PADDING:
            x, y = _PADDING, y + _LEGEND_LINE
        parts.append(text(x, y, words, f'font-size="12" fill="{SECOND}"'))
    return f"<g {CARD_STYLE}>{''.join(parts)}</g>", y + 24


def _status(
    graph: CallGraph, drawn_graph: CallGraph, says: _Status, width: float, y: float
) -> tuple[str, float]:
    """The counts and what is folded, then what the signs mean; returns where the picture ends."""
    counts = graph.counts
    phrases: list[Phrase] = [
        (words, FOREGROUND) for words in count_phrases(counts, len(graph.unit_letters))
    ]
    if counts["missing"]:
        names = [shown_name(node) for node in graph.nodes if node.status == "missing"]
        listed = joined_names([cut_middle(name, _UNIT_CELLS) for name in names], 3)
        phrases.append((f"{counts['missing']:,} missing: {listed}", ERROR))
    phrases += [(words, FOREGROUND) for words in says.left_out]
    lines = wrapped(phrases, width - 2 * _PADDING, " · ")
    for sentence in filter(None, says.note.split("\n")):
        parts = [(visible(words), FOREGROUND) for words in sentence.split(" · ")]
        lines += wrapped(parts, width - 2 * _PADDING, " · ")
    signs: list[Phrase] = [(words, SECOND) for words in _signs(drawn_graph)]
    lines += wrapped(signs, width - 2 * _PADDING, "  ")
    return status_lines(lines, _PADDING, y)


def _left_out(folded: Folded) -> list[str]:
    phrases: list[str] = []
    if folded.groups:
        functions = plural(folded.folded_functions, "function")
        others = sum(group.custom_calls for group in folded.groups)
        also = f" and {plural(others, 'custom call')}" if others else ""
        phrases.append(f"{functions}{also} folded into {plural(len(folded.groups), 'group')}")
    if folded.hidden_calls:
        phrases.append(f"{plural(folded.hidden_calls, 'call')} not drawn")
    return phrases


def _signs(graph: CallGraph) -> list[str]:
    kinds = {edge.kind for edge in graph.edges}
    meanings = [
        (any(node.is_entry for node in graph.nodes), "Triangle: entry."),
        ("custom_call" in kinds, "Dotted: custom call."),
        ("composite" in kinds, "Diamond: composite to its decomposition."),
        ("bound" in kinds, "Dashed: declaration to definition."),
        ("reference" in kinds, "Dash-dotted: named in an attribute."),
        (any(node.kind == "declaration" for node in graph.nodes), "Dashed frame: no body."),
    ]
    return [words for is_there, words in meanings if is_there]


def _description(graph: CallGraph, left_out: list[str]) -> str:
    units = [visible(unit) for unit in graph.unit_letters]
    sentences = [", ".join(count_phrases(graph.counts, len(units)))]
    if units:
        sentences[0] += f" ({joined_names(units)})"
    renamed = [f"{shown_name(node)} to {new_name(node)}" for node in graph.nodes if new_name(node)]
    if renamed:
        sentences.append("Renamed: " + joined_names(renamed))
    for status in ("reused", "missing"):
        names = [shown_name(node) for node in graph.nodes if node.status == status]
        if names:
            sentences.append(f"{status.capitalize()}: {joined_names(names)}")
    sentences += left_out
    return "".join(f"{sentence}. " for sentence in sentences).rstrip()


def _title(graph: CallGraph) -> str:
    return cut_middle(visible(graph.title), _TITLE_CELLS)


def _named(graph: CallGraph) -> str:
    return f"Function graph of {_title(graph)}"
