"""What the child does to read a program: MLIR ends its process on some."""

from collections.abc import Mapping, Sequence
from typing import Any

from kernel_magics.ir.context import new_context
from kernel_magics.ir.fingerprint import canonical_text
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source_message import read_source_message


def parse_program(
    head: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """Reads a program, and prints it, as the kernel does with what was read."""
    canonical_text(parse(read_source_message(head, blobs[0]), new_context()))
    return {}, []
