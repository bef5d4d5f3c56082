"""What single things in a drawing say: ops, arguments, captured values, groups."""

from kernel_magics.characters import visible
from kernel_magics.graph.measure import cut_middle
from kernel_magics.graph.ops_fold import Group
from kernel_magics.graph.ops_model import OpNode, OpsData, Value
from kernel_magics.graph.ops_view import BlockView, Item
from kernel_magics.graph.words import plural

_MOST_CONSTANT = 24
_MOST_NOTE = 32
_MOST_LABEL = 48
_MOST_NAME = 32


def single_item(graph: OpsData, number: int, regions: tuple[BlockView, ...]) -> Item:
    """Returns the item of one node.

    Args:
        graph: The function.
        number: The node.
        regions: Its regions, if it is drawn open.
    """
    node = graph.nodes[number]
    note = cut_middle(visible(node.detail), _MOST_NOTE)
    return Item(
        id=node.id,
        kind=node.kind,
        does=node.does,
        label=_label(graph, number),
        note=constant_words(node) if node.does == "constant" else note,
        node=number,
        regions=regions,
        folded_ops=0 if regions else node.op_count,
    )


def group_item(graph: OpsData, group: Group) -> Item:
    """Returns the item of ops that are drawn as one; it says how many and by what rule."""
    nodes = [graph.nodes[number] for number in group.members]
    ops = sum(node.op_count + 1 for node in nodes if node.kind != "argument")
    what = plural(ops, "op") if ops else plural(len(nodes), "value")
    return Item(
        id=group.id,
        kind="group",
        does="other",
        label=cut_middle(visible(group.label), _MOST_LABEL),
        note=f"{what} folded by {group.rule}",
        node=group.members[0],
        members=group.members,
        rule=group.rule,
        folded_ops=ops,
    )


def captured_item(graph: OpsData, value: Value, block: str) -> Item:
    """Returns the item of a value that a region uses from outside."""
    number, result = value
    node = graph.nodes[number]
    name = graph.value_names[number] if graph.value_names else ""
    label = visible(name or node.short_name or node.id) + (f"#{result}" if result else "")
    return Item(
        id=f"{block}^{node.id}:{result}",
        kind="captured",
        does="other",
        label=cut_middle(label, _MOST_NAME),
        node=number,
    )


def constant_words(node: OpNode) -> str:
    """Returns a constant's value if it is short, else its type."""
    text = visible(node.detail)
    if text and len(text) <= _MOST_CONSTANT:
        return text
    return node.types[0] if node.types else "value"


def _label(graph: OpsData, number: int) -> str:
    node = graph.nodes[number]
    if node.kind == "argument":
        name = graph.value_names[number] if graph.value_names else ""
        return cut_middle(visible(name or node.id), _MOST_NAME)
    if node.kind == "return":
        return node.short_name.rpartition(".")[2]
    return cut_middle(visible(node.symbol if node.callee else node.short_name), _MOST_NAME)
