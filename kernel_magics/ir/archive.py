"""A linked module as one file that remembers its units."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from jax.errors import JaxRuntimeError
from jax.extend import mlir
from jax.extend.mlir import ir, passmanager
from jax.extend.mlir.dialects import stablehlo

from kernel_magics import _jax_private
from kernel_magics.errors import SessionError, SourceError
from kernel_magics.ir.link import rename_uses
from kernel_magics.ir.link_report import LinkedSymbol, LinkReport
from kernel_magics.ir.parse import bytecode, parse
from kernel_magics.ir.references import ReferenceRewriter
from kernel_magics.ir.seal import is_intact, is_sealed, seal, unsealed
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import scan

ATTRIBUTE = "kernel_magics.units"
VERSION = 2

_TO_PORTABLE = (
    "builtin.module(stablehlo-legalize-to-vhlo{{allow-other-dialects=true}},"
    "vhlo-to-version{{target={0}}})"
)


@dataclass(frozen=True, slots=True)
class ArchivedUnit:
    """What a file remembers of one unit."""

    name: str
    entry: str | None
    """The author's name of the function it is called by."""
    serial: int
    report: LinkReport
    text: str | None
    """The author's text, for names and spelling; None where there were only bytes."""
    place: str
    """Where the text came from, such as `cell`."""
    first_line: int
    is_offer: bool = False
    is_retired: bool = False
    """Whether it is an old version, kept for those that are bound to it."""
    nameless: tuple[int, ...] = ()
    """Places of its ops that are no symbols among those at the top of the module."""


def write(module: ir.Module, units: Sequence[ArchivedUnit]) -> bytes:
    """A module and its units as a file that `read` takes.

    It is a program: the units are one string attribute on the module, together with a checksum.
    Where StableHLO's portable form says all that the module says it is a portable artifact, which
    later versions read too; else MLIR bytecode of this jaxlib.
    """
    record = unsealed({"version": VERSION, "units": [asdict(unit) for unit in units]})
    attributes = module.operation.attributes
    attributes[ATTRIBUTE] = ir.StringAttr.get(record, module.context)
    try:
        return seal(_portable(module) or bytecode(module), record)
    finally:
        del attributes[ATTRIBUTE]


def _portable(module: ir.Module) -> bytes | None:
    """The portable artifact of this jaxlib's StableHLO version, if that loses nothing.

    It makes strings of symbols in attributes that it does not know, and has no form for some
    attributes and ops. JAX's own serializer also drops ops that nothing uses and moves constants,
    so the passes are run here. Defaults that were written out, such as the precision of a dot,
    are left out of what is read back: that is no loss.
    """
    # Known to XLA's importer as soon as JAX is there, to the pass manager only by this.
    stablehlo.register_stablehlo_passes()
    try:
        portable = _versioned(module)
        again = mlir.deserialize_portable_artifact(portable, module.context)
        is_whole = _outline(again) == _outline(module) and _versioned(again) == portable
    except (ValueError, JaxRuntimeError, ir.MLIRError):
        return None
    return portable if is_whole else None


def _versioned(module: ir.Module) -> bytes:
    target = _jax_private.stablehlo_versions()[1]
    copy = ir.Module.parse(bytecode(module), module.context)
    with module.context:
        passmanager.PassManager.parse(_TO_PORTABLE.format(target)).run(copy.operation)
    try:
        return mlir.serialize_portable_artifact(copy, target, use_mixed_serialization=False)
    except (ValueError, JaxRuntimeError):
        # Ops of Shardy beside those of VHLO: the reader takes them, the writer does not.
        return bytecode(copy)


def _outline(module: ir.Module) -> list[tuple[object, ...]]:
    """The ops at the top with what is inside them, and what they refer to."""
    return [
        (op.kind, op.name, op.op_kinds, op.references, op.custom_calls) for op in scan(module).ops
    ]


