"""The compile of a cell's entry: tried first where that is wanted, and open to Ctrl-C."""

import time
from collections.abc import Sequence

import jax
from jax.errors import JaxRuntimeError

from kernel_magics.call.failure import compile_error
from kernel_magics.call.function import HloFunction
from kernel_magics.call.trial import is_tried
from kernel_magics.compile.background import Job
from kernel_magics.compile.cost import CompileCost, read_cost
from kernel_magics.errors import CompileInterrupted
from kernel_magics.plugin.engine import EngineDevice
from kernel_magics.plugin.kernel import plugins

_BOUND = "The functions of this cell are linked and bound."


def compile_entry(function: HloFunction) -> str:
    """Compiles for the default device; says what it took.

    Raises:
        CompileError: XLA refused the program.
        SandboxError: Trying it in a child process ended that.
        CompileInterrupted: The user did not want to wait.
    """
    signature = function.signature
    if signature.is_dynamic:
        return f"`@{signature.name}` has dynamic dimensions: it is compiled when it is called"
    shapes = [jax.ShapeDtypeStruct(a.type.shape or (), a.type.dtype) for a in signature.arguments]
    if isinstance(function.device, EngineDevice):
        return _compile_there(function, function.device, shapes)
    lowered = _lower(function, shapes)
    began = time.perf_counter()
    try:
        compiled = Job(lowered.compile).wait()
    except JaxRuntimeError as error:
        raise compile_error(function.program, error) from error
    except KeyboardInterrupt:
        # No chain: the interrupt is what the user did, not what went wrong.
        raise CompileInterrupted(
            f"Interrupted: the compile of `@{signature.name}` goes on in the background",
            details=[_BOUND],
            advice="A call waits for its own compile; run the cell again to see what it costs.",
        ) from None
    cost = str(read_cost(compiled, plugins.active, time.perf_counter() - began))
    tried = "tried in a child process · " if is_tried(function.program, shapes) else ""
    return f"{tried}{cost}"


def _compile_there(
    function: HloFunction, device: EngineDevice, shapes: Sequence[jax.ShapeDtypeStruct]
) -> str:
    """Compiles for an engine that is none of JAX's."""
    began = time.perf_counter()
    try:
        Job(lambda: device.prepare(function, shapes)).wait()
    except KeyboardInterrupt:
        raise CompileInterrupted(
            f"Interrupted: the compile of `@{function.signature.name}` goes on in the background",
            details=[_BOUND],
            advice="A call waits for its own compile.",
        ) from None
    seconds = time.perf_counter() - began
    return str(CompileCost(device.engine.name, seconds, None, None, None, None))


def _lower(function: HloFunction, shapes: Sequence[jax.ShapeDtypeStruct]) -> jax.stages.Lowered:
    """Lowers it, which tries it first where that is wanted."""
    signature = function.signature
    try:
        return function.lower(*shapes)
    except KeyboardInterrupt:
        raise CompileInterrupted(
            f"Interrupted before `@{signature.name}` was compiled; nothing goes on in the "
            "background",
            details=[_BOUND],
            advice="Run the cell again, or with `--trial never` to compile it untried.",
        ) from None
