"""Draws one node of the static picture: a function, a custom call or a folded group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from kernel_magics.characters import visible
from kernel_magics.graph.fold import FoldedGroup
from kernel_magics.graph.geometry import MAX_WIDTH, NODE_HEIGHT, Box
from kernel_magics.graph.measure import (
    cut_middle,
    is_plain_script,
    mono_width,
    sans_width,
)
from kernel_magics.graph.model import FunctionNode
from kernel_magics.graph.svg_marks import (
    ERROR,
    FOREGROUND,
    ICONS,
    LINE,
    MEDIUM,
    MONO,
    SANS,
    SECOND,
    SURFACE,
    chip,
    chip_width,
    number,
    text,
    unit_colour,
)
from kernel_magics.graph.words import new_name, plural, shown_name, status_words

NAME_SIZE = 13
RENAME_SIZE = 12
FACT_SIZE = 11
CARD_STYLE = f'{SANS} font-size="{FACT_SIZE}" fill="{FOREGROUND}"'
_TEXT_X = 34.0
_BARE_X = 14.0
_ENTRY_ROOM = 12.0
_RIGHT_PADDING = 12.0
_RENAME_GAP = 8.0
_CORNER = 7
_MOST_STRIPES = 4
_STACK_OF_MANY = 100


@dataclass(frozen=True, slots=True)
class Card:
    """What a node shows, before it has a place."""

    node: FunctionNode
    name: str
    rename: str
    """` → @merged` without the name's own text, or nothing."""
    facts: str
    letter: str
    colours: tuple[str, ...]
    """One stripe each; none for a custom call."""
    group: FoldedGroup | None = None

    @property
    def name_x(self) -> float:
        """Where the name begins."""
        has_chip = self.letter or self.node.kind == "custom_call"
        start = _TEXT_X + chip_width(self.letter or "A") - 16 if has_chip else _BARE_X
        return start + (_ENTRY_ROOM if self.node.is_entry else 0)

    @property
    def wanted_width(self) -> float:
        """How wide the node must be for all its text."""
        first = self.name_x + mono_width(self.name, NAME_SIZE)
        if self.rename:
            first += _RENAME_GAP + mono_width(self.rename, RENAME_SIZE)
        return max(first, _TEXT_X + sans_width(self.facts, FACT_SIZE)) + _RIGHT_PADDING


@dataclass(frozen=True, slots=True)
class CardMaker:
    """Makes the cards of one graph."""

    letters: dict[str, str]
    groups: dict[str, FoldedGroup] = field(default_factory=dict[str, FoldedGroup])
    calls_of: Callable[[str], int] = lambda _: 0
    """Node id to the number of calls of it."""

    def card(self, node: FunctionNode) -> Card:
        """Returns what `node` shows."""
        order = list(self.letters)
        known = [unit for unit in node.units if unit in self.letters]
        colours = tuple(unit_colour(order.index(unit)) for unit in known[:_MOST_STRIPES])
        group = self.groups.get(node.id)
        letter = self.letters[known[0]] if known else ""
        if node.kind == "group" and len(known) != 1:
            letter = "…"
        rename = new_name(node)
        return Card(
            node=node,
            name=shown_name(node),
            rename=f"→ {rename}" if rename else "",
            facts=self._fitting_facts(node, [self.letters[unit] for unit in known[1:]]),
            letter="" if node.kind == "custom_call" else letter,
            colours=() if node.kind == "custom_call" else colours or (LINE,),
            group=group,
        )

    def _fitting_facts(self, node: FunctionNode, also_in: Sequence[str]) -> str:
        facts = self._group_facts(node) if node.kind == "group" else self._facts(node)
        if also_in and node.kind != "group":
            facts.append(f"also in {', '.join(also_in)}")
        room = MAX_WIDTH - _TEXT_X - _RIGHT_PADDING
        while len(facts) > 1 and sans_width(" · ".join(facts), FACT_SIZE) > room:
            facts.pop()
        return " · ".join(facts)

    def _facts(self, node: FunctionNode) -> list[str]:
        facts = [status_words(node)]
        if node.kind == "custom_call":
            calls = self.calls_of(node.id)
            if node.status == "missing":
                facts.append("custom call")
            return [*facts, plural(calls, "call")] if calls else facts
        if node.kind == "declaration":
            return facts if node.status == "kept" else [*facts, "declared only"]
        return [*facts, plural(node.op_count, "op")]

    def _group_facts(self, node: FunctionNode) -> list[str]:
        group = self.groups.get(node.id)
        facts = [plural(node.op_count, "op")]
        if group is None:
            return facts
        if group.functions and group.custom_calls:
            facts.append(plural(group.custom_calls, "custom call"))
        if group.missing:
            facts.append(f"{group.missing:,} missing")
        if group.caller is not None:
            facts.append("called by @" + cut_middle(visible(group.caller), 18))
        return facts


def draw_card(card: Card, box: Box) -> str:
    """Returns the SVG of one node at its place; text that is too long is cut in the middle.

    The facts take font, size and colour from the group they are put into: see `CARD_STYLE`.
    """
    is_missing = card.node.status == "missing"
    quiet = card.facts.startswith(("kept", "declared only", "custom call")) or card.group
    ink = ERROR if is_missing else SECOND if quiet else FOREGROUND
    name, rename = _cut_names(card, box.width)
    parts = [
        f'<g transform="translate({number(box.x)} {number(box.y)})">',
        _full_name(card, name, rename),
        _body(card, box.width),
        _entry_mark(card),
        _names(card.name_x, name, rename),
        _icon(card, ink),
        text(_TEXT_X, 37, card.facts, "" if ink == FOREGROUND else f'fill="{ink}"'),
    ]
    return "".join([*parts, "</g>"])


