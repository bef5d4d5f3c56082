"""A session that grows: the thousandth unit against the tenth."""

import time

import kernel_magics as km
from tests.benchmarks.harness import Row
from tests.benchmarks.programs import TEN_LINES

UNITS = 1000


def run() -> list[Row]:
    """Units of equal size, all of whose names clash."""
    session = km.Session()
    times = [define_s(session, number) for number in range(UNITS + 10)]
    early, late = median(times[5:25]), median(times[-20:])
    name = f"define unit {UNITS:,} of ten lines"
    return [Row(name, late, "unit 10", early, late / early, "<= 1.3")]


def define_s(session: km.Session, number: int) -> float:
    """Defines one more unit."""
    text = TEN_LINES.replace("tensor<8x", f"tensor<{number + 8}x")
    began = time.perf_counter()
    session.define(text, name=f"unit{number}")
    return time.perf_counter() - began


def median(times: list[float]) -> float:
    """The middle one."""
    return sorted(times)[len(times) // 2]
