"""What each op does, takes, and is told by attributes.

`python -m tests.op_docs.make_op_docs` writes the table.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from kernel_magics.ir.context import new_context


@dataclass(frozen=True, slots=True)
class OpDoc:
    """One kind of op."""

    name: str
    """With its dialect, such as `stablehlo.add`."""
    line: str
    """What it does, in a sentence."""
    operands: tuple[str, ...]
    attributes: tuple[str, ...]
    words: tuple[str, ...]
    """What its short form may hold besides: keywords, and values of enumerations."""

    @property
    def signature(self) -> str:
        """The op with its operands and attributes: `stablehlo.iota() {iota_dimension}`."""
        attributes = f" {{{', '.join(self.attributes)}}}" if self.attributes else ""
        return f"{self.name}({', '.join(self.operands)}){attributes}"


@lru_cache(maxsize=1)
def op_docs() -> Mapping[str, OpDoc]:
    """The ops that the jaxlib at hand knows, by name (a few ms once)."""
    text = files("kernel_magics.ir").joinpath("op_docs.json").read_text(encoding="utf-8")
    context = new_context()
    return MappingProxyType(
        {
            name: OpDoc(
                name,
                row["line"],
                tuple(row["operands"]),
                tuple(row["attributes"]),
                tuple(row["words"]),
            )
            for name, row in json.loads(text).items()
            if context.is_registered_operation(name)
        }
    )