def _cut_names(card: Card, width: float) -> tuple[str, str]:
    room = width - card.name_x - _RIGHT_PADDING
    per_cell, per_small_cell = mono_width("x", NAME_SIZE), mono_width("x", RENAME_SIZE)
    if not card.rename:
        return cut_middle(card.name, int(room / per_cell)), ""
    room -= _RENAME_GAP
    own = mono_width(card.name, NAME_SIZE)
    other = mono_width(card.rename, RENAME_SIZE)
    # A short name leaves its share of the row to the longer one.
    share = max(room / 2, room - other)
    name = card.name if own <= share else cut_middle(card.name, int(share / per_cell))
    rest = room - mono_width(name, NAME_SIZE)
    arrow, merged = card.rename[:2], card.rename[2:]
    return name, arrow + cut_middle(merged, int(rest / per_small_cell) - len(arrow))


def _full_name(card: Card, name: str, rename: str) -> str:
    if (name, rename) == (card.name, card.rename):
        return ""
    return f"<title>{escape(f'{card.name} {card.rename}'.strip())}</title>"


def _names(x: float, name: str, rename: str) -> str:
    style = f'font-size="{NAME_SIZE}" {MEDIUM}' + _set_width(name, NAME_SIZE)
    if not rename:
        return text(x, 18.5, name, f"{MONO} {style}")
    rename_x = x + mono_width(name, NAME_SIZE) + _RENAME_GAP
    second = f'font-size="{RENAME_SIZE}" fill="{SECOND}"' + _set_width(rename, RENAME_SIZE)
    return f"<g {MONO}>{text(x, 18.5, name, style)}{text(rename_x, 18.5, rename, second)}</g>"


def _set_width(words: str, size: int) -> str:
    """Letters of other scripts come from unknown fonts: their width is set, not guessed."""
    if is_plain_script(words):
        return ""
    return f' textLength="{number(mono_width(words, size))}" lengthAdjust="spacingAndGlyphs"'


def _body(card: Card, width: float) -> str:
    right, height = number(width), number(NODE_HEIGHT)
    if card.node.kind == "custom_call":
        return _cut_corners(card, width)
    dashes = ' stroke-dasharray="4 3"' if card.node.kind == "declaration" else ""
    frame = f'rx="4" fill="{SURFACE}" stroke="{LINE}"{dashes}'
    behind = ""
    if card.group is not None:
        members = card.group.functions + card.group.custom_calls
        for offset in (8, 4) if members >= _STACK_OF_MANY else (4,):
            behind += f'<rect x="{offset}" y="{offset}" width="{right}" height="{height}" {frame}/>'
    box = f'<rect width="{right}" height="{height}" {frame}/>'
    letter = chip(12, 6, card.letter, card.colours[0] if card.letter != "…" else LINE)
    return behind + box + _stripes(card.colours) + (letter if card.letter else "")


def _cut_corners(card: Card, width: float) -> str:
    stroke, weight = (ERROR, "1.5") if card.node.status == "missing" else (LINE, "1")
    right, bottom, cut = width, NODE_HEIGHT, _CORNER
    outline = (
        f"M{cut} 0H{number(right - cut)}L{number(right)} {cut}V{number(bottom - cut)}"
        f"L{number(right - cut)} {number(bottom)}H{cut}L0 {number(bottom - cut)}V{cut}Z"
    )
    hexagon = "M16 7.5H24L28 14L24 20.5H16L12 14Z"
    return (
        f'<path d="{outline}" fill="{SURFACE}" stroke="{stroke}" stroke-width="{weight}"/>'
        f'<path d="{hexagon}" fill="none" stroke="{stroke}" stroke-width="1.5"/>'
    )


def _stripes(colours: Sequence[str]) -> str:
    """The 5 px at the left, shared evenly; the first and the last part follow the round corners."""
    part = (NODE_HEIGHT - 1) / len(colours)
    drawn = ""
    for index, colour in enumerate(colours):
        top, bottom = 0.5 + index * part, 0.5 + (index + 1) * part
        start = f"M4 {number(top)}A3.5 3.5 0 0 0 .5 {number(top + 3.5)}"
        end = f"V{number(bottom - 3.5)}A3.5 3.5 0 0 0 4 {number(bottom)}"
        path = start if index == 0 else f"M.5 {number(top)}"
        path += end if index == len(colours) - 1 else f"V{number(bottom)}"
        drawn += f'<path d="{path}H5V{number(top)}Z" fill="{colour}"/>'
    return drawn


def _entry_mark(card: Card) -> str:
    if not card.node.is_entry:
        return ""
    x = number(card.name_x - _ENTRY_ROOM + 1)
    return f'<path d="M{x} 9.5L{number(card.name_x - 4)} 14L{x} 18.5Z" fill="{FOREGROUND}"/>'


def _icon(card: Card, ink: str) -> str:
    if card.node.kind == "group" or card.facts.startswith("custom call"):
        return ""
    style = f'fill="none" stroke="{ink}" stroke-width="1.5"'
    if card.facts.startswith("declared only"):
        dashes = 'stroke-dasharray="2 1.5"'
        return f'<rect x="15.5" y="28.5" width="9" height="8" {dashes} {style}/>'
    return f'<path transform="translate(14 27)" d="{ICONS[card.node.status]}" {style}/>'
