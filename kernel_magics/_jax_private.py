"""The only door to `jax._src` and `jaxlib`.

Each wrapper says why the public way does not do. `tests/test_jax_private.py` pins what it
relies on, for JAX 0.10.2 and the newest JAX.
"""

import os
import re
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jax._src.interpreters import mlir as _mlir
from jax._src.lib import lapack as _lapack  # pyright: ignore[reportPrivateImportUsage]
from jax._src.lib.mlir import dialects as _dialects
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir


def new_context() -> ir.Context:
    """A fresh MLIR context that knows the dialects which JAX's own contexts know.

    Public `make_ir_context` will not do: since JAX 0.11 it hands out one shared context per
    thread, so that whatever is set on it reaches unrelated lowerings.
    """
    context = _mlir.JaxIrContext()
    context.append_dialect_registry(_mlir.upstream_dialects)
    context.load_all_available_dialects()
    context.enable_multithreading(enable=False)
    dialects: Any = _dialects
    dialects.sdy.register_dialect(context)
    dialects.mpmd.register_dialect(context)
    dialects.mhlo.register_mhlo_dialect(context)
    dialects.chlo.register_dialect(context)
    dialects.hlo.register_dialect(context)
    return context


def lowering_module(context: mlir.LoweringRuleContext) -> tuple[ir.Module, ir.SymbolTable]:
    """The module that a lowering rule writes into, with its symbol table.

    Both hang off the public rule context, but `ModuleContext` itself is documented nowhere.
    """
    module_context: Any = context.module_context
    return module_context.module, module_context.symbol_table


def lowering_memory(context: mlir.LoweringRuleContext) -> dict[Any, Any]:
    """A dictionary that lives as long as the module being lowered, shared by its rules.

    JAX has no public place to remember what a rule has already put into a module.
    """
    module_context: Any = context.module_context
    return module_context.cached_primitive_lowerings


def stablehlo_versions() -> tuple[str, str]:
    """Oldest and newest StableHLO version that this jaxlib reads, such as `("0.9.0", "1.17.0")`.

    Public in `jax.extend`, but without types.
    """
    dialect: Any = stablehlo
    return dialect.get_minimum_version(), dialect.get_current_version()


def initialize_lapack() -> None:
    """Registers jaxlib's LAPACK handlers, which crash when called before.

    JAX does this while lowering its own `jax.numpy.linalg`; a program from elsewhere that names
    `lapack_*` targets has no public way to ask for it.
    """
    library: Any = _lapack
    library._lapack.initialize()


@dataclass(frozen=True, slots=True)
class HloConversion:
    """What became of an HLO module in the process that converted it."""

    proto: bytes = b""
    """The module as a serialized `HloModuleProto`, before fusions became calls."""
    bytecode: bytes = b""
    """The module in StableHLO and MHLO, as MLIR bytecode; empty where that failed."""
    problem: str = ""
    """XLA's words."""
    end: str = ""
    """How the process ended, such as `SIGABRT`, where it did not live to answer."""


_HLO_CHILD = """\
import runpy, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
except (ImportError, ValueError, OSError):
    pass
from jaxlib import _hlo, _jax
content, out = sys.stdin.buffer.read(), sys.stdout.buffer
as_calls = runpy.run_path(sys.argv[1])["as_calls"]
try:
    if sys.argv[2] == "text":
        content = _hlo.hlo_module_from_text(content.decode()).as_serialized_hlo_module_proto()
    done = _jax.mlir.hlo_to_stablehlo(as_calls(content))
    try:
        # MLIR's verifier ends the process on some modules: better here.
        _jax.mlir.mlir_module_to_xla_computation(done, False, False)
    except Exception:
        pass
    out.write(b"+" + len(content).to_bytes(8, "big") + content + done)
except BaseException as error:
    out.write(b"-" + str(error).encode(errors="replace"))
out.flush()
"""

_HLO_TIMEOUT_S = 120
_HLO_MEMORY_BYTES = 8 << 30
"""For the child, on top of 64 times the module: a corrupt size must not take the machine's."""


def convert_hlo(content: str | bytes, rewriting: Path) -> HloConversion:
    """Turns HLO text, or a serialized `HloModuleProto`, into StableHLO in a child process.

    The parser of HLO text is not public. `jax.extend.mlir.hlo_to_stablehlo` is, but both end
    the process on what a typing error or a flipped bit can make, so neither may run in this
    one. The child loads jaxlib without JAX: 0.2 s.

    Args:
        content: Text of a module, or its serialized form.
        rewriting: A file of Python, without imports of ours, whose function `as_calls` turns
            fusions of a serialized module into calls.
    """
    data = content.encode() if isinstance(content, str) else content
    memory = _HLO_MEMORY_BYTES + 64 * len(data)
    kind = "text" if isinstance(content, str) else "proto"
    command = [sys.executable, "-P", "-c", _HLO_CHILD, str(rewriting), kind, str(memory)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(  # noqa: S603 - our own program, whose input is data
            command,
            input=data,
            env=environment,
            capture_output=True,
            timeout=_HLO_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return HloConversion(end=f"no answer in {_HLO_TIMEOUT_S} s")
    except OSError as error:
        return HloConversion(problem=f"no Python process can be started: {error}")
    answer = done.stdout
    if answer.startswith(b"+"):
        middle = 9 + int.from_bytes(answer[1:9], "big")
        return HloConversion(answer[9:middle], answer[middle:])
    if answer.startswith(b"-"):
        return HloConversion(problem=answer[1:].decode())
    return HloConversion(problem=_last_words(done.stderr), end=_ending(done.returncode))


def _last_words(stderr: bytes) -> str:
    """The line in which XLA says why it ends the process, or the last line of all."""
    lines = stderr.decode(errors="replace").strip().split("\n")
    fatal = [line.partition("] ")[2] for line in lines if re.match(r"F\d{4} ", line)]
    return fatal[0] if fatal else ""


def _ending(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"


@dataclass(frozen=True, slots=True)
class ExportedModule:
    """The program in a blob of `jax.export`."""

    bytecode: bytes
    platforms: tuple[str, ...]
    unused: tuple[int, ...]
    """Arguments of the exported function that its `@main` does not take."""


def read_exported(content: bytes) -> ExportedModule:
    """Reads the program out of what `jax.export.Exported.serialize` wrote.

    Public `jax.export.deserialize` makes a JAX function of it, and for that wants every custom
    pytree class registered and every mesh there; the program needs neither.

    Raises:
        ImportError: The package `flatbuffers` is not installed.
        ValueError: These bytes are no such blob.
    """
    from jax._src.export import serialization_generated  # noqa: PLC0415 - needs flatbuffers

    generated: Any = serialization_generated
    try:
        root = generated.Exported.GetRootAsExported(content, 0)
        code, kept = root.MlirModuleSerializedAsNumpy(), root.ModuleKeptVarIdxAsNumpy()
        platforms = tuple(root.Platforms(i).decode() for i in range(root.PlatformsLength()))
        arguments = range(root.InAvalsIdxsLength() or root.InAvalsLength())
        used = set() if isinstance(kept, int) else {int(i) for i in kept}
        unused = tuple(i for i in arguments if i not in used)
        return ExportedModule(b"" if isinstance(code, int) else code.tobytes(), platforms, unused)
    except (struct.error, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(str(error)) from error
