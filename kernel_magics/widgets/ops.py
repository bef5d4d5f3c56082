"""Answers what a view asks about ops: drawings, facts, the op on a line, what a query finds.

Nothing here belongs in the shell thread: functions are read again, laid out and searched.
"""

import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import cast

from kernel_magics.graph.find import Hit as FoundHit
from kernel_magics.graph.merged_text import merged_places
from kernel_magics.graph.model import FunctionNode
from kernel_magics.graph.nearest import nearest_queries
from kernel_magics.graph.op_places import NOWHERE, Place
from kernel_magics.graph.ops_graph import OpsGraph
from kernel_magics.graph.query import parse_query
from kernel_magics.graph.words import new_name, shown_name
from kernel_magics.widgets.answers import MERGED, Answers
from kernel_magics.widgets.drawing import digest
from kernel_magics.widgets.folding import Drawn
from kernel_magics.widgets.ops_drawing import DrawnOps, check_request, draw_ops, shown_items
from kernel_magics.widgets.ops_facts import AROUND, op_facts, op_on_line
from kernel_magics.widgets.protocol import FunctionText
from kernel_magics.widgets.protocol_commands import Answer, Command, FindCommand, Hit, HitsAnswer
from kernel_magics.widgets.protocol_ops import OpAnswer, OpAtAnswer, OpsDrawing, OpsRequest

_MOST_HITS = 500


class OpsAnswers:
    """What is known about the ops of one snapshot; one question at a time."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self._merged: dict[str, list[Place]] = {}

    def answer(self, command: Command, drawn: Drawn) -> Answer:
        """Answers a command about ops; `drawn` are the functions as they are drawn."""
        match command["kind"]:
            case "ops":
                return self.draw(command["request"])
            case "op":
                return self.op(command["function"], command["op"], command["drawn"])
            case "op_at":
                return self.op_at(command["text"], command["line"])
            case _:
                return self.find(cast("FindCommand", command), drawn)

    def draw(self, request: OpsRequest) -> OpsDrawing:
        """Lays out what was asked for.

        Raises:
            UsageError: There is no such function or op, or it has no body.
        """
        with self._lock:
            return self._drawn(request).drawing

    def op(self, function: str, op: str, drawn: OpsRequest | None) -> OpAnswer:
        """All that is known of one op.

        Raises:
            UsageError: There is no such function or op.
        """
        with self._lock:
            graph = self._graph(function)
            number = graph.number(op)
            places = {text: self._places(graph, text)[number] for text in self._texts(graph)}
            texts = [self._around(text, place[0]) for text, place in places.items() if place[0]]
            facts = op_facts(graph, op, places, texts, self._functions)
            return {**facts, "item": self._item(op, drawn)}

    def op_at(self, text: int, line: int) -> OpAtAnswer:
        """What stands on a line of a text.

        Raises:
            LookupError: There is no such text.
        """
        ranges = self._answers.text(text)["ranges"]
        found = next((one for one in ranges if one["first"] <= line <= one["last"]), None)
        if found is None:
            return {"function": "", "op": ""}
        function = found["node"]
        if function not in self._functions:
            return {"function": function, "op": ""}
        with self._lock:
            graph = self._graph(function)
            places = self._places(graph, text)
            return {"function": function, "op": op_on_line(graph.nodes, places, line)}

    def find(self, command: FindCommand, drawn: Drawn) -> HitsAnswer:
        """What a query finds in the module or in one function, and where that is drawn.

        Raises:
            UsageError: It is no query; says what is understood, with a caret.
        """
        query, within = command["query"], command["within"]
        if not parse_query(query).terms:
            return {"hits": [], "total": 0, "nearest": []}
        with self._lock:
            found = self._search(query, within)
            shown = self._shown(found[:_MOST_HITS], command["drawn"])
            nearest = (
                []
                if found
                else nearest_queries(
                    self._answers.snapshot.graph,
                    query,
                    lambda text: len(self._search(text, within)),
                )
            )
            return {
                "hits": [self._hit(hit, drawn, shown) for hit in found[:_MOST_HITS]],
                "total": len(found),
                "nearest": [{"query": text, "total": total} for text, total in nearest],
            }

    def _search(self, query: str, within: str) -> tuple[FoundHit, ...]:
        if within in self._functions:
            return self._graph(within).find(query)
        return self._answers.snapshot.graph.find(query)

    def _shown(self, found: tuple[FoundHit, ...], request: OpsRequest | None) -> dict[str, str]:
        if request is None:
            return {}
        ops = [hit.op for hit in found if hit.op and hit.function == request["function"]]
        return shown_items(self._drawn(request), ops) if ops else {}

    def _item(self, op: str, request: OpsRequest | None) -> str:
        return shown_items(self._drawn(request), [op]).get(op, "") if request else ""

    def _hit(self, hit: FoundHit, drawn: Drawn, shown: Mapping[str, str]) -> Hit:
        node = self._nodes[hit.function]
        line = f", line {hit.line:,}" if hit.line else ""
        return {
            "node": hit.function,
            "op": hit.op,
            "name": hit.name.removeprefix("stablehlo.") if hit.op else shown_name(node),
            "merged": "" if hit.op else new_name(node),
            "where": f"{new_name(node) or shown_name(node)}{line}" if hit.op else "",
            "group": drawn.group_of.get(hit.function, ""),
            "item": shown.get(hit.op, ""),
        }

    def _drawn(self, request: OpsRequest) -> DrawnOps:
        check_request(request, self._functions)
        graph = self._graph(request["function"])
        merged = new_name(self._nodes[request["function"]])
        return draw_ops(graph, request, self._digest, self._functions, merged)

    def _graph(self, function: str) -> OpsGraph:
        return self._answers.snapshot.graph.ops(function)

    @cached_property
    def _digest(self) -> str:
        return digest(self._answers.snapshot)

    @cached_property
    def _nodes(self) -> dict[str, FunctionNode]:
        return {node.id: node for node in self._answers.snapshot.graph.nodes}

    @cached_property
    def _functions(self) -> frozenset[str]:
        """Those with a body."""
        return frozenset(name for name, node in self._nodes.items() if node.kind == "function")

    def _texts(self, graph: OpsGraph) -> list[int]:
        """The texts that a function stands in: the merged one, then its unit's."""
        units = self._answers.snapshot.units
        own = [n for n, unit in enumerate(units) if unit.name == graph.unit and unit.text]
        return [MERGED, *(own if not graph.is_printed else [])]

    def _places(self, graph: OpsGraph, text: int) -> list[Place]:
        if text != MERGED:
            unit = self._answers.snapshot.units[text]
            if unit.name != graph.unit or graph.is_printed:
                return [NOWHERE] * len(graph.nodes)
            return [node.place for node in graph.nodes]
        if graph.function not in self._merged:
            printed = {node: name for name, node in self._answers.snapshot.printed_names.items()}
            named = replace(graph, function=printed.get(graph.function, graph.function))
            places = merged_places(named, graph.source, self._answers.merged_text())
            self._merged[graph.function] = places
        return self._merged[graph.function]

    def _around(self, text: int, line: int) -> FunctionText:
        first = max(1, line - AROUND)
        found = self._answers.lines(text, first, line + AROUND - first + 1)
        return {"text": text, "first": first, "lines": found["lines"], "left_out": 0}
