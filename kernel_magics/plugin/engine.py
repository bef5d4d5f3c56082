"""Engines: what runs functions of cells without being a PJRT plugin, under the same names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np
from jax import numpy as jnp
from jax.core import Tracer

from kernel_magics.call.function import HloFunction
from kernel_magics.errors import PluginError


class EngineProgram(Protocol):
    """A function that an engine has compiled."""

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Runs it on arrays of the shapes that it was compiled for."""
        ...


class Engine(Protocol):
    """A compiler with a runtime."""

    @property
    def name(self) -> str:
        """Under which it is asked for."""
        ...

    @property
    def package(self) -> str:
        """The distribution that brings it."""
        ...

    def is_installed(self) -> bool:
        """Whether it can be used, found without importing it."""
        ...

    def version(self) -> str:
        """Of the package; empty where it is not installed."""
        ...

    def compile(self, function: Any, args: Sequence[Any]) -> EngineProgram:
        """Compiles what `jax.jit` takes, for arguments of the shapes of these.

        Raises:
            PluginError: It is not installed, or refuses the program.
        """
        ...


@dataclass(slots=True, eq=False)
class EngineDevice:
    """Where an `HloFunction` runs that an engine is to run: its programs, one for each shape."""

    engine: Engine
    programs: dict[tuple[Any, ...], EngineProgram]

    def __call__(self, function: HloFunction, args: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Runs a function there; results are arrays of the plugin in use."""
        arrays = [np.asarray(arg) for arg in args]
        program = self.prepare(function, arrays)
        return tuple(jnp.asarray(result) for result in program(arrays))

    def close(self) -> None:
        """Lets go of what was compiled; the next call compiles anew."""
        self.programs.clear()

    def prepare(self, function: HloFunction, args: Sequence[Any]) -> EngineProgram:
        """The function compiled for arguments of these shapes; from then on it is there."""
        if any(isinstance(arg, Tracer) for arg in args):
            raise PluginError(
                f"Engine `{self.engine.name}` cannot run `@{function.signature.name}` in a trace",
                details=["JAX's own compiler builds the program that is being traced."],
                advice="Call it outside of `jax.jit`, or define the cell without `--on`.",
            )
        kinds = tuple((arg.shape, str(arg.dtype)) for arg in args)
        key = (function.program.key, kinds)
        if key not in self.programs:
            self.programs[key] = self.engine.compile(function, args)
        return self.programs[key]
