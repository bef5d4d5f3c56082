"""Compiling and running a program in a child process, as the kernel would.

The child binds the same primitive under the same `jax.jit`, so what it lowers is what the
kernel lowers: preflight, linking and XLA meet the same module.
"""

import importlib
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import jax
import numpy as np

from kernel_magics.call.program import Binding, Program
from kernel_magics.call.serving import call_resolver
from kernel_magics.errors import SandboxError
from kernel_magics.ir.source_message import read_source_message, source_message
from kernel_magics.sandbox.arrays import array_blobs, array_heads, read_arrays, read_kinds
from kernel_magics.sandbox.kernel import kernel_sandbox
from kernel_magics.sandbox.messages import MessageError
from kernel_magics.sandbox.process import Answer, Refusal

_CONFIG = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_use_shardy_partitioner",
    "jax_compiler_enable_remat_pass",
    "jax_optimization_level",
    "jax_memory_fitting_level",
    "jax_debug_nans",
    "jax_debug_infs",
)
"""What changes a lowered program, how it is compiled, or whether its results are taken."""

_CHILD = "kernel_magics.custom_call.child"
"""By name, as it is of a higher layer."""

Message = tuple[dict[str, Any], list[bytes]]


def program_message(program: Program) -> Message:
    """A program with all that it is bound to, each content and each program once."""
    places: dict[int, int] = {}
    entries: list[dict[str, Any]] = []
    blobs: dict[bytes, int] = {}

    def add(one: Program) -> int:
        # By identity: comparing programs parses them.
        if id(one) not in places:
            bindings = [[binding.name, add(binding.program)] for binding in one.bindings]
            head, content = source_message(one.source)
            blob = blobs.setdefault(content, len(blobs))
            entries.append({**head, "blob": blob, "entry": one.entry, "bindings": bindings})
            places[id(one)] = len(entries) - 1
        return places[id(one)]

    add(program)
    return {"programs": entries}, list(blobs)


def read_program_message(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Program:
    """The program that `program_message` was given."""
    programs: list[Program] = []
    for entry in head["programs"]:
        source = read_source_message(entry, blobs[entry["blob"]])
        bindings = tuple(Binding(name, programs[i]) for name, i in entry["bindings"])
        programs.append(Program(source, entry["entry"], bindings))
    return programs[-1]


def try_compile(
    program: Program,
    avals: Sequence[Any],
    *,
    timeout_s: float,
    memory_bytes: int | None = None,
) -> Answer | Refusal:
    """Compiles a program in the child; the answer says `lower_s` and `compile_s`.

    Args:
        program: The function.
        avals: What has the shape and the dtype of each argument, no dimension symbolic.
        timeout_s: How long it may take.
        memory_bytes: How much more memory it may take; None for any.

    Raises:
        SandboxError: It ended the child, or took longer.
    """
    head, blobs = program_message(program)
    head |= {"arguments": array_heads(avals), "config": _config(), "targets": _targets()}
    what = f"Trying `@{program.entry}`"
    return kernel_sandbox().request(
        "compile", head, blobs, timeout_s=timeout_s, memory_bytes=memory_bytes, what=what
    )


def try_run(
    program: Program,
    arguments: Sequence[Any],
    *,
    timeout_s: float,
    memory_bytes: int | None = None,
) -> Answer | Refusal:
    """Compiles a program in the child and runs it once; `run_results` reads the answer.

    Args:
        program: The function.
        arguments: Arrays; a `jax.ShapeDtypeStruct` stands for zeros.
        timeout_s: How long both may take.
        memory_bytes: How much more memory they may take; None for any.

    Raises:
        SandboxError: It ended the child, or took longer.
    """
    head, blobs = program_message(program)
    is_given = [not isinstance(argument, jax.ShapeDtypeStruct) for argument in arguments]
    given = [a for a, is_array in zip(arguments, is_given, strict=True) if is_array]
    head |= {
        "arguments": array_heads(arguments),
        "is_given": is_given,
        "sources": len(blobs),
        "config": _config(),
        "targets": _targets(),
    }
    what = f"Trying `@{program.entry}`"
    blobs += array_blobs(given)
    return kernel_sandbox().request(
        "run", head, blobs, timeout_s=timeout_s, memory_bytes=memory_bytes, what=what
    )


def run_results(answer: Answer) -> list[np.ndarray]:
    """The results in the answer to a `run` request.

    Raises:
        SandboxError: It is no such answer.
    """
    try:
        return read_arrays(answer.head.get("results"), answer.blobs)
    except MessageError as error:
        raise SandboxError("The results of a trial cannot be read", details=[str(error)]) from error


def compile_program(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Message:
    """Compiles in the child."""
    return _compiled(head, blobs)[1], []


def run_program(head: Mapping[str, Any], blobs: Sequence[bytes]) -> Message:
    """Compiles and runs in the child."""
    sources = head["sources"]
    executable, times = _compiled(head, blobs[:sources])
    arguments = _arguments(head, blobs[sources:])
    began = perf_counter()
    results = jax.block_until_ready(executable(*arguments))
    times["run_s"] = perf_counter() - began
    return {**times, "results": array_heads(results)}, array_blobs(results)


def _compiled(
    head: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[jax.stages.Compiled, dict[str, Any]]:
    # Here, in the child: the primitive itself asks for trials.
    from kernel_magics.call.primitive import compiled  # noqa: PLC0415

    if head.get("targets"):
        importlib.import_module(_CHILD).know_targets(head["targets"])
    for name, value in head["config"].items():
        if _plain(getattr(jax.config, name)) != value:
            jax.config.update(name, value)
    function: Any = compiled(read_program_message(head, blobs))
    kinds = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in read_kinds(head["arguments"])]
    began = perf_counter()
    lowered = function.lower(*kinds)
    lowered_at = perf_counter()
    executable = lowered.compile()
    ended = perf_counter()
    return executable, {"lower_s": lowered_at - began, "compile_s": ended - lowered_at}


def _arguments(head: Mapping[str, Any], blobs: Sequence[bytes]) -> list[np.ndarray]:
    pairs = list(zip(head["arguments"], head["is_given"], strict=True))
    given = iter(read_arrays([kind for kind, is_given in pairs if is_given], blobs))
    zeros = [np.zeros(shape, dtype) for shape, dtype in read_kinds(head["arguments"])]
    return [
        next(given) if is_given else zero for (_, is_given), zero in zip(pairs, zeros, strict=True)
    ]


def _targets() -> list[str]:
    """Targets that are registered here: the child knows nothing of them by itself."""
    resolver = call_resolver()
    return [] if resolver is None else sorted(resolver.registered)


def _config() -> dict[str, Any]:
    """JAX's configuration here and now, contexts of this thread included."""
    found = {name: getattr(jax.config, name, None) for name in _CONFIG}
    return {name: _plain(value) for name, value in found.items() if hasattr(jax.config, name)}


def _plain(value: Any) -> Any:
    """A value of the configuration as JSON has it and `jax.config.update` takes it."""
    return getattr(value, "value", value)
