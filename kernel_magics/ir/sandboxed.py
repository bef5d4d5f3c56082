"""What the child does to read a program: MLIR and its binding end their process on some."""

from collections.abc import Mapping, Sequence
from typing import Any

from jax.extend.mlir import ir

from kernel_magics.errors import SourceError
from kernel_magics.ir.context import new_context
from kernel_magics.ir.parse import bytecode
from kernel_magics.ir.source_message import error_message, read_source_message
from kernel_magics.ir.unit import read_unit


def parse_program(
    head: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """Reads a program as the kernel would: parsed, verified, printed and scanned.

    The kernel reads what is written here: bytes of strangers can spoil the memory of their
    reader without ending it.
    """
    try:
        unit = read_unit(read_source_message(head, blobs[0]), new_context())
    except SourceError as error:
        return {"error": error_message(error)}, []
    return {}, [_again(unit.module) or blobs[0]]


def _again(module: ir.Module) -> bytes | None:
    """A module as bytecode, if it can be read from that.

    Portable artifacts may hold types of a dialect that only their own reader brings along.
    """
    content = bytecode(module)
    try:
        ir.Module.parse(content, new_context())
    except ir.MLIRError:
        return None
    return content
