"""A program as read: its text, its module, and what stands at its top."""

from dataclasses import dataclass

from jax.extend.mlir import ir

from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex, scan


@dataclass(frozen=True, slots=True)
class ParsedUnit:
    """A verified program that has not been linked."""

    source: Source
    module: ir.Module
    index: SymbolIndex


def read_unit(source: Source, context: ir.Context) -> ParsedUnit:
    """Reads, verifies and scans a program.

    Raises:
        SourceError: It is not a program that we take.
    """
    module = parse(source, context)
    return ParsedUnit(source, module, scan(module))
