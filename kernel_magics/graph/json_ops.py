"""Ops and their drawings as JSON: compact, the same in every process, harmless inside a page."""

import json
from typing import Any

from kernel_magics.graph.ops_geometry import OpsLayout
from kernel_magics.graph.ops_model import OpsData
from kernel_magics.graph.ops_view import BlockView, Item, OpsView

_KINDS = ("op", "argument", "return")


def ops_json(graph: OpsData) -> str:
    """Returns all nodes of a function, whatever a drawing folds.

    Names, types and scopes stand in tables; a node is a list that begins with its id and refers
    to them by number. What `columns` lists and a node lacks at its end is empty.
    """
    names, types, scopes = _Table(), _Table(), _Table()
    rows: list[list[Any]] = []
    for number, node in enumerate(graph.nodes):
        row: list[Any] = [
            node.id,
            _KINDS.index(node.kind),
            names[node.name],
            [part for value in node.operands for part in value],
            [types[text] for text in node.types],
            *node.place,
            graph.value_names[number] if graph.value_names else "",
            scopes[node.scope] if node.scope else 0,
            node.detail,
            node.symbol,
            node.callee,
        ]
        while row[-1] in ("", 0, []):
            row.pop()
        rows.append(row)
    return dumped(
        {
            **_head(graph),
            "kinds": _KINDS,
            "names": names.texts,
            "types": types.texts,
            "scopes": scopes.texts,
            "columns": (
                *("id", "kind", "name", "operands", "types", "line", "column"),
                *("value", "scope", "detail", "symbol", "callee"),
            ),
            "nodes": rows,
        }
    )


def view_json(view: OpsView, layout: OpsLayout) -> str:
    """Returns one drawing of a function: items with their places, links with their curves."""
    boxes = {placed.item.id: _numbers(placed.box) for placed in layout.items}
    frames = {placed.block.id: _numbers(placed.box) for placed in layout.blocks}
    return dumped(
        {
            **_head(view.graph),
            "root": view.options.root,
            "focus": view.options.focus,
            "width": round(layout.width, 1),
            "height": round(layout.height, 1),
            "engine": layout.engine,
            "layout_time_s": round(layout.time_s, 4),
            "left_out": view.phrases(),
            "blocks": [_block(view, block, boxes, frames) for block in view.blocks],
            "links": [
                {
                    "source": path.source,
                    "target": path.target,
                    "type": path.link.type,
                    "operands": path.link.operands,
                    "result": path.link.result,
                    "count": path.link.count,
                    "via": path.link.via,
                    "points": [round(part, 1) for point in path.points for part in point],
                    "tip": [round(part, 1) for part in path.tip],
                }
                for path in layout.links
            ],
            "types": [[label.text, round(label.x, 1), round(label.y, 1)] for label in layout.types],
        }
    )


def dumped(plain: object) -> str:
    """Returns JSON without blanks; `</script>` in a name cannot end a page's script."""
    return json.dumps(plain, separators=(",", ":")).replace("<", "\\u003c")


def _head(graph: OpsData) -> dict[str, Any]:
    return {
        "function": graph.function,
        "author_name": graph.author_name,
        "unit": graph.unit,
        "first_line": graph.first_line,
        "is_printed": graph.is_printed,
        "op_count": graph.op_count,
    }


def _block(
    view: OpsView, block: BlockView, boxes: dict[str, list[float]], frames: dict[str, list[float]]
) -> dict[str, Any]:
    return {
        "id": block.id,
        "name": block.name,
        "op_count": block.op_count,
        "unused": block.unused,
        "box": frames.get(block.id),
        "items": [_item(view, item, boxes, frames) for item in block.items],
    }


def _item(
    view: OpsView, item: Item, boxes: dict[str, list[float]], frames: dict[str, list[float]]
) -> dict[str, Any]:
    node = view.graph.nodes[item.node]
    found: dict[str, Any] = {
        "id": item.id,
        "kind": item.kind,
        "does": item.does,
        "label": item.label,
        "box": boxes[item.id],
    }
    if item.note:
        found["note"] = item.note
    if item.kind == "group":
        return found | {"rule": item.rule, "folded_ops": item.folded_ops}
    found |= {
        "name": node.name,
        "types": node.types,
        "line": node.place[0],
        "column": node.place[1],
    }
    extras = {
        "node": node.id if item.kind == "captured" else "",
        "callee": node.callee,
        "scope": node.scope,
        "folded_ops": item.folded_ops,
        "regions": [_block(view, block, boxes, frames) for block in item.regions],
    }
    return found | {key: value for key, value in extras.items() if value}


def _numbers(box: Any) -> list[float]:
    return [round(part, 1) for part in (box.x, box.y, box.width, box.height)]


class _Table:
    """Texts that are told once; the first is empty."""

    def __init__(self) -> None:
        self.texts = [""]
        self._numbers = {"": 0}

    def __getitem__(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]
