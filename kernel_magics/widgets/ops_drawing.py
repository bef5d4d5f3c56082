"""Turns the ops of one function into what the ops view draws; laid out within a time limit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

from kernel_magics.characters import visible
from kernel_magics.errors import UsageError
from kernel_magics.graph.ops_geometry import (
    BlockBox,
    ButtonRoom,
    ItemBox,
    OpsLayout,
    block_title,
)
from kernel_magics.graph.ops_graph import OpsGraph
from kernel_magics.graph.ops_layout import lay_out_ops
from kernel_magics.graph.ops_view import DEFAULT_LIMIT, BlockView, Item, OpsView, ViewOptions
from kernel_magics.graph.svg_ops import ops_phrases
from kernel_magics.graph.words import plural
from kernel_magics.widgets.protocol_ops import (
    OpBlock,
    OpItem,
    OpLink,
    OpsDrawing,
    OpsRequest,
    PathStep,
)

_MOST_HOPS = 6
# `+`; `Open`; `Enter` and `Fold`: as wide as the front end draws them.
_ROOM = ButtonRoom(group=34.0, closed=50.0, opened=112.0)


@dataclass(frozen=True)
class DrawnOps:
    """A drawing as the front end gets it, and what it was made of."""

    drawing: OpsDrawing
    view: OpsView = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Key:
    """Requests for equal modules are laid out once."""

    digest: str
    function: str
    options: ViewOptions
    asked: tuple[str, ...]
    graph: OpsGraph = field(compare=False)
    openable: frozenset[str] = field(compare=False)
    merged: str = field(compare=False)


def draw_ops(
    graph: OpsGraph, request: OpsRequest, digest: str, openable: frozenset[str], merged: str = ""
) -> DrawnOps:
    """Returns a drawing; may take as long as Graphviz may, so not in the shell thread.

    Args:
        graph: The function.
        request: What to draw of it.
        digest: That of the module: equal modules are laid out once.
        openable: Ids of functions whose ops can be shown as well.
        merged: The name in the linked module where it differs.

    Raises:
        UsageError: The request names an op that the function does not have.
    """
    key = _Key(
        digest,
        request["function"],
        _options(request, request["opened"]),
        tuple(request["opened"]),
        graph,
        openable,
        merged,
    )
    return _drawn(key)


def _options(request: OpsRequest, opened: Sequence[str]) -> ViewOptions:
    return ViewOptions(
        root=request["root"],
        is_trivial_folded=request["folds_trivial"],
        opened=frozenset(opened),
        closed=frozenset(request["closed"]),
        focus=request["focus"],
        hops=max(1, min(request["hops"], _MOST_HOPS)),
    )


@lru_cache(maxsize=12)
def _drawn(key: _Key) -> DrawnOps:
    view, opened = _bounded(key)
    layout = lay_out_ops(view, room=_ROOM)
    graph, options = key.graph, key.options
    places = {placed.item.id: number for number, placed in enumerate(layout.items)}
    blocks, block_of = _blocks(view, layout.blocks, places)
    phrases = ops_phrases(view)
    refolded = len(key.asked) - len(opened)
    if refolded:
        phrases.append(
            f"{plural(refolded, 'group')} folded again: {DEFAULT_LIMIT:,} ops are drawn at most"
        )
    request: OpsRequest = {
        "function": graph.function,
        "root": options.root,
        "focus": options.focus,
        "hops": options.hops,
        "opened": list(opened),
        "closed": sorted(options.closed),
        "folds_trivial": options.is_trivial_folded,
    }
    drawing: OpsDrawing = {
        "request": request,
        "name": "@" + visible(graph.author_name),
        "merged": key.merged,
        "path": _path(graph, options.root),
        "items": [
            _item(placed, graph, block_of[placed.item.id], key.openable) for placed in layout.items
        ],
        "blocks": blocks,
        "links": [_link(layout, number, places) for number in range(len(layout.links))],
        "types": [
            {"text": visible(one.text), "x": _px(one.x), "y": _px(one.y)} for one in layout.types
        ],
        "width": _px(layout.width),
        "height": _px(layout.height),
        "counts": phrases[:1],
        "folded": phrases[1:],
        "engine": layout.engine,
        "layout_time_ms": round(1000 * layout.time_s, 1),
    }
    return DrawnOps(drawing, view)


def _bounded(key: _Key) -> tuple[OpsView, tuple[str, ...]]:
    """The view, with what was opened first folded again where all of it is too much."""
    opened = key.asked
    while True:
        view = key.graph.view(replace(key.options, opened=frozenset(opened)))
        if len(opened) < 2 or view.drawn <= DEFAULT_LIMIT:  # noqa: PLR2004 - the last one stays
            return view, opened
        opened = opened[1:]


def _path(graph: OpsGraph, root: str) -> list[PathStep]:
    if not root:
        return []
    number = graph.number(root)
    numbers = [*reversed(list(graph.holders(number))), number]
    nodes = [graph.nodes[at] for at in numbers]
    return [{"op": node.id, "label": f"{visible(node.short_name)} {node.id}"} for node in nodes]


def _blocks(
    view: OpsView, boxes: Sequence[BlockBox], places: dict[str, int]
) -> tuple[list[OpBlock], dict[str, int]]:
    """All blocks, and the place of the one in which each item stands."""
    framed = {placed.block.id: placed.box for placed in boxes}
    found: list[OpBlock] = []
    block_of: dict[str, int] = {}
    for block, holder in _all_blocks(view):
        box = framed.get(block.id)
        block_of |= dict.fromkeys((item.id for item in block.items), len(found))
        found.append(
            {
                "id": block.id,
                "name": block.name,
                "title": block_title(block).removeprefix(block.name).strip(),
                "item": places[holder.id] if holder else -1,
                "is_framed": box is not None,
                "x": _px(box.x) if box else 0.0,
                "y": _px(box.y) if box else 0.0,
                "width": _px(box.width) if box else 0.0,
                "height": _px(box.height) if box else 0.0,
            }
        )
    return found, block_of


def _all_blocks(view: OpsView) -> Iterator[tuple[BlockView, Item | None]]:
    pending: list[tuple[BlockView, Item | None]] = [(block, None) for block in view.blocks]
    while pending:
        block, holder = pending.pop(0)
        yield block, holder
        pending += [(region, item) for item in block.items for region in item.regions]


def _item(placed: ItemBox, graph: OpsGraph, block: int, openable: frozenset[str]) -> OpItem:
    item, box, node = placed.item, placed.box, graph.nodes[placed.item.node]
    is_one = item.kind != "group"
    return {
        "id": item.id,
        "op": node.id,
        "kind": item.kind,
        "does": item.does,
        "name": visible(node.name) if is_one else "",
        "label": item.label,
        "note": item.note,
        "types": [visible(text) for text in node.types] if is_one else [],
        "line": 0 if graph.is_printed else node.place[0],
        "block": block,
        "is_open": bool(item.regions),
        "folded_ops": item.folded_ops,
        "callee": node.callee if is_one and node.callee in openable else "",
        "x": _px(box.x),
        "y": _px(box.y),
        "width": _px(box.width),
        "height": _px(box.height),
    }


def _link(layout: OpsLayout, number: int, places: dict[str, int]) -> OpLink:
    path = layout.links[number]
    return {
        "source": places[path.source],
        "target": places[path.target],
        "type": visible(path.link.type),
        "via": [visible(name) for name in path.link.via],
        "points": [_px(part) for point in path.points for part in point],
        "tip": [_px(part) for part in path.tip],
    }


def _px(length: float) -> float:
    return round(length, 1)


def shown_items(drawn: DrawnOps, ops: Sequence[str]) -> dict[str, str]:
    """Returns the item that shows or hides each op, by the ops' ids; those that are known."""
    graph = cast("OpsGraph", drawn.view.graph)
    numbers = graph.numbers()
    found = {op: drawn.view.owner(numbers[op]) for op in ops if op in numbers}
    return {op: item for op, item in found.items() if item}


def check_request(request: OpsRequest, functions: frozenset[str]) -> None:
    """Refuses a request for what has no ops.

    Raises:
        UsageError: It is no function with a body.
    """
    if request["function"] not in functions:
        raise UsageError(
            "this has no ops to show",
            advice="Declarations and custom calls have no body: what they do stands elsewhere.",
        )
