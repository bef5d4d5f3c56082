"""The call graph as data: who calls whom in a linked module, under which names."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Literal

NodeKind = Literal["function", "declaration", "custom_call", "group"]
Status = Literal["kept", "renamed", "reused", "missing"]
EdgeKind = Literal["call", "bound", "composite", "reference", "custom_call"]


@dataclass(frozen=True, slots=True)
class FunctionNode:
    """One function of the module, one custom-call target it calls, or a folded group of them."""

    id: str
    """Unique in its graph: the merged symbol name, or `call_target:NAME` for a custom call."""
    kind: NodeKind
    """A `group` occurs only in a folded graph: it stands for the functions not drawn."""
    author_name: str
    """The name in the text that brought it in, without `@`."""
    merged_name: str
    """The name in the linked module, without `@`; the target for a custom call."""
    status: Status = "kept"
    units: tuple[str, ...] = ()
    """The units that define it; several when equal text came in more than once."""
    is_entry: bool = False
    op_count: int = 0
    line: int | None = None
    """Line of the definition in its unit's text, from 1."""
    copies: int = 0
    """How many more functions of its units say the same and are this one."""

    @property
    def reuse_count(self) -> int:
        """How many functions that came in are this one."""
        return len(self.units) + self.copies


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One function uses another, `count` times."""

    caller: str
    callee: str
    kind: EdgeKind = "call"
    count: int = 1


@dataclass(frozen=True, slots=True)
class CallGraph:
    """What every drawing reads: nodes in module order, edges in order of first use."""

    nodes: tuple[FunctionNode, ...]
    edges: tuple[CallEdge, ...]
    title: str = "module"
    unit_letters: dict[str, str] = field(default_factory=dict[str, str])
    """Unit name to its letter (`A`, `B`, … `Z`, `AA`), in order of definition."""

    @property
    def counts(self) -> Counter[str]:
        """How many nodes there are of each kind and status, plus `ops` and `ops_saved`.

        Saved are ops that came in and are not there, for equal ones were.
        """
        counts: Counter[str] = Counter(node.kind for node in self.nodes)
        counts["ops"] = sum(node.op_count for node in self.nodes)
        reused = (node for node in self.nodes if node.status == "reused")
        if saved := sum(node.op_count * (node.reuse_count - 1) for node in reused):
            counts["ops_saved"] = saved
        counts.update(node.status for node in self.nodes if node.status != "kept")
        return counts

    def to_json(self) -> str:
        """Returns the graph as JSON: title, units, counts, nodes and edges, in graph order."""
        plain = {
            "title": self.title,
            "unit_letters": self.unit_letters,
            "counts": dict(sorted(self.counts.items())),
            "nodes": [asdict(node) for node in self.nodes],
            "edges": [asdict(edge) for edge in self.edges],
        }
        # A name may hold `</script>`: the escape keeps the JSON harmless inside a page.
        return json.dumps(plain).replace("<", "\\u003c")
