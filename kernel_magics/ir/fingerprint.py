"""A module's digest: what it says, not how it is spelled."""

import hashlib
from functools import lru_cache

from jax.extend.mlir import ir

from kernel_magics.ir.context import new_context
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex

SAMPLE = 4
"""Ops at the top whose text is part of a module's shape."""
SAMPLE_SIZE = 100
"""Largest of these, in ops inside: printing takes as long as parsing."""

Shape = tuple[object, ...]


def shape(index: SymbolIndex) -> Shape:
    """What equal modules have in common, at little cost; most that differ do so in it.

    Symbols with kinds and counts of the ops inside, and the text of a few small ones. To be
    asked before linking gives them other names.
    """
    outline = tuple((op.name, op.kind, *op.op_kinds.items()) for op in index.ops)
    small = [op.operation for op in index.ops if op.op_count <= SAMPLE_SIZE][:SAMPLE]
    return outline, tuple(_print(operation) for operation in small)


def digest(module: ir.Module) -> str:
    """The SHA-256 of a module in MLIR's canonical print, 64 hexadecimal digits.

    White space, comments, SSA names and locations do not count; symbol names, the order of
    functions and every attribute do. The same in every process for one version of jaxlib.
    Printing takes as long as parsing, so it is asked for only where it decides something.
    """
    text = _print(module.operation)
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


@lru_cache(maxsize=4096)
def source_digest(source: Source) -> str:
    """The digest of a program that has been read before."""
    return digest(parse(source, new_context()))


def _print(operation: ir.Operation) -> str:
    text = operation.get_asm(enable_debug_info=False, assume_verified=True, use_local_scope=True)
    # Public is what a function without a visibility is.
    return str(text).replace("func.func public @", "func.func @")
