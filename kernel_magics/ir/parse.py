"""Text or bytes to a verified module; MLIR's diagnostics to errors with carets."""

import io
import re
from collections.abc import Sequence

from jax.errors import JaxRuntimeError
from jax.extend import mlir
from jax.extend.mlir import ir

from kernel_magics.errors import Diagnostic, FormatError, ParseError
from kernel_magics.ir import formats
from kernel_magics.ir.diagnostics import collect, excerpts
from kernel_magics.ir.hlo import read_exported, read_hlo
from kernel_magics.ir.parse_guard import rewritten
from kernel_magics.ir.source import Source

_UNREADABLE = (RuntimeError, ValueError, MemoryError, OverflowError, IndexError)
"""What MLIR's binding raises beside `MLIRError`."""

_OLD_TEXT = (
    "MLIR text is not stable across versions; if an older or newer tool wrote it, "
    "ask for a portable artifact (`.mlir.bc`), which is."
)

_OLD_FORM = re.compile(
    r"is unknown|^expected|failed to satisfy constraint|requires attribute|unregistered"
)


def parse(source: Source, context: ir.Context) -> ir.Module:
    """Reads and verifies a program of any format that we take.

    Args:
        source: MLIR text, MLIR bytecode, a StableHLO portable artifact, HLO text, a serialized
            HLO module, or a function exported by JAX.
        context: The context that will own the module.

    Returns:
        A verified module; portable artifacts are upgraded to the StableHLO of this jaxlib,
        HLO is converted to it.

    Raises:
        FormatError: The input is something else, or of a version that cannot be read here.
        ParseError: MLIR refused it, or XLA the HLO.
        SandboxError: Reading it would end the process, or take for ever.
    """
    kind = formats.detect(source)
    if kind in ("hlo text", "hlo proto"):
        return read_hlo(source, context)
    if kind == "export":
        return parse(Source(read_exported(source), source.name), context)
    content = rewritten(source) or source.content
    try:
        module = ir.Module.parse(content, context)
    except ir.MLIRError as error:
        raise _refusal(source, kind, error) from error
    except _UNREADABLE as error:
        # Damaged bytecode asks for sizes that there are not, or holds names that are no text.
        words = str(error).split("\n")[-1]
        raise _unreadable(source, [], words) from error
    return _upgrade(module, source) if _is_versioned(module, source) else module


def _is_versioned(module: ir.Module, source: Source) -> bool:
    """Whether it is a portable artifact: its ops say so; not every writer put it in the head."""
    if isinstance(source.content, str) and "vhlo." not in source.content:
        return False
    return any(view.operation.name.startswith("vhlo.") for view in module.body.operations)


def _upgrade(module: ir.Module, source: Source) -> ir.Module:
    """Turns an artifact's versioned ops into StableHLO.

    Only for what has been parsed before: jaxlib 0.12 ends the process when it deserializes
    an artifact of a future version.
    """
    content = source.content if isinstance(source.content, bytes) else bytecode(module)
    try:
        return mlir.deserialize_portable_artifact(content, module.context)
    except (JaxRuntimeError, ir.MLIRError, ValueError) as error:
        problem = formats.version_problem(content)
        what, advice = problem or (
            "The portable artifact cannot be turned into StableHLO",
            "Write the artifact again, for an older target version.",
        )
        raise FormatError(what, details=[str(error)], advice=advice) from error


def bytecode(module: ir.Module) -> bytes:
    """A module as MLIR bytecode, locations included."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _refusal(source: Source, kind: formats.Format, error: ir.MLIRError) -> Exception:
    formats.refuse_lookalike(source, error)
    diagnostics = collect(error, source)
    if kind == "text":
        return _text_refusal(source, diagnostics)
    assert isinstance(source.content, bytes)
    problem = formats.version_problem(source.content)
    details = [diagnostic.message for diagnostic in diagnostics]
    if problem:
        return FormatError(problem[0], details=details, advice=problem[1])
    # The reader of bytecode does not always say why.
    words = details[0] if details else "it is no program"
    return _unreadable(source, diagnostics, words)


def _unreadable(source: Source, diagnostics: Sequence[Diagnostic], words: str) -> ParseError:
    kind = "bytes of bytecode" if isinstance(source.content, bytes) else "characters"
    what = f"The {len(source.content):,} {kind} cannot be read: {words}"
    return _parse_error(
        what, diagnostics, "The file may be cut short or damaged: write or copy it again."
    )


def _text_refusal(source: Source, diagnostics: Sequence[Diagnostic]) -> ParseError:
    errors = [diagnostic for diagnostic in diagnostics if not diagnostic.is_note]
    first = errors[0].message if errors else "no reason was given"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    what = f"MLIR refused the {source.name}: {first}{more}"
    return _parse_error(what, diagnostics, _advice(first))


def _parse_error(what: str, diagnostics: Sequence[Diagnostic], advice: str) -> ParseError:
    error = ParseError(what, where=excerpts(diagnostics), advice=advice)
    error.diagnostics = tuple(diagnostics)
    return error


def _advice(message: str) -> str:
    if message.startswith("unknown dialect"):
        return "Only dialects that jaxlib knows are taken: lower the program to StableHLO first."
    if _OLD_FORM.search(message):
        return _OLD_TEXT
    return "Correct it and run it again; nothing was changed."
