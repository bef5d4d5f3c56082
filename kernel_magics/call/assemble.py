"""A program in a module: the part that a call needs, with what its declarations mean."""

from dataclasses import dataclass, field

import jax

from kernel_magics import _jax_private
from kernel_magics.call.program import Program
from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.fingerprint import canonical_text, fingerprints, top_level_texts
from kernel_magics.ir.legalize import lower
from kernel_magics.ir.link import Target, link
from kernel_magics.ir.parse import parse
from kernel_magics.ir.preflight import SHOWN, Doubt, assess, needs_lapack, refusal
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex, scan
from kernel_magics.ir.targets import call_targets, served_declarations


@dataclass(slots=True)
class Assembled:
    """What calls have brought into a module so far."""

    entries: dict[Program, str] = field(default_factory=dict["Program", str])
    """Programs to the names of their entries."""
    known: dict[str, str] = field(default_factory=dict[str, str])
    """Fingerprints of functions to their names."""
    fingerprints: dict[str, str] = field(default_factory=dict[str, str])
    """The other way round."""
    doubts: dict[Program, tuple[str, ...]] = field(default_factory=dict["Program", tuple[str, ...]])
    """Programs to excerpts of their texts, and of those they use, that show what is unproven."""


def assemble(program: Program, target: Target, there: Assembled) -> str:
    """Links into the target what a call of the program needs; equal functions once.

    Args:
        program: The function to call, with static shapes unless they are refined later.
        target: The module that the call stands in.
        there: What earlier calls brought; added to.

    Returns:
        The name of the entry in the target, without `@`.

    Raises:
        PreflightError: The program cannot be compiled.
        LinkError: Its module attributes contradict those of the target.
    """
    known = there.entries.get(program)
    if known is not None:
        return known
    meanings = {binding.name: binding.program for binding in program.bindings}
    index = _read(program, target)
    found = assess(index, program.entry, bound=meanings, device_count=jax.device_count())
    if found.problems:
        raise refusal(program.entry, found.problems, program.source)
    doubts = [_excerpt(doubt, program.source) for doubt in found.doubts[:SHOWN]]
    if needs_lapack(index):
        _jax_private.initialize_lapack()
    bound = {
        name: assemble(meaning, target, there)
        for name, meaning in meanings.items()
        if name in index.by_name
    }
    texts = top_level_texts(index.module, canonical_text(index.module))
    prints = fingerprints(
        index, texts, {name: there.fingerprints.get(symbol, "") for name, symbol in bound.items()}
    )
    report = link(
        index.module,
        index,
        target,
        unit=repr(program),
        tag=program.source.tag,
        bound=bound,
        prints=prints,
    )
    for symbol in report.symbols:
        if symbol.fingerprint and symbol.why != "bound":
            there.known[symbol.fingerprint] = symbol.new_name
            there.fingerprints[symbol.new_name] = symbol.fingerprint
    for name, meaning in meanings.items():
        doubts += there.doubts[meaning] if name in bound else ()
    there.doubts[program] = tuple(dict.fromkeys(doubts))
    there.entries[program] = report[program.entry].new_name
    return there.entries[program]


def _excerpt(doubt: Doubt, source: Source) -> str:
    at = position(doubt.location, source) if doubt.location else None
    note = f"not proven: {doubt.form}"
    return source.excerpt(*at, note) if at else note


def _read(program: Program, target: Target) -> SymbolIndex:
    """What a program's entry uses, in the target's context, in ops that XLA takes."""
    index = scan(parse(program.source, target.module.context))
    served = served_declarations(index, {binding.name for binding in program.bindings})
    if served:
        call_targets(index, served)
        index = scan(index.module)
    return lower(index, program.entry)
