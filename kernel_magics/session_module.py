"""The one MLIR module of a session: units are linked into it and erased from it."""

from collections.abc import Iterable, Mapping, Sequence

from jax.extend.mlir import ir

from kernel_magics.ir.context import new_context
from kernel_magics.ir.fingerprint import Fingerprints
from kernel_magics.ir.link import Target, link
from kernel_magics.ir.link_report import LinkReport
from kernel_magics.ir.module_attributes import Attributes
from kernel_magics.ir.unit import ParsedUnit
from kernel_magics.session_symbols import SessionSymbols


class SessionModule:
    """A module in a context of its own, and the table of its symbols."""

    def __init__(self, module: ir.Module | None = None) -> None:
        """Takes a module over, or begins with an empty one."""
        self.module = module or ir.Module.create(ir.Location.unknown(new_context()))
        self.context: ir.Context = self.module.context
        self._symbols = ir.SymbolTable(self.module.operation)

    def link(
        self,
        unit: ParsedUnit,
        name: str,
        bound: Mapping[str, str],
        prints: Fingerprints,
        symbols: SessionSymbols,
    ) -> LinkReport:
        """Moves a unit's ops in; see `kernel_magics.ir.link.link`."""
        return link(
            unit.module,
            unit.index,
            Target(
                self.module,
                self._symbols,
                reserved=symbols.undefined,
                widen=True,
                known=symbols.known,
            ),
            unit=name,
            tag=unit.source.tag,
            bound=bound,
            prints=prints,
        )

    def erase(self, symbols: Iterable[str], nameless: Sequence[ir.Operation] = ()) -> None:
        """Takes symbols out that nothing uses, and ops that are no symbols."""
        for symbol in symbols:
            self._symbols.erase(self._symbols[symbol])
        # The last first: an op may use the values of those before it.
        for operation in reversed(nameless):
            operation.erase()

    def set_attributes(self, attributes: Attributes) -> None:
        """Gives the module these attributes and no others."""
        held = self.module.operation.attributes
        for name in list(held):
            del held[name]
        for name, value in attributes.items():
            held[name] = value

    def text(self, elide: int | None = None) -> str:
        """MLIR text; constants of more than `elide` elements are shortened."""
        operation = self.module.operation
        return str(operation.get_asm(assume_verified=True, large_elements_limit=elide))
