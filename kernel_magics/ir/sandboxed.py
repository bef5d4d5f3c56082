"""What the child does to read a program: MLIR and its binding end their process on some."""

from collections.abc import Mapping, Sequence
from typing import Any

from kernel_magics.ir.context import new_context
from kernel_magics.ir.parse import bytecode
from kernel_magics.ir.source_message import read_source_message
from kernel_magics.ir.unit import read_unit


def parse_program(
    head: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """Reads a program as the kernel would: parsed, verified, printed and scanned."""
    unit = read_unit(read_source_message(head, blobs[0]), new_context())
    return {}, [bytecode(unit.module)] if head["wants_bytecode"] else []
