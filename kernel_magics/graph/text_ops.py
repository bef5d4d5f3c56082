"""Writes the ops of a function as an outline for terminals and readers of plain text."""

from collections.abc import Iterator

from kernel_magics.characters import visible
from kernel_magics.graph.measure import cells, cut_middle
from kernel_magics.graph.ops_view import BlockView, Item, OpsView
from kernel_magics.graph.svg_ops import ops_phrases, ops_title
from kernel_magics.graph.words import plural

DEFAULT_LIMIT = 200
_MOST_LEFT = 64
_MOST_RESULTS = 3


def ops_text(view: OpsView, limit: int = DEFAULT_LIMIT) -> str:
    """Returns an outline: one line an item, regions below the op that holds them.

    Args:
        view: What is written; it says what it leaves out.
        limit: How many lines are written; a last line says how many are left out.
    """
    rows: list[tuple[str, str]] = []
    left_out = 0
    for row in _rows(view):
        if len(rows) < limit:
            rows.append(row)
        else:
            left_out += 1
    left = min(_MOST_LEFT, max((cells(first) for first, _ in rows), default=0))
    lines = [f"{ops_title(view)}: {', '.join(ops_phrases(view))}"]
    for first, second in rows:
        lines.append((first + " " * (left - cells(first)) + "  " + second).rstrip())
    if left_out:
        lines.append(f"… {plural(left_out, 'more line')} left out")
    return "\n".join(lines) + "\n"


def _rows(view: OpsView) -> Iterator[tuple[str, str]]:
    """Depth first; as deep as a view nests, which is little."""
    for block in view.blocks:
        yield from _block(view, block, "  ")


def _block(view: OpsView, block: BlockView, lead: str) -> Iterator[tuple[str, str]]:
    givers: dict[int, list[str]] = {}
    for link in block.links:
        name = _value(view, block.items[link.source], link.result)
        via = "".join(f"{op}(" for op in reversed(link.via))
        givers.setdefault(link.target, []).append(f"{via}{name}{')' * len(link.via)}")
    if block.name:
        unused = f", {plural(block.unused, 'unused argument')}" if block.unused else ""
        yield f"{lead[:-3]}├─ {block.name}", plural(block.op_count, "op") + unused
    for number, item in enumerate(block.items):
        used = ", ".join(dict.fromkeys(givers.get(number, [])))
        yield lead + _named(view, item), _facts(view, item, used)
        for inner in item.regions:
            yield from _block(view, inner, lead + "│  ")


def _named(view: OpsView, item: Item) -> str:
    if item.kind in ("argument", "captured"):
        return item.label
    what = f"{item.label} {item.note}".strip()
    if item.kind == "group":
        return f"… {what}"
    if not view.graph.nodes[item.node].types:
        return what
    return f"{_value(view, item, 0, whole=True)} = {what}"


def _facts(view: OpsView, item: Item, used: str) -> str:
    node = view.graph.nodes[item.node]
    parts = [f"({used})"] if used else []
    if item.kind == "captured":
        return "from outside"
    if item.kind != "group" and node.types:
        more = len(node.types) - _MOST_RESULTS
        types = ", ".join(map(visible, node.types[:_MOST_RESULTS]))
        parts.append(("→ " if item.kind == "op" else "") + types)
        parts += [f"and {more:,} more"] if more > 0 else []
    if item.folded_ops and item.kind == "op":
        parts.append(f"[{plural(item.folded_ops, 'op')} inside]")
    return " ".join(parts)


def _value(view: OpsView, item: Item, result: int, *, whole: bool = False) -> str:
    if item.kind in ("captured", "group"):
        return item.label
    names = view.graph.value_names
    name = visible(names[item.node]) if names and names[item.node] else item.id
    several = len(view.graph.nodes[item.node].types) > 1 and not whole
    return cut_middle(name, 32) + (f"#{result}" if several else "")