def read(source: Source, context: ir.Context) -> tuple[ir.Module, list[ArchivedUnit]]:
    """The module of a file and the units it remembers.

    Raises:
        SourceError: It is text, and no program.
        SessionError: It is no saved session, or not as it was written.
    """
    _check_intact(source)
    module = _parsed(source, context)
    attributes = module.operation.attributes
    if ATTRIBUTE not in attributes or isinstance(source.content, str):
        raise SessionError(
            f"`{source.name}` is a program, but not a saved session",
            advice="Use `load` for programs.",
        )
    text = attributes[ATTRIBUTE]
    assert isinstance(text, ir.StringAttr)
    record = json.loads(text.value)
    if record["version"] != VERSION:
        raise SessionError(
            f"`{source.name}` was saved in form {record['version']}; form {VERSION} is read",
            advice="Install the version of Kernel Magics that saved it.",
        )
    del attributes[ATTRIBUTE]
    return module, [_unit(fields) for fields in record["units"]]


def _parsed(source: Source, context: ir.Context) -> ir.Module:
    try:
        return parse(source, context)
    except SourceError as error:
        if isinstance(source.content, str):
            raise
        raise SessionError(
            f"`{source.name}` is as it was saved, but this jaxlib cannot read it",
            details=[error.what],
            advice="Restore it with the jaxlib that saved it, or run the cells again.",
        ) from error


def _check_intact(source: Source) -> None:
    """Raises where bytes are not those that `write` gave; nothing has parsed them yet."""
    content = source.content
    if isinstance(content, str):
        return
    if not is_sealed(content):
        raise SessionError(
            f"`{source.name}` is not a saved session, or is damaged",
            details=[f"its {len(content):,} bytes hold no checksum of a session"],
            advice="Use `load` for programs; save a damaged session again.",
        )
    if not is_intact(content):
        raise SessionError(
            f"`{source.name}` is damaged: its content does not have the checksum it was saved with",
            details=[f"{len(content):,} bytes were read"],
            advice="The file was cut short or altered: save the session again, or copy it again.",
        )


def extract(module: ir.Module, report: LinkReport) -> bytes:
    """One unit taken out of the linked module, under its author's names, as MLIR bytecode."""
    table = ir.SymbolTable(module.operation)
    part = ir.Module.create(ir.Location.unknown(module.context))
    point = ir.InsertionPoint(part.body)
    for symbol in report.symbols:
        if symbol.why == "bound":
            _declare(symbol.old_name, table[symbol.new_name].operation, point)
            continue
        copy = table[symbol.new_name].operation.clone(point)
        copy.attributes["sym_name"] = ir.StringAttr.get(symbol.old_name, module.context)
        if symbol.is_public and "sym_visibility" in copy.attributes:
            del copy.attributes["sym_visibility"]
    # Where several were made one, any of them serves.
    names = {s.new_name: s.old_name for s in report.symbols}
    rewriter = ReferenceRewriter(names, module.context)
    for op in scan(part).ops:
        rename_uses(op, names, rewriter)
    return bytecode(part)


def write_file(path: Path, content: bytes) -> None:
    """Puts a file in place whole, or leaves what was there.

    Raises:
        SessionError: It cannot be written.
    """
    part = None
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
        Path(part.name).replace(path)
    except OSError as error:
        raise SessionError(
            f"`{path}` cannot be written: {error.strerror or error}",
            advice="Choose a folder that exists and is yours.",
        ) from error
    finally:
        if part is not None:
            Path(part.name).unlink(missing_ok=True)


def _declare(name: str, definition: ir.Operation, point: ir.InsertionPoint) -> None:
    """A declaration of a function that is defined elsewhere."""
    context = definition.context
    attributes = {
        "sym_name": ir.StringAttr.get(name, context),
        "function_type": definition.attributes["function_type"],
        "sym_visibility": ir.StringAttr.get("private", context),
    }
    location = ir.Location.unknown(context)
    ir.Operation.create("func.func", attributes=attributes, regions=1, loc=location, ip=point)


def _unit(fields: dict[str, Any]) -> ArchivedUnit:
    report = fields["report"]
    symbols = tuple(LinkedSymbol(**symbol) for symbol in report.pop("symbols"))
    report |= {key: tuple(report[key]) for key in ("notes", "undefined", "relinked", "outdated")}
    report = LinkReport(symbols=symbols, **report)
    restored: dict[str, Any] = {**fields, "report": report, "nameless": tuple(fields["nameless"])}
    return ArchivedUnit(**restored)
