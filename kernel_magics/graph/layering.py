"""Layers of a directed graph: who stands in which, and in what order; used by both directions."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

_MOST_LANES = 5_000
_SWEEPS = 4


def back_edges(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """The edges that close a cycle, by a depth-first walk without recursion."""
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for index, (tail, head) in enumerate(edges):
        leaving[tail].append((index, head))
    has_caller = {head for _, head in edges}
    order = sorted(range(count), key=lambda node: node in has_caller)
    back: set[int] = set()
    state = [0] * count  # 0 new, 1 on the path, 2 done
    for root in order:
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(leaving[root]))]
        while stack:
            node, rest = stack[-1]
            for index, head in rest:
                if state[head] == 1:
                    back.add(index)
                elif state[head] == 0:
                    state[head] = 1
                    stack.append((head, iter(leaving[head])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return back


def longest_path(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the layer of each node: one more than the last of those that lead to it."""
    heads: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for tail, head in edges:
        heads[tail].append(head)
        waiting[head] += 1
    layers = [0] * count
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:  # grows while it is walked
        for head in heads[node]:
            layers[head] = max(layers[head], layers[node] + 1)
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    return layers


def with_lanes(layers: list[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Gives long edges a lane in each layer they pass; `layers` grows by the lanes."""
    needed = sum(max(0, layers[head] - layers[tail] - 1) for tail, head in edges)
    if needed > _MOST_LANES:
        return [[tail, head] for tail, head in edges]
    paths: list[list[int]] = []
    for tail, head in edges:
        passed = range(layers[tail] + 1, layers[head])
        lanes = range(len(layers), len(layers) + len(passed))
        layers.extend(passed)
        paths.append([tail, *lanes, head])
    return paths


def ordered(layers: list[int], paths: list[list[int]]) -> list[list[int]]:
    """Sorts every column by the mean place of its neighbours in the columns beside it."""
    columns: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for node, layer in enumerate(layers):
        columns[layer].append(node)
    before, after = _neighbours(paths)
    for sweep in range(_SWEEPS):
        leftward = sweep % 2 == 1
        beside = after if leftward else before
        place = {n: i / len(column) for column in columns for i, n in enumerate(column)}
        for column in reversed(columns) if leftward else columns:
            key = {n: _mean([place[m] for m in beside[n]], place[n]) for n in column}
            column.sort(key=key.__getitem__)
            place.update((n, i / len(column)) for i, n in enumerate(column))
    return columns


def _neighbours(
    paths: list[list[int]],
) -> tuple[defaultdict[int, list[int]], defaultdict[int, list[int]]]:
    before: defaultdict[int, list[int]] = defaultdict(list)
    after: defaultdict[int, list[int]] = defaultdict(list)
    for path in paths:
        for left, right in pairwise(path):
            before[right].append(left)
            after[left].append(right)
    return before, after


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default
