"""What the symbols of a session module do, and which units they are of."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from kernel_magics.ir.link_report import LinkedSymbol, LinkReport
from kernel_magics.session_units import SessionUnit


class SessionSymbols:
    """The symbols of a session module, by what they do.

    Attributes:
        known: Fingerprints to the names of symbols that may be used again.
        undefined: Names that units refer to and that nothing defines, to how many units.
    """

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.undefined: Counter[str] = Counter()
        self._fingerprints: dict[str, str] = {}
        self._owners: dict[str, dict[str, None]] = {}

    def put(self, unit: SessionUnit) -> None:
        """Notes what a unit has brought in, or uses again."""
        self.undefined.update(unit.report.undefined)
        for symbol in unit.report.symbols:
            if symbol.why == "bound":
                continue
            self._owners.setdefault(symbol.new_name, {})[unit.name] = None
            if symbol.fingerprint:
                self.known.setdefault(symbol.fingerprint, symbol.new_name)
                self._fingerprints[symbol.new_name] = symbol.fingerprint

    def pop(self, unit: SessionUnit) -> None:
        """Notes that symbols are a unit's no more; they are still there."""
        self.undefined = +(self.undefined - Counter(unit.report.undefined))
        for name in unit.merged_names:
            self._owners.get(name, {}).pop(unit.name, None)

    def forget(self, names: Iterable[str]) -> None:
        """Notes that symbols are there no more."""
        for name in names:
            self._owners.pop(name, None)
            self.known.pop(self._fingerprints.pop(name, ""), None)

    def fingerprint(self, name: str) -> str:
        """What a symbol does; empty where it is like no other."""
        return self._fingerprints.get(name, "")

    def owner(self, name: str) -> str:
        """The unit that has had a symbol the longest; empty where only old versions have it."""
        return next(iter(self._owners.get(name, ())), "")

    def credit(self, report: LinkReport, before: SessionUnit | None) -> LinkReport:
        """A report that names whose symbols serve; what the unit had before is still its own."""
        old = {} if before is None else {s.old_name: s for s in before.report.symbols}
        own = {s.new_name for s in report.symbols if s.why != "reused"}
        symbols: list[LinkedSymbol] = []
        for symbol in report.symbols:
            was = old.get(symbol.old_name)
            if symbol.why != "reused":
                symbols.append(symbol)
            elif was is not None and was.why != "bound" and was.new_name == symbol.new_name:
                symbols.append(replace(symbol, why=was.why, reused_from=was.reused_from))
            elif symbol.new_name in own:
                symbols.append(symbol)
            elif owner := self.owner(symbol.new_name):
                symbols.append(replace(symbol, reused_from=owner))
            else:
                # Its old version had it, under another name.
                own.add(symbol.new_name)
                why = "kept" if symbol.old_name == symbol.new_name else "renamed"
                symbols.append(replace(symbol, why=why, reused_from=""))
        return replace(report, symbols=tuple(symbols))
