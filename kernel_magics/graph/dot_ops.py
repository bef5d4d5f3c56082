"""Writes the ops of a function in the DOT language of Graphviz, regions as clusters."""

from typing import Any

import graphviz  # pyright: ignore[reportMissingTypeStubs]  # it ships none

from kernel_magics.graph.dot import left_label
from kernel_magics.graph.ops_geometry import block_title
from kernel_magics.graph.ops_view import BlockView, Item, Link, OpsView
from kernel_magics.graph.svg_ops import ops_phrases, ops_title

_FONT = {"fontname": "Helvetica", "fontsize": "11"}


def ops_dot(view: OpsView) -> str:
    """Returns a view as DOT text, for `dot` and for `graphviz-pure`.

    Nodes are numbered, and what programs say stands in labels only. An edge to an op with open
    regions ends at its cluster.
    """
    dot: Any = graphviz.Digraph(
        graph_attr={"rankdir": "TB", "nodesep": "0.25", "ranksep": "0.5", "compound": "true"},
        node_attr={"shape": "box", "height": "0.36", **_FONT},
        edge_attr={"arrowsize": "0.8", **_FONT},
    )
    title = left_label(ops_title(view), ", ".join(ops_phrases(view)))
    dot.attr(label=title, labelloc="t", labeljust="l", **_FONT)
    writer = _Writer()
    for block in view.blocks:
        writer.block(dot, block)
    return dot.source


class _Writer:
    def __init__(self) -> None:
        self.clusters = 0
        self.nodes = 0

    def block(self, dot: Any, block: BlockView) -> None:
        """Writes items and links; an open op becomes a cluster with a point to end edges at."""
        names = [self._item(dot, item) for item in block.items]
        for link in block.links:
            ends = names[link.source], names[link.target]
            dot.edge(ends[0][0], ends[1][0], **_edge(link, ends[0][1], ends[1][1]))

    def _item(self, dot: Any, item: Item) -> tuple[str, str]:
        name = f"n{self.nodes}"
        self.nodes += 1
        label = left_label(item.label, *filter(None, [item.note]))
        if not item.regions:
            dot.node(name, label=label, **_style(item))
            return name, ""
        cluster = self._cluster()
        with dot.subgraph(name=cluster) as inside:
            inside.attr(label=label, labeljust="l", style="rounded", **_FONT)
            inside.node(name, label="", shape="point", style="invis")
            for block in item.regions:
                with inside.subgraph(name=self._cluster()) as region:
                    title = left_label(block_title(block))
                    region.attr(label=title, labeljust="l", color="#d6d6d6", **_FONT)
                    self.block(region, block)
        return name, cluster

    def _cluster(self) -> str:
        self.clusters += 1
        return f"cluster{self.clusters}"


def _style(item: Item) -> dict[str, str]:
    if item.kind in ("argument", "return"):
        return {"style": "rounded"}
    if item.kind == "captured":
        return {"style": "rounded,dashed"}
    if item.kind == "group":
        return {"peripheries": "2"}
    if item.does == "custom call":
        return {"shape": "octagon"}
    return {}


def _edge(link: Link, tail: str, head: str) -> dict[str, str]:
    style = {"label": left_label(link.type)} if link.type else {}
    if tail:
        style["ltail"] = tail
    if head:
        style["lhead"] = head
    return style
