"""Turns a snapshot into what the functions view draws: nodes, curves and words."""

import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kernel_magics.characters import visible
from kernel_magics.graph.fold import Folded
from kernel_magics.graph.layout import EdgePath, Layout, NodeBox, lay_out
from kernel_magics.graph.model import FunctionNode
from kernel_magics.graph.svg import Placed
from kernel_magics.graph.svg_card import CardMaker
from kernel_magics.graph.words import count_phrases, new_name, shown_name
from kernel_magics.widgets.folding import Drawn, draw
from kernel_magics.widgets.protocol import EdgeView, ModuleView, NodeView
from kernel_magics.widgets.subject import Snapshot

_TIME_LIMIT_S = 1.5
_MOST_MISSING = 20
# A group carries the button that opens it, 20 px wide.
_BUTTON_ROOM = 32.0


@dataclass(frozen=True)
class DrawnModule:
    """A view, which functions it does not draw, and what a picture of it is made of."""

    view: ModuleView
    drawn: Drawn
    placed: Placed


@dataclass(frozen=True, slots=True)
class _Key:
    """Snapshots of equal modules are drawn once."""

    digest: str
    opened: tuple[str, ...]
    snapshot: Snapshot = field(compare=False)


def module_view(snapshot: Snapshot, opened: Sequence[str] = ()) -> DrawnModule:
    """Returns the view of a module; may take as long as Graphviz may, so not in the shell thread.

    Args:
        snapshot: The module.
        opened: Ids of the groups that are opened.
    """
    return _drawn(_Key(digest(snapshot), tuple(opened), snapshot))


def digest(snapshot: Snapshot) -> str:
    """Returns 16 hexadecimal digits that are equal for equal modules."""
    graph = snapshot.graph
    texts = "\0".join(f"{unit.name}\0{unit.text}" for unit in snapshot.units)
    # Ten times faster than JSON, and of plain values as good.
    content = f"{graph.title}\0{graph.nodes!r}\0{graph.edges!r}\0{texts}"
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:16]


@lru_cache(maxsize=8)
def _drawn(key: _Key) -> DrawnModule:
    snapshot, graph = key.snapshot, key.snapshot.graph
    drawn = draw(graph, key.opened)
    calls: Counter[str] = Counter()
    for edge in graph.edges:
        calls[edge.callee] += edge.count
    maker = CardMaker(graph.unit_letters, drawn.groups, calls.__getitem__)
    cards = {node.id: maker.card(node) for node in reversed(drawn.graph.nodes)}
    started = time.perf_counter()
    widths = {
        name: card.wanted_width + (_BUTTON_ROOM if card.group else 0)
        for name, card in cards.items()
    }
    layout = lay_out(drawn.graph, widths, time_limit_s=_TIME_LIMIT_S)
    seconds = time.perf_counter() - started
    place = {unit: index for index, unit in enumerate(graph.unit_letters)}
    nodes = [_node(placed, cards[placed.node.id].facts, place, drawn) for placed in layout.nodes]
    view: ModuleView = {
        "version": 1,
        "title": visible(snapshot.title),
        "text_word": snapshot.text_word,
        "digest": key.digest,
        "units": [
            {"name": visible(u.name), "letter": u.letter, "has_text": u.text is not None}
            for u in snapshot.units
        ],
        "nodes": nodes,
        "edges": _edges(layout),
        "width": round(layout.width, 1),
        "height": round(layout.height, 1),
        "counts": count_phrases(graph.counts, len(graph.unit_letters)),
        "missing": _missing(graph.nodes),
        "folded": drawn.folded,
        "opened": list(key.opened),
        "engine": layout.engine,
        "layout_time_ms": round(1000 * seconds, 1),
        "drawn_at": time.strftime("%H:%M:%S"),
    }
    folded = Folded(drawn.graph, tuple(drawn.groups.values()), drawn.hidden_calls)
    return DrawnModule(view, drawn, Placed(folded, layout))


def _node(placed: NodeBox, facts: str, place: dict[str, int], drawn: Drawn) -> NodeView:
    node, box = placed.node, placed.box
    group = drawn.groups.get(node.id)
    return {
        "id": node.id,
        "kind": node.kind,
        "status": node.status,
        "name": shown_name(node),
        "merged": new_name(node),
        "facts": facts.split(" · "),
        "units": [place[unit] for unit in node.units if unit in place],
        "is_entry": node.is_entry,
        "op_count": node.op_count,
        "line": node.line,
        "members": group.functions + group.custom_calls if group else 0,
        "x": round(box.x, 1),
        "y": round(box.y, 1),
        "width": round(box.width, 1),
    }


def _edges(layout: Layout) -> list[EdgeView]:
    place = {placed.node.id: index for index, placed in enumerate(layout.nodes)}
    return [_edge(path, place) for path in layout.edges]


def _edge(path: EdgePath, place: dict[str, int]) -> EdgeView:
    return {
        "caller": place[path.edge.caller],
        "callee": place[path.edge.callee],
        "kind": path.edge.kind,
        "count": path.edge.count,
        "points": [round(number, 1) for point in path.points for number in point],
        "tip": [round(number, 1) for number in path.tip],
    }


def _missing(nodes: Sequence[FunctionNode]) -> list[str]:
    names = [shown_name(node) for node in nodes if node.status == "missing"]
    return names[:_MOST_MISSING]
