"""What is known of a plugin, as a value and as a table."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kernel_magics.characters import visible
from kernel_magics.sandbox.plugins import PluginFacts

State = Literal["found", "probed", "loaded", "in use", "no device", "broken", "forgotten"]

_HEAD = ("plugin", "state", "version", "PJRT", "devices", "memory in use", "source", "reason")
_LONGEST = 60
_FEW = 2


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """One plugin: the built-in CPU, one that was found, or one that was loaded."""

    name: str
    state: State
    source: str
    """Who offers it, in words."""
    version: str = ""
    """Of the package that brings it."""
    path: Path | None = None
    reason: str = ""
    """Why it is in this state, where that is not what one expects."""
    facts: PluginFacts | None = None
    """What it says of itself; None before it was probed or loaded."""
    memory_bytes: int | None = None
    """In use on its devices; None where it does not tell, and where it is not loaded."""
    options: tuple[tuple[str, object], ...] = ()
    """With which it was loaded."""
    notes: tuple[str, ...] = field(default=())

    @property
    def is_loaded(self) -> bool:
        """Whether work can be given to it."""
        return self.state in ("loaded", "in use")

    def __str__(self) -> str:
        shown = f"{self.name}: {self.state}"
        return visible(f"{shown} ({self.reason})" if self.reason else shown)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython's way
        """What a notebook shows: all that is known, a line each."""
        del cycle
        lines = [str(self), *(f"  {name}: {visible(words)}" for name, words in _known(self))]
        printer.text("\n".join(lines))


class PluginTable(Sequence[PluginInfo]):
    """Plugins, one a row."""

    def __init__(self, rows: Sequence[PluginInfo]) -> None:
        self._rows = tuple(rows)

    def __getitem__(self, key: int | str) -> PluginInfo:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A row, by place or by name."""
        if isinstance(key, int):
            return self._rows[key]
        for row in self._rows:
            if row.name == key:
                return row
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[PluginInfo]:
        return iter(self._rows)

    def __repr__(self) -> str:
        rows = [_HEAD, *(tuple(_cut(cell) for cell in _cells(row)) for row in self._rows)]
        used = [i for i in range(len(_HEAD)) if i < _FEW or any(row[i] for row in rows[1:])]
        widths = {i: max(len(row[i]) for row in rows) for i in used}
        lines = ["  ".join(row[i].ljust(widths[i]) for i in used).rstrip() for row in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{words}</th>" for words in _HEAD)
        rows = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in _cells(row))}</tr>"
            for row in self._rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def version_text(version: tuple[int, ...] | None) -> str:
    """`0.106`; empty where it is not known."""
    return ".".join(map(str, version)) if version else ""


def bytes_text(amount: int) -> str:
    """Three digits and a unit: `1.5 MiB`."""
    size = float(amount)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:  # noqa: PLR2004 - the step of the units
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


def devices_text(facts: PluginFacts | None) -> str:
    """`4 × cpu`; empty where it is not known."""
    if facts is None:
        return ""
    kinds = [device.kind for device in facts.devices]
    return ", ".join(f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds))


def _known(info: PluginInfo) -> Iterator[tuple[str, str]]:
    version = f" {info.version}" if info.version else ""
    yield "from", info.source + version
    if info.path is not None:
        yield "library", str(info.path)
    if info.options:
        yield "options", ", ".join(f"{name} = {value!r}" for name, value in info.options)
    if info.facts is not None:
        yield from _facts(info.facts)
    if info.memory_bytes is not None:
        yield "memory in use", bytes_text(info.memory_bytes)
    yield from (("note", note) for note in info.notes)


def _facts(facts: PluginFacts) -> Iterator[tuple[str, str]]:
    yield "devices", f"{devices_text(facts)}, platform {facts.platform}"
    if facts.pjrt_version:
        yield "PJRT", version_text(facts.pjrt_version)
    if facts.stablehlo_version:
        oldest = version_text(facts.stablehlo_oldest)
        newest = version_text(facts.stablehlo_version)
        yield "StableHLO", f"{oldest} to {newest}" if oldest else f"up to {newest}"
    if facts.ffi_version:
        yield "custom calls", f"FFI {version_text(facts.ffi_version)}"
    for name, has in facts.targets.items():
        yield f"target {name}", "there" if has else "missing"
    if facts.extensions:
        yield "extensions", ", ".join(facts.extensions)


def _cells(row: PluginInfo) -> tuple[str, ...]:
    memory = "" if row.memory_bytes is None else bytes_text(row.memory_bytes)
    pjrt = version_text(row.facts.pjrt_version) if row.facts else ""
    cells = (
        row.name,
        row.state,
        row.version,
        pjrt,
        devices_text(row.facts),
        memory,
        row.source,
        "; ".join(filter(None, [row.reason, *row.notes])),
    )
    return tuple(visible(cell) for cell in cells)


def _cut(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else cell[: _LONGEST - 2] + " …"
