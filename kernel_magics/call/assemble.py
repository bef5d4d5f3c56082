"""A program in a module: the part that a call needs, with what its declarations mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernel_magics import _jax_private
from kernel_magics.call.placement import device_count
from kernel_magics.call.program import Program
from kernel_magics.call.served_ops import serve_calls
from kernel_magics.call.serving import served_targets
from kernel_magics.call.stand_ins import Site
from kernel_magics.errors import PreflightError
from kernel_magics.ir.checks_calls import DEEPEST, MOST_OPS, call_depth, expanded_ops
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
    depths: dict[Program, int] = field(default_factory=dict["Program", int])
    """Programs to how deep calls are nested below them."""
    sizes: dict[Program, int] = field(default_factory=dict["Program", int])
    """Programs to how many ops they are when each call is replaced by what it calls."""
    doubts: dict[Program, tuple[str, ...]] = field(default_factory=dict["Program", tuple[str, ...]])
    """Programs to excerpts of their texts, and of those they use, that show what is unproven."""
    site: Site = field(default_factory=Site)
    """Where the module is compiled."""


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
    if needs_lapack(index):
        _jax_private.initialize_lapack()
    index, fallbacks = serve_calls(index, program.entry, program.source, target, there.site)
    found = assess(
        index,
        program.entry,
        bound={*meanings, *fallbacks},
        device_count=device_count(),
        targets=served_targets(there.site.client) if _has_custom_calls(index) else None,
    )
    if found.problems:
        raise refusal(program.entry, found.problems, program.source)
    doubts = [_excerpt(doubt, program.source) for doubt in found.doubts[:SHOWN]]
    there.fingerprints |= {name: f"fallback {name}" for name in fallbacks.values()}
    bound = fallbacks | {
        name: assemble(meaning, target, there)
        for name, meaning in meanings.items()
        if name in index.by_name
    }
    _measure(program, index, {n: meanings[n] for n in bound if n in meanings}, there)
    for name, meaning in meanings.items():
        doubts += there.doubts[meaning] if name in bound else ()
    there.doubts[program] = tuple(dict.fromkeys(doubts))
    there.entries[program] = _linked(program, index, bound, target, there)
    return there.entries[program]


def _linked(
    program: Program,
    index: SymbolIndex,
    bound: Mapping[str, str],
    target: Target,
    there: Assembled,
) -> str:
    """Links what was read, but for what is there; gives the name of the entry."""
    texts = top_level_texts(index.module, canonical_text(index.module))
    known = {name: there.fingerprints.get(symbol, "") for name, symbol in bound.items()}
    report = link(
        index.module,
        index,
        target,
        unit=repr(program),
        tag=program.source.tag,
        bound=bound,
        prints=fingerprints(index, texts, known),
    )
    for symbol in report.symbols:
        if symbol.fingerprint and symbol.why != "bound":
            there.known[symbol.fingerprint] = symbol.new_name
            there.fingerprints[symbol.new_name] = symbol.fingerprint
    return report[program.entry].new_name


def _has_custom_calls(index: SymbolIndex) -> bool:
    return any(op.custom_calls for op in index.ops)


def _measure(
    program: Program, index: SymbolIndex, used: Mapping[str, Program], there: Assembled
) -> None:
    """Notes depth and size of a program, those that it uses included.

    Raises:
        PreflightError: XLA has no stack, or no memory, for so many calls.
    """
    below = max((there.depths[other] + 1 for other in used.values()), default=0)
    depth = there.depths[program] = call_depth(index, program.entry) + below
    elsewhere = {name: there.sizes[other] for name, other in used.items()}
    size = there.sizes[program] = expanded_ops(index, program.entry, elsewhere)
    if depth > DEEPEST or size > MOST_OPS:
        raise PreflightError(
            f"`@{program.entry}` cannot be compiled: with the units that it uses, calls are nested "
            f"{depth:,} deep and expand to {size:,} ops",
            details=[f"XLA has stack for {DEEPEST} calls, and room for {MOST_OPS:,} ops"],
            advice="Put a chain of calls into one function, or write a `stablehlo.while`.",
        )


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
