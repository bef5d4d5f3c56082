"""Ratios against a named peer, both measured in the same run; absolute times are noise."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

RUNS = 7


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    ours_s: float
    peer: str
    peer_s: float
    ratio: float
    """As the target is worded: how many times faster, slower or larger."""
    target: str


def median_s(work: Callable[[], object], runs: int = RUNS) -> float:
    """Median time of a call; collected beforehand, not within."""
    times: list[float] = []
    for _ in range(runs):
        gc.collect()
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def median_of_s(measure: Callable[[], float], runs: int = RUNS) -> float:
    """Median of what a function measures itself."""
    times: list[float] = []
    for _ in range(runs):
        gc.collect()
        times.append(measure())
    return statistics.median(times)


def interleaved_s(
    ours: Callable[[], object], peer: Callable[[], object], calls: int, rounds: int = 25
) -> tuple[float, float]:
    """Median time of one call of each, measured in turns so that both meet the same noise."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, found in zip((ours, peer), times, strict=True):
            began = time.perf_counter()
            for _ in range(calls):
                work()
            found.append((time.perf_counter() - began) / calls)
    return statistics.median(times[0]), statistics.median(times[1])


def show(rows: list[Row]) -> None:
    """Prints the table."""
    for row in rows:
        ours, peer = _time(row.ours_s), _time(row.peer_s)
        print(
            f"{row.what:<58} {ours:>10}  {row.peer:<34} {peer:>10}  {row.ratio:>7.2f}  {row.target}"
        )


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}"
    raise AssertionError
