"""HLO to StableHLO in a child process: XLA's reader ends its process on a typing error."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernel_magics import _jax_private
from kernel_magics.errors import SandboxError
from kernel_magics.ir.hlo_proto import as_calls
from kernel_magics.sandbox.kernel import kernel_sandbox
from kernel_magics.sandbox.process import Refusal

_TIMEOUT_S = 120
_MEMORY_BYTES = 8 << 30
"""On top of 64 times the module: a corrupt size must not take the machine's."""


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


def convert_hlo(content: str | bytes) -> HloConversion:
    """Turns HLO text, or a serialized `HloModuleProto`, into StableHLO in a child process."""
    is_text = isinstance(content, str)
    data = content.encode(errors="surrogatepass") if is_text else content
    try:
        answer = kernel_sandbox().request(
            "convert",
            {"is_text": is_text},
            [data],
            timeout_s=_TIMEOUT_S,
            memory_bytes=_MEMORY_BYTES + 64 * len(data),
        )
    except SandboxError as error:
        return _failed(error)
    if isinstance(answer, Refusal):
        return HloConversion(problem=answer.text)
    if len(answer.blobs) != len(("proto", "bytecode")):
        return HloConversion(problem="The child that converts gave no module")
    proto, bytecode = answer.blobs
    return HloConversion(proto, bytecode)


def convert_content(
    head: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """Does the work in the child."""
    content = blobs[0]
    if head["is_text"]:
        content = _jax_private.hlo_text_to_proto(content.decode())
    bytecode = _jax_private.hlo_to_stablehlo(as_calls(content))
    # MLIR's verifier ends the process on some modules: better here.
    with contextlib.suppress(Exception):
        _jax_private.stablehlo_to_hlo(bytecode)
    return {}, [content, bytecode]


def _failed(error: SandboxError) -> HloConversion:
    if error.is_timeout:
        return HloConversion(end=f"no answer in {_TIMEOUT_S} s")
    if error.signal:
        return HloConversion(problem=error.suspect, end=error.signal)
    if error.exit_code is not None:
        return HloConversion(problem=error.suspect, end=f"exit code {error.exit_code}")
    return HloConversion(problem=error.what)
