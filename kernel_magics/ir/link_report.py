"""What linking did to a unit, symbol by symbol."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kernel_magics.characters import visible_lines
from kernel_magics.ir.symbols import SymbolIndex, TopLevelOp

Why = Literal["kept", "renamed", "reused", "bound"]


@dataclass(frozen=True, slots=True)
class LinkedSymbol:
    """What became of one symbol of the incoming module."""

    old_name: str
    """As its author wrote it, without `@`."""
    new_name: str
    """In the module it was linked into, without `@`."""
    why: Why
    kind: str
    """The op that defines it, such as `func.func` or `sdy.mesh`."""
    uses: int
    """References to it in the incoming module, all of which now say `new_name`."""
    is_public: bool
    """Whether its author left it public; in the linked module everything is private."""
    op_count: int = 0
    """Ops inside, at any depth."""
    fingerprint: str = ""
    """Equal for symbols that do the same, whatever they are called; empty where it is not known,
    and for what is never shared."""
    reused_from: str = ""
    """The unit whose equal symbol serves; empty unless it was reused."""


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What linking one unit did, symbol by symbol, in module order."""

    unit: str
    symbols: tuple[LinkedSymbol, ...]
    notes: tuple[str, ...] = ()
    """What the unit does not say any more that its source said, such as layouts of HLO."""
    relinked: tuple[str, ...] = ()
    """Units bound to what this one replaced, that now use its new version."""
    undefined: tuple[str, ...] = ()
    """Names in the linked module that the unit refers to and that nothing defines."""
    outdated: tuple[str, ...] = ()
    """Units bound to what this one replaced, whose declarations do not fit the new version."""

    @classmethod
    def unlinked(cls, unit: str, index: SymbolIndex) -> "LinkReport":
        """The report of a program that stands by itself: every name is kept."""
        counts = index.count_uses()
        return cls(unit, tuple(reported(op, {}, counts) for op in index.by_name.values()))

    def __getitem__(self, old_name: str) -> LinkedSymbol:
        """The symbol that the author called `old_name`."""
        for symbol in self.symbols:
            if symbol.old_name == old_name:
                return symbol
        raise KeyError(old_name)

    @property
    def bound(self) -> dict[str, str]:
        """Declarations of this unit, to the symbols of the linked module that they mean."""
        return {s.old_name: s.new_name for s in self.symbols if s.why == "bound"}

    @property
    def reused(self) -> dict[str, str]:
        """Symbols that came in but did not move, to the equal ones that serve."""
        return {s.old_name: s.new_name for s in self.symbols if s.why == "reused"}

    @property
    def reused_from(self) -> str:
        """The unit that serves for all of this one; empty where there is none."""
        units = {s.reused_from for s in self.symbols if s.why != "bound"}
        return units.pop() if len(units) == 1 else ""

    @property
    def ops_saved(self) -> int:
        """Ops that the linked module does without, for equal ones were there."""
        return sum(s.op_count for s in self.symbols if s.why == "reused")

    @property
    def renamed(self) -> dict[str, str]:
        """Old name to new name, for the symbols whose name changed."""
        return {s.old_name: s.new_name for s in self.symbols if s.old_name != s.new_name}

    @property
    def uses_rewritten(self) -> int:
        """How many references now say another name."""
        return sum(s.uses for s in self.symbols if s.old_name != s.new_name)

    def __str__(self) -> str:
        rows = [
            (f"@{s.old_name}", f"@{s.new_name}", _why(s), s.kind, _counted(s.uses, "use"))
            for s in self.symbols
        ]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
        uses = _counted(self.uses_rewritten, "use")
        saved = f", {_counted(self.ops_saved, 'op')} saved" if self.ops_saved else ""
        head = f"{self.unit}: {_counted(len(rows), 'symbol')}, {uses} rewritten{saved}"
        lines = [head, *self.notes]
        lines += [
            "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return visible_lines("\n".join(lines))


def reported(
    op: TopLevelOp,
    names: Mapping[str, str],
    counts: Mapping[str, int],
    why: Why | None = None,
    fingerprint: str = "",
    unit: str = "",
) -> LinkedSymbol:
    """What became of one op; by its name whether it was kept or renamed, unless that is said."""
    assert op.name is not None
    return LinkedSymbol(
        old_name=op.name,
        new_name=names.get(op.name, op.name),
        why=why or ("renamed" if op.name in names else "kept"),
        kind=op.kind,
        uses=counts[op.name],
        is_public=not op.is_private,
        op_count=op.op_count,
        fingerprint=fingerprint,
        reused_from=unit if why == "reused" else "",
    )


def _why(symbol: LinkedSymbol) -> str:
    return f"{symbol.why} from {symbol.reused_from}" if symbol.reused_from else symbol.why


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
