"""Draws the ops of a function as a static picture: no script, no style sheet, its own ground."""

import math
from collections.abc import Sequence

from kernel_magics.characters import visible
from kernel_magics.graph.geometry import Box
from kernel_magics.graph.layout import Engine
from kernel_magics.graph.measure import cut_middle, is_plain_script, mono_width, sans_width
from kernel_magics.graph.op_kinds import SIGNS
from kernel_magics.graph.ops_geometry import (
    BLOCK_HEAD,
    NAME_SIZE,
    NOTE_GAP,
    NOTE_SIZE,
    OP_HEAD,
    PILL_X,
    TEXT_X,
    BlockBox,
    ItemBox,
    LinkPath,
    OpsLayout,
    block_title,
    closed_note,
)
from kernel_magics.graph.ops_layout import lay_out_ops
from kernel_magics.graph.ops_view import OpsView
from kernel_magics.graph.svg_frame import Phrase, document, status_lines, wrapped
from kernel_magics.graph.svg_marks import (
    FOREGROUND,
    HAIRLINE,
    LINE,
    MEDIUM,
    MONO,
    SANS,
    SECOND,
    SURFACE,
    number,
    text,
)
from kernel_magics.graph.words import plural

_BAR = "#f7f7f7"
_PADDING = 16.0
_LEAST_WIDTH = 400.0
_HALF_ARROW = 3.3
_TITLE_CELLS = 60
_STACK_OF_MANY = 100


def ops_svg(view: OpsView, *, note: str = "", engine: Engine | None = None) -> str:
    """Returns a view of a function's ops as an SVG document.

    Args:
        view: What is drawn; it says what it leaves out.
        note: What else the status line shall say.
        engine: The layout engine; without it the best of this machine.
    """
    layout, focus = lay_out_ops(view, engine), view.options.focus
    title = ops_title(view)
    heading = sans_width(title, 12, bold=True) + 2 * _PADDING
    width = max(_LEAST_WIDTH, layout.width + 2 * _PADDING + 8, heading)
    picture = "".join(
        [
            _frames(layout),
            _links(layout.links),
            *map(_open_head, layout.open),
            *(_block_head(placed) for placed in layout.blocks),
            *(_item(placed) for placed in layout.items if not placed.item.regions),
            *(_focus_ring(placed) for placed in layout.items if placed.item.id == focus),
            _types(layout),
        ]
    )
    phrases = [*ops_phrases(view), *filter(None, note.split("\n"))]
    inks: list[Phrase] = [(visible(words), FOREGROUND) for words in phrases]
    top = 48.0
    lines = wrapped(inks, width - 2 * _PADDING, " · ")
    signs: list[Phrase] = [(words, SECOND) for words in _signs(view)]
    lines += wrapped(signs, width - 2 * _PADDING, "  ")
    status, height = status_lines(lines, _PADDING, top + layout.height + 28)
    body = "\n".join(
        [
            text(_PADDING, 24, title, f'{SANS} font-size="12" {MEDIUM} fill="{FOREGROUND}"'),
            f'<g transform="translate({number(_PADDING)} {number(top)})">{picture}</g>',
            status,
        ]
    )
    return document(f"Ops of {title}", _described(phrases), width, height, body)


def ops_title(view: OpsView) -> str:
    """Returns the function's name, and where in it the view begins."""
    graph = view.graph
    name = "@" + visible(graph.author_name)
    if graph.function != graph.author_name:
        name += f" → @{visible(graph.function)}"
    name = cut_middle(name, _TITLE_CELLS)
    if view.options.focus:
        hops = plural(view.options.hops, "hop")
        return f"{name}: {hops} around {_op_named(view, view.options.focus)}"
    return f"{name}: inside {_op_named(view, view.options.root)}" if view.options.root else name


def _op_named(view: OpsView, op_id: str) -> str:
    names = (node.short_name or "argument" for node in view.graph.nodes if node.id == op_id)
    return f"{visible(next(names, ''))} {visible(op_id)}".strip()


def ops_phrases(view: OpsView) -> list[str]:
    """Returns how much there is and what is not drawn, one phrase a fact."""
    drawn = sum(item.kind in ("op", "return") for item in view.items())
    total = plural(view.graph.op_count, "op")
    left_out = view.phrases()
    return [f"{drawn:,} of {total} drawn" if left_out else total, *left_out]


