"""What the child does to read a program: MLIR and its binding end their process on some."""

from collections.abc import Mapping, Sequence
from typing import Any

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
    return {}, [bytecode(unit.module)]
