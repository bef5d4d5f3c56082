"""Decides what of a function is drawn: which regions are open, and which ops form groups."""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernel_magics.graph.op_places import scope_steps
from kernel_magics.graph.ops_model import BlockKey, OpNode
from kernel_magics.graph.ops_values import Values
from kernel_magics.graph.ops_view import FOCUS_LIMIT, Rule

MOST_NESTED = 12
"""Boxes inside boxes that can be opened; what is deeper is seen by entering."""

_NESTED_AT_ONCE = 5
"""Boxes inside boxes that are opened unasked."""

_CHUNK = 400
_MOST_CHUNKS = 200
_LEAST_LIMIT = 8
_LEAST_RUNS = 4
_ONE_OP_BODY = 4


@dataclass(frozen=True, slots=True)
class Group:
    """Ops that follow one another and are drawn as one."""

    id: str
    label: str
    rule: Rule
    members: tuple[int, ...]


Entry = int | Group
Plan = dict[BlockKey, list[Entry]]


def plan(values: Values, roots: Sequence[BlockKey]) -> Plan:
    """Returns what is drawn of each block that is open.

    Regions open from the outside in while the limit allows; then ops that share a name scope
    form groups; then every so many ops. Groups are of ops that follow one another, so that no
    two of them depend on each other.

    Args:
        values: The function and what the reader wants to see.
        roots: The blocks to begin with.
    """
    options = values.options
    limit = max(_LEAST_LIMIT, options.limit)
    found: Plan = {}
    for key in roots:
        found[key] = partition(values, values.visible(key), limit)
    left = limit - sum(map(len, found.values()))
    return _open_regions(values, found, left, limit)


def plan_focus(values: Values, number: int, hops: int) -> tuple[Plan, int]:
    """Returns the block of one node with what is at most `hops` away, and how many are not."""
    key = values.graph.nodes[number].block
    visible = values.visible(key)
    near = _neighbours(values, visible, number, hops)
    found: Plan = {key: [n for n in visible if n in near]}
    # Only regions that were asked for are open: the neighbours are what is to be seen.
    plans = _open_regions(values, found, 0, FOCUS_LIMIT)
    return plans, len(visible) - len(found[key])


