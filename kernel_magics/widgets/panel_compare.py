"""A comparison of plugins as the control panel shows it."""

from kernel_magics.characters import visible
from kernel_magics.plugin.comparison import Comparison, PluginRun, seconds_text
from kernel_magics.plugin.info import bytes_text
from kernel_magics.widgets.protocol_panel import CompareRow, CompareView, Weight

_PERCENT = 100


def compare_view(comparison: Comparison) -> CompareView:
    """Returns the rows of a comparison, with bars as parts of the slowest run."""
    ran = [run for run in comparison.runs if not run.error]
    slowest = max((run.run_time_s for run in ran), default=0.0)
    fastest = min((run.run_time_s for run in ran), default=0.0)
    count = max((len(run.run_times_s) for run in ran), default=0)
    against = f" · differences from {comparison.reference}" if comparison.reference else ""
    return {
        "title": visible(comparison.what),
        "conditions": visible(f"{comparison.inputs} · median of {count} warm runs{against}"),
        "rows": [_row(run, slowest, fastest) for run in comparison.runs],
        "summary": visible(_summary(ran)),
        "text": repr(comparison),
    }


def _row(run: PluginRun, slowest: float, fastest: float) -> CompareRow:
    row: CompareRow = {
        "plugin": visible(run.plugin),
        "compile": "",
        "run": "",
        "share": 0.0,
        "is_fastest": False,
        "memory": "",
        "difference": "",
        "ulp": "",
        "result": "",
        "weight": "bad",
        "problem": visible(run.error),
    }
    if run.error:
        return row
    words, weight = _result(run)
    found = run.difference
    return {
        **row,
        "compile": seconds_text(run.compile_time_s),
        "run": seconds_text(run.run_time_s),
        "share": run.run_time_s / slowest if slowest else 0.0,
        "is_fastest": run.run_time_s == fastest,
        "memory": "" if run.memory_bytes is None else bytes_text(run.memory_bytes),
        "difference": "reference" if found is None else f"{found.max_absolute:.3g}",
        "ulp": "" if found is None or found.max_ulp is None else f"{found.max_ulp:,}",
        "result": words,
        "weight": weight,
    }


def _result(run: PluginRun) -> tuple[str, Weight]:
    """What the results are like, in a few words."""
    special = [
        f"{count:,} {word}" for count, word in ((run.nan_count, "NaN"), (run.infinite_count, "Inf"))
        if count
    ]  # fmt: skip
    found = run.difference
    if found is not None and found.unlike:
        return f"{found.unlike:,} NaN or Inf on one side", "bad"
    if special:
        return " and ".join(special), "warn"
    if found is None:
        return "finite", ""
    return ("equal", "ok") if found.is_zero else ("differs", "warn")


def _summary(ran: list[PluginRun]) -> str:
    """Which was fastest, and whether that says something."""
    if len(ran) < 2:  # noqa: PLR2004 - nothing to compare
        return ""
    first, second = sorted(ran, key=lambda run: run.run_time_s)[:2]
    ahead = _PERCENT * (second.run_time_s / first.run_time_s - 1) if first.run_time_s else 0.0
    spread = _PERCENT * max(_spread(first), _spread(second))
    verdict = ": no difference" if ahead < spread else ""
    return (
        f"fastest: {first.plugin}, {ahead:.0f} % ahead of {second.plugin} "
        f"(runs spread by {spread:.0f} %{verdict})"
    )


def _spread(run: PluginRun) -> float:
    """Half of the middle half of the times, as a part of the median."""
    times = sorted(run.run_times_s)
    if not times or not run.run_time_s:
        return 0.0
    quarter = len(times) // 4
    return (times[-1 - quarter] - times[quarter]) / 2 / run.run_time_s