def _described(phrases: Sequence[str]) -> str:
    return ". ".join(phrases) + "."


def _signs(view: OpsView) -> list[str]:
    kinds = {item.does for item in view.items() if item.kind == "op"}
    captured = any(item.kind == "captured" for item in view.items())
    words = [f"{SIGNS[kind]} {kind}." for kind in SIGNS if kind in kinds and kind != "other"]
    words += ["Hexagon: custom call."] if "custom call" in kinds else []
    return words + (["Dashed pill: a value from outside the region."] if captured else [])


def _links(paths: Sequence[LinkPath]) -> str:
    curves = "".join(_curve(path) for path in paths)
    tips = "".join(_arrow(path) for path in paths)
    group = f'<g fill="none" stroke="{LINE}" stroke-width="1.25">{curves}</g>'
    return group + f'<path d="{tips}" fill="{LINE}"/>'


def _curve(path: LinkPath) -> str:
    start, *rest = (f"{number(x)} {number(y)}" for x, y in path.points)
    return f'<path d="M{start}C{" ".join(rest)}"/>'


def _arrow(path: LinkPath) -> str:
    (x, y), (base_x, base_y) = path.tip, path.points[-1]
    length = math.hypot(x - base_x, y - base_y) or 1.0
    across_x = -(y - base_y) / length * _HALF_ARROW
    across_y = (x - base_x) / length * _HALF_ARROW
    return (
        f"M{number(x)} {number(y)}L{number(base_x + across_x)} {number(base_y + across_y)}"
        f"L{number(base_x - across_x)} {number(base_y - across_y)}Z"
    )


def _types(layout: OpsLayout) -> str:
    halo = f'stroke="{SURFACE}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
    words = "".join(text(label.x, label.y, visible(label.text)) for label in layout.types)
    return f'<g {MONO} font-size="{NOTE_SIZE}" fill="{SECOND}" {halo}>{words}</g>'


def _rect(box: Box, style: str) -> str:
    place = f'x="{number(box.x)}" y="{number(box.y)}"'
    return f'<rect {place} width="{number(box.width)}" height="{number(box.height)}" {style}/>'


def _frames(layout: OpsLayout) -> str:
    """Frames of open ops and of their regions; what holds another is larger, and comes first."""
    frames = [(placed.box, f'rx="5" fill="{SURFACE}" stroke="{LINE}"') for placed in layout.open]
    frames += [
        (placed.box, f'rx="4" fill="{SURFACE}" stroke="{HAIRLINE}"') for placed in layout.blocks
    ]
    frames.sort(key=lambda frame: -frame[0].width * frame[0].height)
    return "".join(_rect(box, style) for box, style in frames)


def _open_head(placed: ItemBox) -> str:
    """Opaque, so that edges pass behind it."""
    box, item = placed.box, placed.item
    head = Box(box.x + 0.5, box.y + 0.5, box.width - 1, OP_HEAD - 1)
    return _rect(head, f'rx="4" fill="{_BAR}"') + _op_text(box.x, box.y + 20.5, placed, item.note)


def _block_head(placed: BlockBox) -> str:
    box = placed.box
    style = f'{SANS} font-size="{NOTE_SIZE}"'
    name = placed.block.name
    rest = block_title(placed.block)[len(name) :].strip()
    x = box.x + 12
    rest_x = x + (sans_width(name, NOTE_SIZE, bold=True) + 8 if name else 0)
    head = Box(box.x + 0.5, box.y + 0.5, box.width - 1, BLOCK_HEAD - 6)
    return (
        _rect(head, f'rx="4" fill="{SURFACE}"')
        + text(x, box.y + 17, name, f'{style} {MEDIUM} fill="{FOREGROUND}"')
        + text(rest_x, box.y + 17, rest, f'{style} fill="{SECOND}"')
    )


def _focus_ring(placed: ItemBox) -> str:
    radius = 4 if placed.item.kind == "op" else 13
    return _rect(placed.box, f'rx="{radius}" fill="none" stroke="{FOREGROUND}" stroke-width="2"')


