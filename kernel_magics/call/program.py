"""One function of one program, as a value: what a call of it carries through JAX's traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import jax
from jax.extend.mlir import ir

from kernel_magics.ir.arguments import check_arguments, check_callable
from kernel_magics.ir.closure import keep_reachable
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import MAIN, named_entry
from kernel_magics.ir.parse import parse
from kernel_magics.ir.preflight import preflight
from kernel_magics.ir.refine import refine
from kernel_magics.ir.signature import Signature, read_signature
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex, scan
from kernel_magics.ir.unit import ParsedUnit, read_unit

Avals = tuple[jax.core.ShapedArray, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function and the program it stands in; equal when digest and entry are."""

    source: Source
    digest: str
    entry: str
    signature: Signature

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self.digest == other.digest and self.entry == other.entry

    def __hash__(self) -> int:
        return hash((self.digest, self.entry))

    def __repr__(self) -> str:
        """Short and the same in every process: jaxprs print it."""
        return f"@{self.entry}_{self.digest[:4]}"


@dataclass(frozen=True, slots=True)
class Slice:
    """What a call needs of a program, in a context where it is about to be linked."""

    module: ir.Module
    index: SymbolIndex
    entry: str


def read_program(source: Source, entry: str) -> Program:
    """The program of one function of a text that belongs to no session.

    Raises:
        SourceError: It is not a program that we take.
        EntryError: It has no such function.
    """
    return program_of(read_unit(source, new_context()), entry)


def program_of(unit: ParsedUnit, entry: str) -> Program:
    """The program of one function of a unit that has been read.

    Raises:
        EntryError: The unit has no such function.
    """
    op = named_entry(unit.index, entry, unit.source)
    assert op.name is not None
    return Program(unit.source, unit.digest, op.name, read_signature(op, unit.source))


def result_avals(program: Program, avals: Avals) -> list[jax.core.ShapedArray]:
    """Checks a call and tells the abstract values of its results.

    Raises:
        SignatureError: The arguments do not fit, or the function's types are not JAX's.
        PrecisionError: 64-bit types while `jax_enable_x64` is off.
    """
    check_callable(program.signature, program.source)
    check_arguments(program.signature, avals, program.source)
    types = _refined(program, avals)[1] if program.signature.is_dynamic else program.signature.results
    results: list[jax.core.ShapedArray] = []
    for kind in types:
        assert kind.shape is not None
        results.append(jax.core.ShapedArray(kind.shape, kind.dtype))  # pyright: ignore
    return results


def slice_for(program: Program, avals: Sequence[jax.core.ShapedArray], context: ir.Context) -> Slice:
    """Reads what a call needs into `context`, with static shapes, fit for the compiler.

    Raises:
        PreflightError: The program cannot be compiled.
    """
    source, entry = program.source, program.entry
    if program.signature.is_dynamic:
        content, _ = _refined(program, tuple(avals))
        source, entry = Source(content, source.name), MAIN
    module = parse(source, context)
    index = scan(module)
    preflight(index, entry, source)
    return Slice(module, keep_reachable(module, index, entry), entry)


@lru_cache(maxsize=256)
def _refined(program: Program, avals: Avals):
    content = refine(program.source, program.entry, avals)
    source = Source(content, program.source.name)
    return content, read_program(source, MAIN).signature.results
