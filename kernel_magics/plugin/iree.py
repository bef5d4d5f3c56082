"""IREE as an engine: its compiler in a process of its own, its runtime in this one.

From the packages `iree-base-compiler` and `iree-base-runtime`, the extra `iree`. For static
shapes on the CPU; custom calls are none of its ops.
"""

import atexit
import importlib.metadata
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.errors import JaxRuntimeError
from jax.extend import mlir
from jax.extend.mlir import ir

from kernel_magics import _jax_private
from kernel_magics.errors import PluginError
from kernel_magics.ir.context import new_context
from kernel_magics.plugin.engine import EngineProgram

_OPTIONS = ("--iree-llvmcpu-target-cpu=host",)
_OLDER = "1.13.0"
"""A StableHLO version that is tried where the newest is too young for IREE."""

_SHOWN = 6


class Iree:
    """IREE's CPU backend."""

    name = "iree"
    package = "iree-base-compiler"

    def __init__(self) -> None:
        self._config: Any = None

    def is_installed(self) -> bool:
        """Whether compiler and runtime are there; imports neither."""
        try:
            parts = ("iree.compiler", "iree.runtime")
            return all(importlib.util.find_spec(part) is not None for part in parts)
        except ModuleNotFoundError:
            return False

    def version(self) -> str:
        """The compiler's; empty where it is not installed."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return ""

    def compile(self, function: Callable[..., Any], args: Sequence[Any]) -> EngineProgram:
        """Compiles a function for arguments of the shapes of these.

        Args:
            function: What `jax.jit` takes.
            args: Arrays, or trees of them; the program takes them flat.

        Raises:
            PluginError: IREE is not installed, or refuses the program.
        """
        if not self.is_installed():
            raise PluginError(
                "Engine `iree` is not installed",
                details=["`iree.compiler` and `iree.runtime` are nowhere on the path"],
                advice="`pip install 'kernel-magics[iree]'` brings both.",
            )
        lowered = jax.jit(function, keep_unused=True).lower(*args)
        binary = _compiled(str(lowered.compiler_ir("stablehlo")))
        return _Program(self._runtime_config(), binary)

    def close(self) -> None:
        """Lets go of the runtime: it complains when it is still in use as Python ends."""
        self._config = None

    def _runtime_config(self) -> Any:
        if self._config is None:
            runtime: Any = importlib.import_module("iree.runtime")
            self._config = runtime.Config("local-task")
            atexit.register(self.close)
        return self._config


class _Program:
    """A compiled module in IREE's virtual machine."""

    def __init__(self, config: Any, binary: bytes) -> None:
        runtime: Any = importlib.import_module("iree.runtime")
        context = runtime.SystemContext(config=config)
        module = runtime.VmModule.copy_buffer(context.instance, binary)
        context.add_vm_module(module)
        self._run = context.modules[module.name]["main"]

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        try:
            found = self._run(*map(np.asarray, arrays))
        except (ValueError, KeyError, RuntimeError) as error:
            raise _refused("IREE failed while it ran the program", str(error)) from error
        results = found if isinstance(found, (tuple, list)) else [found]
        return [np.asarray(result) for result in results]


def _compiled(text: str) -> bytes:
    compiler: Any = importlib.import_module("iree.compiler")
    module = ir.Module.parse(text, new_context())
    newest = _jax_private.stablehlo_versions()[1]
    try:
        return _compile(compiler, module, newest)
    except compiler.CompilerToolError as error:
        if "vhlo" not in str(error) and "StableHLO" not in str(error):
            raise _refused("IREE refused the program", str(error)) from error
        first = str(error)
    try:
        return _compile(compiler, module, _OLDER)
    except (compiler.CompilerToolError, JaxRuntimeError, ValueError) as error:
        raise _refused("IREE refused the program", first) from error


def _compile(compiler: Any, module: ir.Module, version: str) -> bytes:
    artifact = mlir.serialize_portable_artifact(module, version)
    return compiler.compile_str(
        artifact,
        target_backends=["llvm-cpu"],
        input_type="stablehlo",
        extra_args=list(_OPTIONS),
    )


def _refused(what: str, words: str) -> PluginError:
    lines = [line for line in words.split("\n") if "error:" in line] or words.split("\n")
    return PluginError(
        what,
        details=[line.strip() for line in lines[:_SHOWN]],
        advice="These are IREE's own words; a plugin may take it.",
    )