def _open_regions(values: Values, found: Plan, left: int, limit: int) -> Plan:
    options, nodes = values.options, values.graph.nodes
    queue = deque(_with_regions(values, found.values()))
    outermost = min((sum(1 for _ in values.graph.holders(n)) for n in queue), default=0)
    while queue:
        number = queue.popleft()
        node, keys = nodes[number], values.regions[number]
        is_wanted = node.id in options.opened
        depth = sum(1 for _ in values.graph.holders(number)) - outermost
        if node.id in options.closed or depth >= (MOST_NESTED if is_wanted else _NESTED_AT_ONCE):
            continue
        blocks = {key: values.visible(key) for key in keys}
        count = sum(map(len, blocks.values())) + len(values.captures.get(number, ()))
        if not is_wanted and (count > left or _is_told_by_name(node, count)):
            continue
        opened: Plan = {
            key: partition(values, visible, max(left, limit // 4) if is_wanted else left)
            for key, visible in blocks.items()
        }
        left -= sum(map(len, opened.values())) + len(values.captures.get(number, ()))
        found |= opened
        queue.extend(_with_regions(values, opened.values()))
    return found


def _with_regions(values: Values, entries: Iterable[Sequence[Entry]]) -> list[int]:
    return [n for some in entries for n in some if isinstance(n, int) and n in values.regions]


def _is_told_by_name(node: OpNode, count: int) -> bool:
    """`reduce add` says all that its region would show."""
    return bool(node.detail) and count <= _ONE_OP_BODY


def partition(values: Values, numbers: Sequence[int], limit: int) -> list[Entry]:
    """Returns at most about `limit` entries for some nodes of one block, in order."""
    if len(numbers) <= limit:
        return list(numbers)
    nodes = values.graph.nodes
    entries = _by_scope(nodes, numbers, limit) or list[Entry](numbers)
    if len(entries) > limit:
        entries = _by_order(nodes, numbers)
    shown: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Group) and entry.id in values.options.opened:
            shown += partition(values, entry.members, limit)
        else:
            shown.append(entry)
    return shown


def _by_scope(nodes: Sequence[OpNode], numbers: Sequence[int], limit: int) -> list[Entry] | None:
    """Groups runs of ops with one scope, at the first depth that tells enough of them apart."""
    split: dict[str, list[str]] = {"": []}
    steps: list[list[str]] = []
    for number in numbers:
        scope = nodes[number].scope if nodes[number].kind == "op" else ""
        if scope not in split:
            split[scope] = scope_steps(scope)
        steps.append(split[scope])
    common = _common([some for some in steps if some])
    deepest = max(map(len, steps), default=0)
    best: list[Entry] | None = None
    for depth in range(1, deepest + 1):
        runs = _runs(numbers, [tuple(some[:depth]) for some in steps])
        entries = [
            entry for scope, run in runs for entry in _scope_entries(nodes, scope, run, common)
        ]
        groups = sum(isinstance(entry, Group) for entry in entries)
        if len(entries) > limit:
            break
        if groups > 1:
            best = entries
        if groups >= _LEAST_RUNS:
            break
    return best


def _runs(
    numbers: Sequence[int], keys: Sequence[tuple[str, ...]]
) -> list[tuple[tuple[str, ...], list[int]]]:
    runs: list[tuple[tuple[str, ...], list[int]]] = []
    for number, key in zip(numbers, keys, strict=True):
        if runs and runs[-1][0] == key:
            runs[-1][1].append(number)
        else:
            runs.append((key, [number]))
    return runs


def _scope_entries(
    nodes: Sequence[OpNode], scope: tuple[str, ...], run: list[int], common: int
) -> list[Entry]:
    if len(run) == 1 or not scope:
        return list(run)
    # What all scopes begin with, such as `jit(f)`, tells nothing apart.
    label = "/".join(scope[common:] or scope)
    return [Group(_group_id(nodes, run), label, "name scope", tuple(run))]


def _common(steps: Sequence[Sequence[str]]) -> int:
    """How many steps all scopes share at their beginning."""
    shared = 0
    for level in zip(*steps, strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    return shared


def _by_order(nodes: Sequence[OpNode], numbers: Sequence[int]) -> list[Entry]:
    """Groups of equal size; what begins and what ends a block stands by itself if it is little."""
    arguments = [n for n in numbers if nodes[n].kind == "argument"]
    ends = [n for n in numbers if nodes[n].kind == "return"]
    ops = [n for n in numbers if nodes[n].kind == "op"]
    size = max(_CHUNK, math.ceil(len(ops) / _MOST_CHUNKS))
    if len(ops) <= 2 * size:
        size = math.ceil(len(ops) / 4)
    entries: list[Entry] = list(arguments) if len(arguments) <= _CHUNK // 4 else []
    if len(arguments) > len(entries):
        words = f"{len(arguments):,} arguments"
        entries.append(Group(_group_id(nodes, arguments), words, "order", tuple(arguments)))
    for start in range(0, len(ops), max(1, size)):
        chunk = ops[start : start + size]
        words = f"ops {start + 1:,} to {start + len(chunk):,}"
        entries.append(Group(_group_id(nodes, chunk), words, "order", tuple(chunk)))
    return [*entries, *ends]


def _group_id(nodes: Sequence[OpNode], members: Sequence[int]) -> str:
    return f"{nodes[members[0]].id}..{nodes[members[-1]].id}"


def _neighbours(values: Values, visible: Sequence[int], number: int, hops: int) -> set[int]:
    beside: dict[int, list[int]] = {n: [] for n in visible}
    for user in visible:
        for dependency in values.dependencies(user):
            giver = dependency.value[0]
            if giver in beside:
                beside[user].append(giver)
                beside[giver].append(user)
    near = {number}
    ring = [number]
    for _ in range(hops):
        ring = [n for one in ring for n in beside.get(one, ()) if n not in near]
        for one in ring:
            if len(near) >= FOCUS_LIMIT:
                return near
            near.add(one)
        ring = list(dict.fromkeys(ring))
    return near
