"""One module into another: every top-level op moves, all names stay apart, nothing half done."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Literal

from jax.extend.mlir import ir

from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.module_attributes import merge_attributes, read_attributes
from kernel_magics.ir.references import ReferenceReader, ReferenceRewriter
from kernel_magics.ir.symbols import SymbolIndex, TopLevelOp

_NOTHING: Mapping[str, str] = MappingProxyType({})

Why = Literal["kept", "renamed", "reused", "bound"]

TAG_LENGTH = 4
"""Hexadecimal digits of the unit's tag in a fresh name; more where they are taken."""

# A function with this attribute is an entry by its dialect's rule, and does not verify otherwise.
_MPMD_ENTRY = "topology"


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


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What linking one unit did, symbol by symbol, in module order."""

    unit: str
    symbols: tuple[LinkedSymbol, ...]
    reused_from: str = ""
    """The unit whose equal content serves this one; empty where nothing was reused."""
    notes: tuple[str, ...] = ()
    """What the unit does not say any more that its source said, such as layouts of HLO."""
    relinked: tuple[str, ...] = ()
    """Units bound to what this one replaced, that now use its new version."""
    outdated: tuple[str, ...] = ()
    """Units bound to what this one replaced, whose declarations do not fit the new version."""

    @classmethod
    def unlinked(cls, unit: str, index: SymbolIndex) -> "LinkReport":
        """The report of a program that stands by itself: every name is kept."""
        counts = _count_uses(index)
        return cls(unit, tuple(_report(op, {}, counts) for op in index.by_name.values()))

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
    def renamed(self) -> dict[str, str]:
        """Old name to new name, for the symbols whose name changed."""
        return {s.old_name: s.new_name for s in self.symbols if s.old_name != s.new_name}

    @property
    def uses_rewritten(self) -> int:
        """How many references now say another name."""
        return sum(s.uses for s in self.symbols if s.old_name != s.new_name)

    def __str__(self) -> str:
        rows = [
            (f"@{s.old_name}", f"@{s.new_name}", s.why, s.kind, _counted(s.uses, "use"))
            for s in self.symbols
        ]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
        uses = _counted(self.uses_rewritten, "use")
        lines = [f"{self.unit}: {_counted(len(rows), 'symbol')}, {uses} rewritten", *self.notes]
        lines += [
            "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Target:
    """The module that others are linked into."""

    module: ir.Module
    symbols: ir.SymbolTable
    reserved: Container[str] = ()
    """Names that count as taken although nothing bears them yet."""
    widen: bool = False
    """Whether partition and replica counts of the module may grow."""

    def is_taken(self, name: str) -> bool:
        """Whether a symbol may not come in under this name."""
        return name in self.reserved or name in self.symbols


@without_collections()
def link(
    incoming: ir.Module,
    index: SymbolIndex,
    target: Target,
    *,
    unit: str,
    tag: str,
    bound: Mapping[str, str] = _NOTHING,
) -> LinkReport:
    """Moves everything at the top of `incoming` into the target, as private symbols.

    A name that is free in the target stays; a taken one gets a suffix from the unit's tag,
    so it is the same in every process. All references follow, those inside attributes too.
    Afterwards `incoming` is empty.

    Args:
        incoming: A verified module in the target's context.
        index: The scan of `incoming`.
        target: Where to; unchanged when this raises.
        unit: What to call the incoming module in errors and in the report.
        tag: Hexadecimal digits that come from the unit's content: what fresh names are made of.
        bound: Declarations of `incoming` that mean a function of the target: their name there
            to its name here. They do not move, their uses do follow.

    Raises:
        LinkError: The attributes of the two modules contradict each other.

    Source: the "conflict" case of LLVM's IRMover, without type merging.
    """
    added = merge_attributes(
        read_attributes(incoming.operation),
        read_attributes(target.module.operation),
        unit=unit,
        widen=target.widen,
    )
    names = _fresh_names(index, target, tag, bound)
    rewriter = ReferenceRewriter(names, target.module.context)
    rename(index, names, rewriter)
    _hide(index, ir.StringAttr.get("private", target.module.context))
    counts = _count_uses(index)
    _move(index, target, bound)
    for name, value in added.items():
        symbols = ReferenceReader().read(value)
        target.module.operation.attributes[name] = rewriter.rewrite(value, symbols)
    symbols = (_report(op, names, counts, bound) for op in index.by_name.values())
    return LinkReport(unit, tuple(symbols))


def _move(index: SymbolIndex, target: Target, bound: Mapping[str, str]) -> None:
    for op in index.ops:
        if op.name in bound:
            op.operation.erase()
            continue
        target.module.body.append(op.operation)
        if op.name is not None:
            target.symbols.insert(op.operation)


def _fresh_names(
    index: SymbolIndex, target: Target, tag: str, bound: Mapping[str, str]
) -> dict[str, str]:
    """Old name to new name, for what is bound and for symbols whose name is taken."""
    taken = [name for name in index.by_name if name not in bound and target.is_taken(name)]
    used = set(index.by_name)
    names: dict[str, str] = {}
    suffix = tag[:TAG_LENGTH]
    for name in taken:
        fresh = f"{name}_{suffix}"
        if fresh in used or target.is_taken(fresh):
            fresh = next(n for n in _longer(name, tag) if n not in used and not target.is_taken(n))
        names[name] = fresh
        used.add(fresh)
    return {**names, **bound}


def _longer(name: str, tag: str) -> Iterator[str]:
    yield from (f"{name}_{tag[:length]}" for length in range(2 * TAG_LENGTH, len(tag), TAG_LENGTH))
    yield from (f"{name}_{tag}_{number}" for number in count())


def rename(index: SymbolIndex, names: Mapping[str, str], rewriter: ReferenceRewriter) -> None:
    """Gives the symbols of a scanned module new names, in definitions and in all uses."""
    for op in index.ops:
        for use in op.uses:
            if not names.keys().isdisjoint(use.symbols):
                fresh = rewriter.rewrite(use.value, use.symbols)
                use.operation.attributes[use.attribute] = fresh
        if op.name is not None and op.name in names:
            fresh = ir.StringAttr.get(names[op.name], op.operation.context)
            op.operation.attributes["sym_name"] = fresh


def _hide(index: SymbolIndex, private: ir.StringAttr) -> None:
    for op in index.by_name.values():
        if op.is_private:
            continue
        attributes = op.operation.attributes
        if _MPMD_ENTRY not in attributes:
            attributes["sym_visibility"] = private


def _count_uses(index: SymbolIndex) -> dict[str, int]:
    counts = dict.fromkeys(index.by_name, 0)
    for op in index.ops:
        for (symbol, _), uses in op.references.items():
            if symbol in counts:
                counts[symbol] += uses
    return counts


def _report(
    op: TopLevelOp,
    names: Mapping[str, str],
    counts: Mapping[str, int],
    bound: Mapping[str, str] = _NOTHING,
) -> LinkedSymbol:
    assert op.name is not None
    why: Why = "renamed" if op.name in names else "kept"
    return LinkedSymbol(
        old_name=op.name,
        new_name=names.get(op.name, op.name),
        why="bound" if op.name in bound else why,
        kind=op.kind,
        uses=counts[op.name],
        is_public=not op.is_private,
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
