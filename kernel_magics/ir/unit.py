"""A program as read: its text, its module, and what stands at its top."""

from dataclasses import dataclass

from jax.extend.mlir import ir

from kernel_magics.errors import FormatError
from kernel_magics.ir.fingerprint import canonical_text, top_level_texts
from kernel_magics.ir.hlo import conversion_notes
from kernel_magics.ir.module_attributes import read_attributes
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex, scan


@dataclass(frozen=True, slots=True)
class ParsedUnit:
    """A verified program that has not been linked."""

    source: Source
    module: ir.Module
    index: SymbolIndex
    canonical: str
    """The module as MLIR prints it, without locations."""
    texts: tuple[str, ...]
    """What each op at the top says, but for its own name."""
    notes: tuple[str, ...] = ()
    """What the module does not say any more that its source said, in sentences."""


def read_unit(source: Source, context: ir.Context) -> ParsedUnit:
    """Reads, verifies and scans a program.

    Raises:
        SourceError: It is not a program that we take.
    """
    return scanned(source, parse(source, context))


def scanned(source: Source, module: ir.Module) -> ParsedUnit:
    """Scans a program that was read.

    Raises:
        FormatError: It has a name that is no text.
    """
    canonical = canonical_text(module)
    texts = tuple(top_level_texts(module, canonical))
    try:
        index = scan(module, texts)
        read_attributes(module.operation)
    except RuntimeError as error:
        # The binding makes Python strings of names, and MLIR takes any bytes for a name.
        raise FormatError(
            f"The {source.name} has a symbol, an attribute or a custom-call target whose name is "
            "not UTF-8",
            details=[str(error).split("\n")[-1]],
            advice="Give it a name that is text.",
        ) from error
    except TypeError as error:
        # The binding has no class for constants of complex numbers and of small floats.
        raise FormatError(
            f"The {source.name} has a module attribute that cannot be carried over",
            details=[str(error).split("\n")[-1]],
            advice="Remove attributes of the module that hold complex numbers or small floats.",
        ) from error
    return ParsedUnit(source, module, index, canonical, texts, conversion_notes(source))
