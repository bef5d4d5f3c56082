"""One module into another: every top-level op moves, all names stay apart, nothing half done."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType

from jax.extend.mlir import ir

from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.fingerprint import Fingerprints
from kernel_magics.ir.link_report import LinkedSymbol, LinkReport, Why, reported
from kernel_magics.ir.module_attributes import Attributes, merge_attributes, read_attributes
from kernel_magics.ir.references import ReferenceReader, ReferenceRewriter
from kernel_magics.ir.symbols import SymbolIndex, TopLevelOp, rescan

_NOTHING: Mapping[str, str] = MappingProxyType({})

TAG_LENGTH = 4
"""Hexadecimal digits of the unit's tag in a fresh name; more where they are taken."""

# A function with this attribute is an entry by its dialect's rule, and does not verify otherwise.
_MPMD_ENTRY = "topology"


@dataclass(frozen=True, slots=True)
class Target:
    """The module that others are linked into."""

    module: ir.Module
    symbols: ir.SymbolTable
    reserved: Container[str] = ()
    """Names that count as taken although nothing bears them yet."""
    widen: bool = False
    """Whether partition and replica counts of the module may grow."""
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    """Fingerprints of symbols in the module, to their names: what may be used again."""

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
    prints: Fingerprints = _NOTHING,
) -> LinkReport:
    """Moves everything at the top of `incoming` into the target, as private symbols.

    A name that is free in the target stays; a taken one gets a suffix from the unit's tag,
    so it is the same in every process. So does what is referred to and defined nowhere, lest a
    symbol of another unit be meant. What does the same as a symbol of the target, or as one
    before it, does not move: the other serves. All references follow, those inside attributes
    too. Afterwards `incoming` is empty.

    Args:
        incoming: A verified module in the target's context.
        index: The scan of `incoming`.
        target: Where to; unchanged when this raises.
        unit: What to call the incoming module in errors and in the report.
        tag: Hexadecimal digits that come from the unit's content: what fresh names are made of.
        bound: Declarations of `incoming` that mean a function of the target: their name there
            to its name here. They do not move, their uses do follow.
        prints: What the symbols of `incoming` do; those without a fingerprint all move.

    Raises:
        LinkError: The attributes of the two modules contradict each other.

    Source: the "conflict" case of LLVM's IRMover, without type merging.
    """
    known, copies = find_equals(index, target.known, bound, prints)
    # All that is gone afterwards, but for what is equal to something in the same module.
    served = {**known, **bound}
    undefined = index.undefined()
    moving = [name for name in index.by_name if name not in served and name not in copies]
    names = _fresh_names([*moving, *undefined], {*index.by_name}, target, tag) | served
    names |= {copy: names.get(first, first) for copy, first in copies.items()}
    staying = [op for op in index.ops if op.name not in served and op.name not in copies]
    rewriter = ReferenceRewriter(names, target.module.context)
    added = merge_attributes(
        renamed_attributes(incoming, rewriter),
        read_attributes(target.module.operation),
        unit=unit,
        widen=target.widen,
    )
    rename(staying, names, rewriter)
    _hide(staying, ir.StringAttr.get("private", target.module.context))
    _move(index, target, staying, names)
    for name, value in added.items():
        target.module.operation.attributes[name] = value
    reports = _reports(index, names, prints, unit, reused={**known, **copies}, bound=bound)
    return LinkReport(unit, reports, undefined=tuple(names.get(name, name) for name in undefined))


def _reports(
    index: SymbolIndex,
    names: Mapping[str, str],
    prints: Fingerprints,
    unit: str,
    *,
    reused: Container[str],
    bound: Container[str],
) -> tuple[LinkedSymbol, ...]:
    counts = index.count_uses()

    def why(name: str) -> Why | None:
        if name in bound:
            return "bound"
        return "reused" if name in reused else None

    return tuple(
        reported(op, names, counts, why(name), prints.get(name, ""), unit)
        for name, op in index.by_name.items()
    )


def renamed_attributes(module: ir.Module, rewriter: ReferenceRewriter) -> Attributes:
    """The attributes of a module with other names for the symbols that they refer to."""
    reader = ReferenceReader()
    found = read_attributes(module.operation)
    return {name: rewriter.rewrite(value, reader.read(value)) for name, value in found.items()}


def find_equals(
    index: SymbolIndex, present: Mapping[str, str], bound: Container[str], prints: Fingerprints
) -> tuple[dict[str, str], dict[str, str]]:
    """Symbols of a module that others do the work of.

    Args:
        index: The scan of the module.
        present: Fingerprints of symbols elsewhere, to their names.
        bound: Symbols of the module that are left out.
        prints: The fingerprints of its symbols.

    Returns:
        Those that one elsewhere is equal to, to its name; and those that one before them in the
        same module is equal to, to its name.
    """
    known: dict[str, str] = {}
    copies: dict[str, str] = {}
    first: dict[str, str] = {}
    for name in index.by_name:
        mark = prints.get(name)
        if not mark or name in bound:
            continue
        if mark in present:
            known[name] = present[mark]
        elif first.setdefault(mark, name) != name:
            copies[name] = first[mark]
    return known, copies


def _move(
    index: SymbolIndex, target: Target, staying: Iterable[TopLevelOp], names: Mapping[str, str]
) -> None:
    """Moves what stays; the rest goes, and whoever asks for it finds what serves instead."""
    moved: set[int] = set()
    for op in staying:
        moved.add(id(op))
        target.module.body.append(op.operation)
        if op.name is not None:
            target.symbols.insert(op.operation)
    for op in index.ops:
        if id(op) not in moved:
            assert op.name is not None
            op.operation.erase()
            op.operation = target.symbols[names[op.name]].operation


def _fresh_names(moving: Iterable[str], used: set[str], target: Target, tag: str) -> dict[str, str]:
    """Old name to new name, for what moves and has a name that is taken in the target."""
    taken = [name for name in moving if target.is_taken(name)]
    names: dict[str, str] = {}
    suffix = tag[:TAG_LENGTH]
    for name in taken:
        fresh = f"{name}_{suffix}"
        if fresh in used or target.is_taken(fresh):
            fresh = next(n for n in _longer(name, tag) if n not in used and not target.is_taken(n))
        names[name] = fresh
        used.add(fresh)
    return names


def _longer(name: str, tag: str) -> Iterator[str]:
    yield from (f"{name}_{tag[:length]}" for length in range(2 * TAG_LENGTH, len(tag), TAG_LENGTH))
    yield from (f"{name}_{tag}_{number}" for number in count())


def rename(
    ops: Iterable[TopLevelOp], names: Mapping[str, str], rewriter: ReferenceRewriter
) -> None:
    """Gives symbols new names, in definitions and in all uses by these ops."""
    for op in ops:
        if op.is_copy:
            rescan(op)
        rename_uses(op, names, rewriter)
        if op.name is not None and op.name in names:
            fresh = ir.StringAttr.get(names[op.name], op.operation.context)
            op.operation.attributes["sym_name"] = fresh


def rename_uses(op: TopLevelOp, names: Mapping[str, str], rewriter: ReferenceRewriter) -> None:
    """Gives new names to what an op refers to."""
    for use in op.uses:
        if not names.keys().isdisjoint(use.symbols):
            fresh = rewriter.rewrite(use.value, use.symbols)
            use.operation.attributes[use.attribute] = fresh


def _hide(ops: Iterable[TopLevelOp], private: ir.StringAttr) -> None:
    for op in ops:
        if op.name is None or op.is_private:
            continue
        attributes = op.operation.attributes
        if _MPMD_ENTRY not in attributes:
            attributes["sym_visibility"] = private
