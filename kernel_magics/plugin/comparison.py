"""What several plugins made of one function, as a value, as text and as a page."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kernel_magics.characters import visible
from kernel_magics.plugin.difference import Difference
from kernel_magics.plugin.info import bytes_text

_HEAD = ("plugin", "compile", "run", "memory", "largest difference", "NaN", "Inf")
_BAR = 16
_BLOCKS = " ▏▎▍▌▋▊▉█"
_WIDTH, _ROW, _LABEL, _FIGURE = 560, 22, 150, 90


@dataclass(frozen=True, slots=True)
class PluginRun:
    """What one plugin made of it."""

    plugin: str
    error: str = ""
    """Why it did not; the rest says nothing then."""
    compile_time_s: float = 0.0
    run_time_s: float = 0.0
    """Median of the runs after the first."""
    run_times_s: tuple[float, ...] = ()
    memory_bytes: int | None = None
    """Arguments, results and what is needed between; None where the plugin does not tell."""
    difference: Difference | None = None
    """From the first plugin that ran it; None for that one."""
    nan_count: int = 0
    infinite_count: int = 0
    results: tuple[np.ndarray, ...] = field(default=(), repr=False)


class Comparison:
    """Runs of one function, one for each plugin.

    Attributes:
        what: The function's name.
        inputs: The arguments, such as `f32[3], f32[]`, and where they are from.
        runs: What each plugin did, in the order asked for.
    """

    def __init__(self, what: str, inputs: str, runs: Sequence[PluginRun]) -> None:
        self.what = what
        self.inputs = inputs
        self.runs = tuple(runs)

    def __getitem__(self, plugin: str) -> PluginRun:
        """The run of one plugin."""
        for run in self.runs:
            if run.plugin == plugin:
                return run
        raise KeyError(plugin)

    @property
    def reference(self) -> str:
        """The plugin that others are compared to; empty where none ran it."""
        return next((run.plugin for run in self.runs if not run.error), "")

    def __repr__(self) -> str:
        rows = [_HEAD, *(_cells(run) for run in self.runs)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
        most = max((run.run_time_s for run in self.runs), default=0.0)
        lines = [visible(self._title())]
        for row, run in zip(rows, (None, *self.runs), strict=True):
            text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            bar = _bar(run.run_time_s, most) if run is not None and not run.error else ""
            lines.append(f"{text}  {bar}".rstrip())
        lines += [f"{visible(run.plugin)}: {visible(run.error)}" for run in self.runs if run.error]
        places = [(run.plugin, run.difference.place) for run in self.runs if run.difference]
        lines += [f"{visible(name)}: {visible(place)}" for name, place in places if place]
        return "\n".join(lines)

    def to_svg(self) -> str:
        """Run times as bars."""
        most = max((run.run_time_s for run in self.runs), default=0.0)
        height = _ROW * len(self.runs) + 8
        rows = "".join(_svg_row(i, run, most) for i, run in enumerate(self.runs))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" height="{height}" role="img" '
            f'font-family="sans-serif" font-size="12">'
            f"<title>{_text(f'Run times of {self.what}')}</title>{rows}</svg>"
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col' style='text-align:left'>{words}</th>" for words in _HEAD)
        rows = "".join(_html_row(run) for run in self.runs)
        notes = [f"{run.plugin}: {run.error}" for run in self.runs if run.error]
        notes += [
            f"{run.plugin}: {run.difference.place}"
            for run in self.runs
            if run.difference and run.difference.place
        ]
        listed = "".join(f"<li>{_text(note)}</li>" for note in notes)
        return (
            f"<div><p>{_text(self._title())}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"{self.to_svg()}{f'<ul>{listed}</ul>' if listed else ''}</div>"
        )

    def _title(self) -> str:
        against = f"; differences from {self.reference}" if self.reference else ""
        return f"{self.what} on {self.inputs}{against}"


def seconds_text(seconds: float) -> str:
    """Three digits and a unit: `1.25 ms`."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def difference_text(run: PluginRun) -> str:
    """The largest difference in a few words."""
    found = run.difference
    if found is None:
        return "compared to"
    if found.is_zero:
        return "none"
    parts = [f"{found.max_absolute:.3g} abs", f"{found.max_relative:.2g} rel"]
    if found.max_ulp is not None:
        parts.append(f"{found.max_ulp:,} ULP")
    if found.unlike:
        parts.append(f"{found.unlike:,} NaN or Inf on one side")
    return ", ".join(parts)


def _cells(run: PluginRun) -> tuple[str, ...]:
    name = visible(run.plugin)
    if run.error:
        return (name, "failed", "", "", "", "", "")
    memory = "" if run.memory_bytes is None else bytes_text(run.memory_bytes)
    return (
        name,
        seconds_text(run.compile_time_s),
        seconds_text(run.run_time_s),
        memory,
        difference_text(run),
        str(run.nan_count),
        str(run.infinite_count),
    )


def _html_row(run: PluginRun) -> str:
    first, *others = _cells(run)
    cells = "".join(f"<td>{_text(cell)}</td>" for cell in others)
    return f"<tr><th scope='row' style='text-align:left'>{_text(first)}</th>{cells}</tr>"


def _svg_row(i: int, run: PluginRun, most: float) -> str:
    y = i * _ROW + 4
    room = _WIDTH - _LABEL - _FIGURE
    width = 0.0 if run.error or not most else room * run.run_time_s / most
    figure = "failed" if run.error else seconds_text(run.run_time_s)
    name = run.plugin if len(run.plugin) <= 22 else run.plugin[:21] + "…"  # noqa: PLR2004 - fits
    return (
        _svg_text(_LABEL - 8, y + 14, "end", name)
        + f'<rect x="{_LABEL}" y="{y + 2}" width="{width:.1f}" height="{_ROW - 6}" fill="#4c78a8"/>'
        + _svg_text(_LABEL + width + 6, y + 14, "start", figure)
    )


def _svg_text(x: float, y: int, anchor: str, words: str) -> str:
    place = f'x="{x:.1f}" y="{y}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor">{_text(words)}</text>'


def _bar(value: float, most: float) -> str:
    if not most:
        return ""
    eighths = max(1, round(_BAR * 8 * value / most))
    return "█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()


def _text(words: str) -> str:
    return html.escape(visible(words))
