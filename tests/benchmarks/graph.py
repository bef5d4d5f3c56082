"""From text to the function graph."""

from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.ir.context import new_context
from tests.benchmarks.harness import Row, median_s
from tests.benchmarks.programs import layers

OPS = 50_000


def run() -> list[Row]:
    """Against bare parsing of the same text."""
    text = layers(OPS)
    bare = median_s(lambda: ir.Module.parse(text, new_context()))
    graph = median_s(lambda: graph_of(text))
    peer = "bare Module.parse"
    return [Row(f"{OPS:,} ops: text to function graph", graph, peer, bare, graph / bare, "<= 2.5")]


def graph_of(text: str) -> None:
    """All that a session does with a text until its graph is there."""
    session = km.Session()
    session.define(text)
    assert len(session.graph().nodes) == OPS // 50 + 1
