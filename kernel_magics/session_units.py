"""One unit of a session: its program, what linking did, and the functions it brought."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from jax.extend.mlir import ir

from kernel_magics.call.function import HloFunction, Version
from kernel_magics.call.program import Binding, Program
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.functions import unit_graph
from kernel_magics.ir.link_report import LinkReport
from kernel_magics.ir.module_attributes import Attributes
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex
from kernel_magics.ir.unit import ParsedUnit

_NONE: Mapping[str, Version] = MappingProxyType({})


@dataclass(frozen=True)
class SessionUnit:
    """What one cell brought into the session module."""

    name: str
    source: Source
    index: SymbolIndex = field(repr=False)
    """The scan from before it was linked; its ops live in the session module."""
    report: LinkReport
    functions: Mapping[str, HloFunction]
    """The public functions, under the names their author gave."""
    entry: str | None
    """The author's name of the function that the unit is called by."""
    serial: int
    """Grows with each definition: where names meet, the highest wins."""
    attributes: Attributes = field(repr=False)
    """Those of the unit's own module."""
    is_offer: bool = False
    """Whether it is a JAX function that programs may declare: any other definition goes first."""
    nameless: tuple[ir.Operation, ...] = field(default=(), repr=False)
    """Its ops at the top of the session module that are no symbols, in order."""

    @cached_property
    def graph(self) -> FunctionGraph:
        """Its functions, under the names that linking gave them."""
        return unit_graph(self.index, self.source, self.report, self.entry)

    @property
    def text(self) -> str | None:
        """The author's text; None where there were only bytes."""
        return self.source.content if isinstance(self.source.content, str) else None

    @property
    def merged_names(self) -> set[str]:
        """The symbols of the session module that are its own, or shared with equal units."""
        return {symbol.new_name for symbol in self.report.symbols if symbol.why != "bound"}

    def is_bound_to(self, other: "SessionUnit") -> bool:
        """Whether a declaration of this unit means a function of another."""
        return not other.merged_names.isdisjoint(self.report.bound.values())


def make_unit(
    unit: ParsedUnit,
    report: LinkReport,
    entry: str | None,
    serial: int,
    own: Attributes,
    bindings: tuple[Binding, ...] = (),
    *,
    versions: Mapping[str, Version] = _NONE,
    is_offer: bool = False,
) -> SessionUnit:
    """A unit with a function for each public one of its program, and for its entry.

    Args:
        unit: The program.
        report: What linking it did.
        entry: The author's name of the function it is called by.
        serial: Higher than those of all units before.
        own: The attributes of the program's module.
        bindings: What its declarations mean.
        versions: Those of functions that say what the unit's old version said.
        is_offer: Whether it is a JAX function on offer.
    """
    names = [op.name for op in unit.index.public_functions() if op.name is not None]
    if entry is not None and entry not in names:
        names.append(entry)
    return SessionUnit(
        name=report.unit,
        source=unit.source,
        index=unit.index,
        report=report,
        functions={
            key: HloFunction(
                Program(unit.source, key, bindings), report=report, version=versions.get(key)
            )
            for key in names
        },
        entry=entry,
        serial=serial,
        attributes=own,
        is_offer=is_offer,
        nameless=tuple(op.operation for op in unit.index.ops if op.name is None),
    )
