"""Compares two texts line by line, in a time that does not explode."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from kernel_magics.widgets.protocol_diff import DiffRun

# Texts without a line of their own are compared thoroughly up to so many pairs of lines.
_MOST_PAIRS = 1_000_000
# Changed lines are paired by what they have in common, up to so many pairs to look at.
_MOST_COMPARED = 4_000
_LEAST_ALIKE = 0.4
_WORD = re.compile(r"\w+|[^\w\s]")

Span = tuple[int, int, int, int]
"""First and one after the last line, on the left and on the right."""


def diff_runs(left: Sequence[str], right: Sequence[str]) -> list[DiffRun]:
    """Returns the lines of two texts as runs that are the same or not, in order.

    Lines that stand once on either side are the anchors (Bram Cohen's patience diff); between
    them the same again, and what has no anchor is compared as `difflib` does it.
    """
    runs: list[DiffRun] = []
    at_left = at_right = 0
    blocks = [*_merged(sorted(_matches(left, right))), (len(left), len(right), 0)]
    for first_left, first_right, count in blocks:
        if first_left > at_left or first_right > at_right:
            run = _run("changed", at_left, first_left, at_right, first_right)
            run["pairs"] = _pairs(left[at_left:first_left], right[at_right:first_right])
            runs.append(run)
        at_left, at_right = first_left + count, first_right + count
        if count:
            runs.append(_run("same", first_left, at_left, first_right, at_right))
    return runs


def _run(kind: str, left: int, left_end: int, right: int, right_end: int) -> DiffRun:
    return {
        "kind": "same" if kind == "same" else "changed",
        "left": left,
        "left_count": left_end - left,
        "right": right,
        "right_count": right_end - right,
        "pairs": [],
    }


def _pairs(left: Sequence[str], right: Sequence[str]) -> list[int]:
    """Lines that are most alike, in the order of both sides; the n-th and the n-th of many."""
    if len(left) * len(right) > _MOST_COMPARED:
        return [place for n in range(min(len(left), len(right))) for place in (n, n)]
    words = [Counter(_WORD.findall(line)) for line in left]
    others = [Counter(_WORD.findall(line)) for line in right]
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    alike = [[_alike(one, other) for other in others] for one in words]
    for row in reversed(range(len(left))):
        for column in reversed(range(len(right))):
            both = best[row + 1][column + 1] + alike[row][column]
            best[row][column] = max(both, best[row + 1][column], best[row][column + 1])
    pairs: list[int] = []
    row = column = 0
    while row < len(left) and column < len(right):
        here = alike[row][column]
        if here and best[row][column] == best[row + 1][column + 1] + here:
            pairs += [row, column]
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _alike(one: Counter[str], other: Counter[str]) -> float:
    """The share of words that two lines have in common; 0 where that is little."""
    size = one.total() + other.total()
    share = 2 * (one & other).total() / size if size else 0.0
    return share if share >= _LEAST_ALIKE else 0.0


def _matches(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Blocks of equal lines, in any order: first on the left, first on the right, how many."""
    pending: list[Span] = [(0, len(left), 0, len(right))]
    while pending:
        span = pending.pop()
        ends, (low, high, other_low, other_high) = _trimmed(left, right, span)
        yield from ends
        if low == high or other_low == other_high:
            continue
        anchors = _anchors(left[low:high], right[other_low:other_high])
        if not anchors:
            if (high - low) * (other_high - other_low) <= _MOST_PAIRS:
                yield from _thorough(left, right, (low, high, other_low, other_high))
            continue
        before, other_before = low, other_low
        for place, other_place in anchors:
            at, other_at = low + place, other_low + other_place
            yield at, other_at, 1
            pending.append((before, at, other_before, other_at))
            before, other_before = at + 1, other_at + 1
        pending.append((before, high, other_before, other_high))


def _trimmed(
    left: Sequence[str], right: Sequence[str], span: Span
) -> tuple[list[tuple[int, int, int]], Span]:
    """Takes equal lines off both ends."""
    low, high, other_low, other_high = span
    start = 0
    most = min(high - low, other_high - other_low)
    while start < most and left[low + start] == right[other_low + start]:
        start += 1
    end = 0
    while end < most - start and left[high - 1 - end] == right[other_high - 1 - end]:
        end += 1
    blocks = [(low, other_low, start), (high - end, other_high - end, end)]
    inner = (low + start, high - end, other_low + start, other_high - end)
    return [block for block in blocks if block[2]], inner


def _anchors(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that stand once on either side, as many as keep their order."""
    here, there = Counter(left), Counter(right)
    places = {line: place for place, line in enumerate(right) if there[line] == 1}
    pairs = [
        (place, places[line])
        for place, line in enumerate(left)
        if here[line] == 1 and line in places
    ]
    return _increasing(pairs)


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest row of pairs whose second numbers grow, too."""
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for number, (_, second) in enumerate(pairs):
        pile = bisect_left(tops, second)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(second)
            piles.append(number)
        else:
            tops[pile], piles[pile] = second, number
    row: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]


def _thorough(
    left: Sequence[str], right: Sequence[str], span: Span
) -> Iterator[tuple[int, int, int]]:
    low, high, other_low, other_high = span
    matcher = SequenceMatcher(None, left[low:high], right[other_low:other_high], autojunk=False)
    for block in matcher.get_matching_blocks():
        if block.size:
            yield low + block.a, other_low + block.b, block.size


def _merged(blocks: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Blocks that follow each other on both sides, as one."""
    current: tuple[int, int, int] | None = None
    for block in blocks:
        if current and (current[0] + current[2], current[1] + current[2]) == block[:2]:
            current = (current[0], current[1], current[2] + block[2])
            continue
        if current:
            yield current
        current = block
    if current:
        yield current