def _item(placed: ItemBox) -> str:
    if placed.item.kind == "op":
        return _op(placed)
    return _group(placed) if placed.item.kind == "group" else _pill(placed)


def _op(placed: ItemBox) -> str:
    box, item = placed.box, placed.item
    frame = f'rx="4" fill="{SURFACE}" stroke="{LINE}"'
    behind = ""
    if item.folded_ops:
        behind = _rect(Box(box.x + 4, box.y + 4, box.width, box.height), frame)
    body = behind + _rect(box, frame)
    words = _op_text(box.x, box.y + box.height / 2 + 4.5, placed, item.note)
    if not item.folded_ops:
        return body + words
    inner = closed_note(item)
    x = box.x + box.width - sans_width(inner, NOTE_SIZE) - 8
    style = f'{SANS} font-size="{NOTE_SIZE}" fill="{SECOND}"'
    return body + words + text(x, box.y + box.height / 2 + 4.5, inner, style)


def _op_text(x: float, y: float, placed: ItemBox, note: str) -> str:
    item = placed.item
    if item.does == "custom call":
        outline = "l4 -5.5h6l4 5.5l-4 5.5h-6Z"
        start = f"M{number(x + 7)} {number(y - 4)}"
        sign = f'<path d="{start}{outline}" fill="none" stroke="{LINE}" stroke-width="1.5"/>'
    else:
        style = f'{MONO} font-size="{NAME_SIZE}" fill="{SECOND}" text-anchor="middle"'
        sign = text(x + 14, y, SIGNS[item.does], style)
    name = f'{MONO} font-size="{NAME_SIZE}" {MEDIUM} fill="{FOREGROUND}"'
    name += _set_width(item.label, NAME_SIZE)
    words = text(x + TEXT_X, y, item.label, name)
    if not note:
        return sign + words
    note_x = x + TEXT_X + mono_width(item.label, NAME_SIZE) + NOTE_GAP
    second = f'{MONO} font-size="{NOTE_SIZE}" fill="{SECOND}"' + _set_width(note, NOTE_SIZE)
    return sign + words + text(note_x, y, note, second)


def _pill(placed: ItemBox) -> str:
    box, item = placed.box, placed.item
    dashes = ' stroke-dasharray="4 3"' if item.kind == "captured" else ""
    body = _rect(box, f'rx="13" fill="{_BAR}" stroke="{LINE}"{dashes}')
    label = mono_width(item.label, NOTE_SIZE)
    room = label + (NOTE_GAP + mono_width(item.note, NOTE_SIZE) if item.note else 0.0)
    x = box.x + max(PILL_X, (box.width - room) / 2)
    style = f'{MONO} font-size="{NOTE_SIZE}"'
    words = text(
        x,
        box.y + 17,
        item.label,
        f'{style} fill="{FOREGROUND}"' + _set_width(item.label, NOTE_SIZE),
    )
    if item.note:
        note_x = x + label + NOTE_GAP
        words += text(note_x, box.y + 17, item.note, f'{style} fill="{SECOND}"')
    return body + words


def _group(placed: ItemBox) -> str:
    box, item = placed.box, placed.item
    frame = f'rx="4" fill="{SURFACE}" stroke="{LINE}"'
    offsets = (8, 4) if item.folded_ops >= _STACK_OF_MANY else (4,)
    behind = "".join(
        _rect(Box(box.x + by, box.y + by, box.width, box.height), frame) for by in offsets
    )
    name = f'{MONO} font-size="{NAME_SIZE}" {MEDIUM} fill="{FOREGROUND}"'
    note = f'{SANS} font-size="{NOTE_SIZE}" fill="{SECOND}"'
    return (
        behind
        + _rect(box, frame)
        + text(box.x + PILL_X, box.y + 18.5, item.label, name + _set_width(item.label, NAME_SIZE))
        + text(box.x + PILL_X, box.y + 36, item.note, note)
    )


def _set_width(words: str, size: int) -> str:
    """Letters of other scripts come from unknown fonts: their width is set, not guessed."""
    if is_plain_script(words):
        return ""
    return f' textLength="{number(mono_width(words, size))}" lengthAdjust="spacingAndGlyphs"'
