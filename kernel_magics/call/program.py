"""One function of one program, as a value: what a call of it carries through JAX's traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from jax.core import ShapedArray
from jax.extend.mlir import ir

from kernel_magics.ir.arguments import check_arguments, check_callable
from kernel_magics.ir.closure import keep_reachable
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import MAIN, named_entry
from kernel_magics.ir.fingerprint import digest
from kernel_magics.ir.link import TAG_LENGTH
from kernel_magics.ir.parse import parse
from kernel_magics.ir.preflight import preflight
from kernel_magics.ir.refine import refine
from kernel_magics.ir.signature import Signature, read_signature
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex, scan
from kernel_magics.ir.types import TensorType
from kernel_magics.ir.unit import ParsedUnit, read_unit

Avals = tuple[ShapedArray, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function and the program it stands in; equal when they say the same.

    Cheap to make: what is known of it is read from its source when first asked for.
    """

    source: Source
    entry: str

    @property
    def signature(self) -> Signature:
        """Arguments and results."""
        return _signature(self.source, self.entry)

    @property
    def digest(self) -> str:
        """What the whole program says, not how it is spelled."""
        return _digest(self.source)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self.entry == other.entry and self.digest == other.digest

    def __hash__(self) -> int:
        return hash((self.entry, self.digest))

    def __repr__(self) -> str:
        """Short and the same in every process: jaxprs print it."""
        return f"@{self.entry}_{self.source.tag[:TAG_LENGTH]}"


@dataclass(frozen=True, slots=True)
class Slice:
    """What a call needs of a program, in a context where it is about to be linked."""

    module: ir.Module
    index: SymbolIndex
    entry: str


def read_program(source: Source, entry: str) -> Program:
    """The program of one function of a text.

    Raises:
        SourceError: It is not a program that we take.
        EntryError: It has no such function.
    """
    op = named_entry(_read(source).index, entry, source)
    assert op.name is not None
    return Program(source, op.name)


def result_avals(program: Program, avals: Avals) -> list[ShapedArray]:
    """Checks a call and tells the abstract values of its results.

    Raises:
        SignatureError: The arguments do not fit, or the function's types are not JAX's.
        PrecisionError: 64-bit types while `jax_enable_x64` is off.
    """
    check_callable(program.signature, program.source)
    check_arguments(program.signature, avals, program.source)
    types = (
        _refined(program, avals)[1] if program.signature.is_dynamic else program.signature.results
    )
    results: list[ShapedArray] = []
    for kind in types:
        assert kind.shape is not None
        results.append(ShapedArray(kind.shape, kind.dtype))  # pyright: ignore[reportArgumentType]
    return results


def slice_for(program: Program, avals: Sequence[ShapedArray], context: ir.Context) -> Slice:
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


@lru_cache(maxsize=4)
def _read(source: Source) -> ParsedUnit:
    return read_unit(source, new_context())


@lru_cache(maxsize=4096)
def _signature(source: Source, entry: str) -> Signature:
    return read_signature(_read(source).index.by_name[entry], source)


@lru_cache(maxsize=4096)
def _digest(source: Source) -> str:
    return digest(_read(source).module)


@lru_cache(maxsize=256)
def _refined(program: Program, avals: Avals) -> tuple[bytes, tuple[TensorType, ...]]:
    content = refine(program.source, program.entry, avals)
    return content, read_program(Source(content, program.source.name), MAIN).signature.results
