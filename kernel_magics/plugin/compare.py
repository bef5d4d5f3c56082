"""One function on several plugins: compiled, run and measured on each."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from kernel_magics.call.function import HloFunction
from kernel_magics.compile.background import Job
from kernel_magics.errors import KernelMagicsError, UsageError
from kernel_magics.ir.types import aval_text
from kernel_magics.plugin.comparison import Comparison, PluginRun
from kernel_magics.plugin.difference import difference, special_values
from kernel_magics.plugin.engine import Engine, EngineDevice
from kernel_magics.plugin.inputs import random_arguments
from kernel_magics.plugin.placement import working_on

_LONGEST = 300
_MOST_ARGUMENTS = 6


def compare(
    function: Callable[..., Any],
    args: Sequence[Any],
    devices: Mapping[str, Any],
    *,
    runs: int,
    seed: int,
) -> Comparison:
    """Runs a function on a device of each plugin; `PluginManager.compare` says how."""
    name = _name(function)
    if runs < 1:
        raise UsageError(
            f"A comparison cannot have {runs!r} runs",
            details=["expected: one or more, after the first, which is not measured"],
            advice="`runs=20` is what is done without this.",
        )
    given, origin = _arguments(function, args, seed)
    # What is wrong with the function itself is no plugin's fault, and is raised as it is.
    jax.eval_shape(function, *given)
    found: list[PluginRun] = []
    reference: PluginRun | None = None
    for plugin, device in devices.items():
        run = _run(function, given, plugin, device, runs)
        if reference is None and not run.error:
            reference = run
        elif reference is not None and not run.error:
            run = replace(run, difference=difference(run.results, reference.results))
        found.append(run)
    return Comparison(name, f"{_described(given)}{origin}", found)


def _run(
    function: Callable[..., Any], given: Sequence[Any], plugin: str, device: Any, runs: int
) -> PluginRun:
    try:
        if isinstance(device, EngineDevice):
            return _measured_there(function, given, plugin, device.engine, runs)
        with working_on(device):
            return _measured(function, jax.device_put(tuple(given), device), plugin, runs)
    except (RuntimeError, ValueError, NotImplementedError, KernelMagicsError) as error:
        return PluginRun(plugin, error=_words(error))


def _measured(
    function: Callable[..., Any], args: Sequence[Any], plugin: str, runs: int
) -> PluginRun:
    lowered = jax.jit(function).lower(*args)
    began = time.perf_counter()
    compiled = Job(lowered.compile).wait()
    compile_time_s = time.perf_counter() - began
    results = jax.block_until_ready(compiled(*args))
    times: list[float] = []
    for _ in range(runs):
        began = time.perf_counter()
        jax.block_until_ready(compiled(*args))
        times.append(time.perf_counter() - began)
    arrays = tuple(np.asarray(leaf) for leaf in jax.tree.leaves(results))
    nan_count, infinite_count = special_values(arrays)
    return PluginRun(
        plugin=plugin,
        compile_time_s=compile_time_s,
        run_time_s=statistics.median(times),
        run_times_s=tuple(times),
        memory_bytes=_memory(compiled),
        nan_count=nan_count,
        infinite_count=infinite_count,
        results=arrays,
    )


def _measured_there(
    function: Callable[..., Any], args: Sequence[Any], plugin: str, engine: Engine, runs: int
) -> PluginRun:
    """As `_measured`, for what is no plugin of JAX."""
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(tuple(args))]
    began = time.perf_counter()
    program = Job(lambda: engine.compile(function, tuple(args))).wait()
    compile_time_s = time.perf_counter() - began
    results, times = program(arrays), list[float]()
    for _ in range(runs):
        began = time.perf_counter()
        program(arrays)
        times.append(time.perf_counter() - began)
    nan_count, infinite_count = special_values(results)
    return PluginRun(
        plugin=plugin,
        compile_time_s=compile_time_s,
        run_time_s=statistics.median(times),
        run_times_s=tuple(times),
        nan_count=nan_count,
        infinite_count=infinite_count,
        results=tuple(results),
    )


def _memory(compiled: Any) -> int | None:
    found = compiled.memory_analysis()
    if found is None:
        return None
    parts = (found.argument_size_in_bytes, found.output_size_in_bytes, found.temp_size_in_bytes)
    return sum(map(int, parts))


def _arguments(
    function: Callable[..., Any], args: Sequence[Any], seed: int
) -> tuple[list[Any], str]:
    if args or not isinstance(function, HloFunction):
        return [jax.tree.map(_on_host, arg) for arg in args], ""
    made = random_arguments(function, seed)
    return list(made), f", made from seed {seed}" if made else ""


def _on_host(leaf: Any) -> Any:
    """A value that belongs to no plugin; keys and what else is no plain array stay."""
    is_plain = isinstance(leaf, jax.Array) and not jnp.issubdtype(leaf.dtype, jax.dtypes.extended)
    return np.asarray(leaf) if is_plain else leaf


def _described(args: Sequence[Any]) -> str:
    leaves = jax.tree.leaves(args)
    shown = [aval_text(jax.typeof(leaf)) for leaf in leaves[:_MOST_ARGUMENTS]]
    more = len(leaves) - len(shown)
    return ", ".join(shown + ([f"{more} more"] if more else [])) or "no arguments"


def _name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    if not isinstance(function, HloFunction):
        return str(name)
    report = function.link_report
    return f"@{name} of {report.unit}" if report else f"@{name}"


def _words(error: Exception) -> str:
    if isinstance(error, KernelMagicsError):
        said = [error.what, *error.details[:1]]
        return ": ".join(said)
    line = next((line for line in str(error).split("\n") if line.strip()), "")
    return f"{type(error).__name__}: {line[:_LONGEST]}"
