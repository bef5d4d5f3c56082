"""XLA's HLO, as text or serialized, and exported JAX functions: to modules of StableHLO."""

import re
from collections.abc import Iterator
from functools import lru_cache

from jax.extend.mlir import ir, passmanager

from kernel_magics import _jax_private
from kernel_magics.errors import FormatError
from kernel_magics.ir import formats, hlo_proto
from kernel_magics.ir.hlo_bitcasts import UntrueBitcastError, legalize
from kernel_magics.ir.hlo_convert import HloConversion, convert_hlo
from kernel_magics.ir.hlo_errors import ill_typed, refusal, refuse_elided, unsayable
from kernel_magics.ir.source import Source

# They say how a program is run whose `@main` is the entry, or that it is run as usual.
_HOW_IT_IS_RUN = re.compile(
    r"mhlo\.(cross_program_prefetches|input_output_alias|is_dynamic"
    r"|use_auto_spmd_partitioning|xla_entry_computation_\w+)"
)
# The layouts that a custom call asks for stand in `operand_layouts` and `result_layouts`.
_DROPPED_ATTRIBUTES = ("result_layout", "result_tilings", "xla_shape")


def read_hlo(source: Source, context: ir.Context) -> ir.Module:
    """The StableHLO of HLO text or of a serialized HLO module; the entry is `@main`.

    Fusions are calls of private functions, layouts are gone, tuples are several values.

    Raises:
        ParseError: XLA refused the text; points at line and column where XLA does.
        FormatError: XLA refused the bytes, or StableHLO has no word for what the module says.
    """
    refuse_elided(source)
    converted = _convert(source)
    if not converted.bytecode:
        raise refusal(source, converted)
    problem = _facts(source, converted).problem
    if problem:
        raise unsayable(source, problem)
    try:
        module = ir.Module.parse(converted.bytecode, context)
    except ir.MLIRError as error:
        raise ill_typed(source, error) from error
    try:
        legalize(module)
    except UntrueBitcastError as error:
        raise unsayable(source, f"a `bitcast` from {error}") from error
    _tidy(module)
    return module


def read_exported(source: Source) -> bytes:
    """The portable artifact in a blob of `jax.export`; its entry is `@main`.

    Raises:
        FormatError: It is damaged, or the package flatbuffers is not installed.
    """
    return _exported(source).bytecode


def conversion_notes(source: Source) -> tuple[str, ...]:
    """What the module that was made of a source does not say any more, in sentences.

    Empty for MLIR: nothing was converted.

    Raises:
        SourceError: It is not a program that we take.
    """
    if formats.is_mlir(source):
        return ()
    kind = formats.detect(source)
    if kind == "export":
        return tuple(_export_notes(_exported(source)))
    if kind not in ("hlo text", "hlo proto"):
        return ()
    refuse_elided(source)
    converted = _convert(source)
    if not converted.bytecode:
        raise refusal(source, converted)
    return tuple(_hlo_notes(_facts(source, converted)))


@lru_cache(maxsize=16)
def _convert(source: Source) -> HloConversion:
    """Cached: a program is read when it is defined and again when it is called."""
    content = source.content
    if isinstance(content, bytes):
        module = hlo_proto.unwrap(content)
        assert module is not None
        content = module
    return convert_hlo(content)


def _facts(source: Source, converted: HloConversion) -> hlo_proto.HloFacts:
    try:
        return hlo_proto.read_facts(converted.proto)
    except ValueError as error:
        raise refusal(source, HloConversion(problem=str(error))) from error


def _exported(source: Source) -> _jax_private.ExportedModule:
    assert isinstance(source.content, bytes)
    try:
        return _jax_private.read_exported(source.content)
    except ImportError as error:
        raise FormatError(
            "This is a function written by `jax.export`, and the package flatbuffers, "
            "which reads it, is not installed",
            advice="Run `pip install flatbuffers`, or give `exported.mlir_module_serialized`.",
        ) from error
    except ValueError as error:
        raise FormatError(
            f"The {len(source.content):,} bytes look like a function written by `jax.export`, "
            "but cannot be read",
            details=[str(error)],
            advice="The file may be cut short or damaged: write or copy it again.",
        ) from error


def _tidy(module: ir.Module) -> None:
    """Drops what the conversion leaves over: unused functions, and attributes on how to run."""
    attributes = module.operation.attributes
    for name in [name for name in attributes if _HOW_IT_IS_RUN.fullmatch(name)]:
        del attributes[name]

    def visit(view: ir.Operation) -> ir.WalkResult:
        for name in _DROPPED_ATTRIBUTES:
            if name in view.attributes:
                del view.attributes[name]
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    with module.context:
        passmanager.PassManager.parse("builtin.module(symbol-dce)").run(module.operation)


def _hlo_notes(facts: hlo_proto.HloFacts) -> Iterator[str]:
    if facts.fusions:
        yield f"{_counted(facts.fusions, 'fusion')} became calls of private functions."
    if facts.entry_layouts:
        arrays = _counted(facts.entry_layouts, "argument or result", "arguments and results")
        yield f"Dropped: the layout of {arrays} of the entry that is not the default."
    if facts.layouts:
        where = _counted(facts.layouts, "instruction")
        yield f"Dropped: the layout of {where} that is not the default; values are the same."
    if facts.has_schedule:
        yield "Dropped: the schedule, which is the order of the instructions."
    if facts.backend_configs:
        yield f"Dropped: the `backend_config` of {_counted(facts.backend_configs, 'instruction')}."
    if facts.metadata:
        yield f"Kept as locations: the metadata of {_counted(facts.metadata, 'instruction')}."


def _export_notes(exported: _jax_private.ExportedModule) -> Iterator[str]:
    if len(exported.platforms) > 1:
        names = ", ".join(f"{i} is {name}" for i, name in enumerate(exported.platforms))
        yield f"The first argument of `@main` is the number of the platform: {names}."
    if exported.unused:
        numbers = ", ".join(map(str, exported.unused))
        yield f"`@main` does not take the unused arguments of the exported function: {numbers}."


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
