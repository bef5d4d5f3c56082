"""Symbol references inside attributes: found at any depth, and rewritten.

`FlatSymbolRefAttr`, `SymbolRefAttr`, arrays and dictionaries are taken apart here. Attributes
of other dialects (`#sdy.sharding<@mesh, …>`) have no Python classes; their printed form tells
which symbols they may name, and MLIR's own replacer, which sees inside them, rewrites them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import cast

from jax.extend.mlir import ir

_SYMBOL_IN_TEXT = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_][\w$.-]*))')
_WITHOUT_CLASS = re.compile(r"complex<|f[468]E")
_SYMBOL_OR_STRING = re.compile(_SYMBOL_IN_TEXT.pattern + r'|"(?:[^"\\]|\\.)*"')
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|[\\\"nt])")
_NAMED_ESCAPES = {b"\\": b"\\", b'"': b'"', b"n": b"\n", b"t": b"\t"}

# Attributes that hold no symbol: asking each for its text would print constants of megabytes.
_PLAIN = frozenset(
    (
        ir.StringAttr,
        ir.IntegerAttr,
        ir.FloatAttr,
        ir.BoolAttr,
        ir.TypeAttr,
        ir.UnitAttr,
        ir.DenseElementsAttr,
        ir.DenseIntElementsAttr,
        ir.DenseFPElementsAttr,
        ir.DenseResourceElementsAttr,
        ir.DenseBoolArrayAttr,
        ir.DenseI8ArrayAttr,
        ir.DenseI16ArrayAttr,
        ir.DenseI32ArrayAttr,
        ir.DenseI64ArrayAttr,
        ir.DenseF32ArrayAttr,
        ir.DenseF64ArrayAttr,
        ir.AffineMapAttr,
    )
)


class ReferenceReader:
    """Reads the symbols that attributes name, each attribute once: equal ones are one object."""

    def __init__(self) -> None:
        self._known: dict[ir.Attribute, tuple[str, ...]] = {}

    def read(self, attribute: ir.Attribute) -> tuple[str, ...]:
        """The root symbols that an attribute names, in order, repeats included."""
        kind = type(attribute)
        if kind is ir.FlatSymbolRefAttr:
            return (cast("ir.FlatSymbolRefAttr", attribute).value,)
        if kind in _PLAIN:
            return ()
        known = self._known.get(attribute)
        if known is None:
            known = self._known[attribute] = tuple(self._inside(attribute))
        return known

    def _inside(self, attribute: ir.Attribute) -> Iterable[str]:
        if isinstance(attribute, ir.SymbolRefAttr):
            yield attribute.value[0]
        elif isinstance(attribute, ir.ArrayAttr | ir.DictAttr):
            yield from self._of_parts(attribute)
        else:
            yield from _in_text(str(attribute))

    def _of_parts(self, attribute: ir.ArrayAttr | ir.DictAttr) -> Iterable[str]:
        text = str(attribute)
        if "@" not in text:
            return
        # The binding has no class for these constants: to ask a dictionary for one ends the
        # process, an array raises.
        if _WITHOUT_CLASS.search(text):
            yield from _outside_strings(text)
        elif isinstance(attribute, ir.DictAttr):
            for entry in attribute:
                yield from self.read(entry.attr)
        else:
            for element in attribute:
                yield from self.read(element)


class ReferenceRewriter:
    """Gives attributes whose root symbols bear other names; each attribute is rewritten once."""

    def __init__(self, names: Mapping[str, str], context: ir.Context) -> None:
        self._names = names
        self._known: dict[ir.Attribute, ir.Attribute] = {}
        # MLIR replaces below an op, not on it, so the attribute hangs on an op inside a module.
        self._scratch = ir.Module.parse("module { module {} }", context)

    def rewrite(self, attribute: ir.Attribute, symbols: Iterable[str]) -> ir.Attribute:
        """The attribute with every one of `symbols` that has a new name renamed."""
        if isinstance(attribute, ir.FlatSymbolRefAttr):
            name = self._names.get(attribute.value)
            return attribute if name is None else ir.FlatSymbolRefAttr.get(name, attribute.context)
        known = self._known.get(attribute)
        if known is None:
            known = self._known[attribute] = self._replace(attribute, symbols)
        return known

    def _replace(self, attribute: ir.Attribute, symbols: Iterable[str]) -> ir.Attribute:
        holder = self._scratch.body.operations[0].operation
        holder.attributes["scratch.value"] = attribute
        renamed = [symbol for symbol in dict.fromkeys(symbols) if symbol in self._names]
        # By way of names that nobody bears: a new name may be the old name of another.
        for number, symbol in enumerate(renamed):
            self._replace_one(symbol, f"\0{number}")
        for number, symbol in enumerate(renamed):
            self._replace_one(f"\0{number}", self._names[symbol])
        return holder.attributes["scratch.value"]

    def _replace_one(self, old: str, new: str) -> None:
        ir.SymbolTable.replace_all_symbol_uses(old, new, self._scratch.operation)


def replace_in_text(text: str, names: Mapping[str, str]) -> str:
    """The print of an op with other words for root symbols; what stands in strings stays."""

    def replaced(found: re.Match[str]) -> str:
        if found[0][0] == '"' or text.endswith("::", 0, found.start()):
            return found[0]
        return names.get(_symbol(found), found[0])

    return _SYMBOL_OR_STRING.sub(replaced, text)


def _in_text(text: str) -> Iterable[str]:
    """Root symbols in an attribute's printed form: `@a::@b` names only `a`."""
    if "@" not in text:
        return
    for found in _SYMBOL_IN_TEXT.finditer(text):
        if not text.endswith("::", 0, found.start()):
            yield _symbol(found)


def _outside_strings(text: str) -> Iterable[str]:
    """Root symbols in a printed form, but for what stands in strings."""
    for found in _SYMBOL_OR_STRING.finditer(text):
        if found[0][0] != '"' and not text.endswith("::", 0, found.start()):
            yield _symbol(found)


def _symbol(found: re.Match[str]) -> str:
    return found[2] if found[2] is not None else _unescape(found[1])


def _unescape(quoted: str) -> str:
    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return _NAMED_ESCAPES.get(code) or bytes([int(code, 16)])

    return _ESCAPE.sub(plain, quoted.encode()).decode(errors="replace")
