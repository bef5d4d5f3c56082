"""The table of targets: who serves them, how often they were called, what went wrong last."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kernel_magics.characters import visible
from kernel_magics.custom_call.clients import IN_PROCESS, Reached
from kernel_magics.custom_call.registration import Registration
from kernel_magics.custom_call.slots import slots

_HEAD = ("target", "handler", "plugins", "calls", "mean", "errors", "fallback", "state", "contract",
         "last error")  # fmt: skip
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One registered target."""

    target: str
    handlers: tuple[str, ...]
    """Names of the code that serves it; none where only a fallback does."""
    plugins: tuple[str, ...]
    """Plugins that are here and where a handler serves."""
    calls: int
    errors: int
    mean_us: float | None
    """Of a call; None before the first."""
    last_error: str
    has_fallback: bool
    is_tried: bool
    """Whether each handler ran in a child first, or needs not."""
    contract: str
    """Empty where there is none."""
    blocks: tuple[str, ...]
    """Blocks and other targets that it is said to serve."""

    @property
    def state(self) -> str:
        """In words: `served`, `fallback`, `not tried`, `failing`."""
        if not self.handlers:
            return "fallback"
        if self.calls and self.calls == self.errors:
            return "failing"
        return "served" if self.is_tried else "not tried"


class TargetTable(Sequence[TargetRow]):
    """Targets, one a row."""

    def __init__(self, rows: Sequence[TargetRow]) -> None:
        self._rows = tuple(rows)

    def __getitem__(self, key: int | str) -> TargetRow:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A row, by place or by target."""
        if isinstance(key, int):
            return self._rows[key]
        for row in self._rows:
            if row.target == key:
                return row
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[TargetRow]:
        return iter(self._rows)

    def __repr__(self) -> str:
        if not self._rows:
            return "no custom calls are registered"
        rows = [_HEAD, *(tuple(_cut(cell) for cell in _cells(row)) for row in self._rows)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
        lines = (zip(row, widths, strict=True) for row in rows)
        return "\n".join("  ".join(c.ljust(w) for c, w in line).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{words}</th>" for words in _HEAD)
        rows = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in _cells(row))}</tr>"
            for row in self._rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def target_rows(
    registrations: Mapping[str, Registration],
    serves: Mapping[str, str],
    clients: Sequence[Reached],
) -> list[TargetRow]:
    """The rows of a table, by name.

    Args:
        registrations: Those to show.
        serves: Names to the targets that serve them.
        clients: Those that are known.
    """
    return [_row(known, serves, clients) for _, known in sorted(registrations.items())]


def _row(known: Registration, serves: Mapping[str, str], clients: Sequence[Reached]) -> TargetRow:
    stats = slots.stats(known.target).values()
    timed = [s for s in stats if s.mean_us is not None]
    calls = sum(s.calls for s in stats)
    # Calls that found no handler took no time; they are few, and few scopes have any.
    weight = sum(s.calls for s in timed)
    mean = sum((s.mean_us or 0) * s.calls for s in timed) / weight if weight else None
    return TargetRow(
        known.target,
        tuple(dict.fromkeys(served.handler.name for served in known.served)),
        _plugins(known, clients),
        calls,
        sum(s.errors for s in stats),
        mean,
        next((s.last_error for s in stats if s.last_error), ""),
        known.fallback is not None,
        known.is_tried,
        "" if known.contract is None else str(known.contract),
        tuple(sorted(name for name, target in serves.items() if target == known.target)),
    )


def _plugins(known: Registration, clients: Sequence[Reached]) -> tuple[str, ...]:
    found = ["cpu"] if known.handler_in_process() is not None else []
    for reached in clients:
        is_in_process = reached.scope == IN_PROCESS
        code = known.handler_for(reached.name, reached.platform, is_in_process=is_in_process)
        if code is not None and reached.takes_handlers:
            found.append(reached.name)
    return tuple(dict.fromkeys(found))


def _cells(row: TargetRow) -> tuple[str, ...]:
    cells = (
        row.target,
        ", ".join(row.handlers),
        ", ".join(row.plugins),
        f"{row.calls:,}",
        "" if row.mean_us is None else _time(row.mean_us),
        f"{row.errors:,}" if row.errors else "",
        "yes" if row.has_fallback else "",
        row.state,
        row.contract,
        row.last_error.split("\n", 1)[0],
    )
    return tuple(visible(cell) for cell in cells)


def _time(mean_us: float) -> str:
    return f"{mean_us:.3g} µs" if mean_us < 1000 else f"{mean_us / 1000:.3g} ms"  # noqa: PLR2004


def _cut(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else cell[: _LONGEST - 2] + " …"
