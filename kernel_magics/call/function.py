"""`hlo_call` and `HloFunction`: MLIR functions that are called like JAX functions."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import jax
from jax.core import Tracer
from jax.errors import JaxRuntimeError
from jax.extend.core import ClosedJaxpr

from kernel_magics.call.failure import compile_error, is_of_xla
from kernel_magics.call.overrides import (
    NONE,
    Overrides,
    Rule,
    ensure_rule,
    overridden,
    read_batching,
)
from kernel_magics.call.placement import check as _checks
from kernel_magics.call.placement import run_on
from kernel_magics.call.primitive import call_program, compiled
from kernel_magics.call.program import Program, read_program
from kernel_magics.call.runs import run_limited
from kernel_magics.call.scalars import Run, with_integers
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.graph.functions import program_graph
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import MAIN
from kernel_magics.ir.link_report import LinkReport
from kernel_magics.ir.parse import parse
from kernel_magics.ir.signature import Signature
from kernel_magics.ir.source import Code, Source, read_source


def hlo_call(code: Code, *args: Any, func_name: str = MAIN) -> tuple[jax.Array, ...]:
    """Calls a function of an MLIR program, in a trace or outside of one.

    Works without IPython and without a session: what it does depends on the text alone. The
    program is linked into the module that JAX builds; called many times, it is there once.

    Args:
        code: MLIR text, MLIR bytecode, a portable artifact, HLO text, a serialized HLO module,
            a function exported by JAX, or a path to a file of these.
        *args: JAX or NumPy arrays or Python scalars, of the shapes and dtypes that the
            function takes. Dynamic dimensions are specialised to them.
        func_name: The function to call, with or without `@`.

    Returns:
        Always a tuple: one JAX array for each result of the function.

    Raises:
        SourceError: `code` is not a program that we take; points at line and column.
        EntryError: There is no such function; names those on offer.
        SignatureError: The arguments do not fit; names index, wanted and given.
        PrecisionError: The function works in 64 bits and `jax_enable_x64` is off.
        PreflightError: XLA cannot compile it; says which line and why.
        CompileError: XLA refused it.
    """
    function = _function(read_source(code), func_name.removeprefix("@"))
    # In a trace the call stands by itself in the jaxpr, without a `jit` round it.
    if any(isinstance(arg, Tracer) for arg in args):
        return call_program(function.program, args)
    return function(*args)


class Version:
    """What a function of a unit says, as long as it says it; functions of that text share it.

    Attributes:
        is_outdated: Whether the unit says something else now, or is gone.
    """

    __slots__ = ("is_outdated",)

    def __init__(self) -> None:
        self.is_outdated = False


class HloFunction:
    """One function of an MLIR program, called like any JAX function.

    Works eagerly, under `jax.jit`, `grad`, `vmap` and JAX's other transformations, in control
    flow, under `jax.export`, `shard_map` and with sharded arguments. `print` shows its signature.
    """

    def __init__(
        self,
        program: Program,
        *,
        report: LinkReport | None = None,
        version: Version | None = None,
        overrides: Overrides = NONE,
    ) -> None:
        self._program = program
        self._overrides = overrides
        self._report = report
        self.version = version or Version()
        self.__name__ = program.entry
        # A unit may define thousands of functions of which a handful is ever called.
        self._run: Run = self._first_run
        self._compiled: Run | None = None
        self._limit_s: float | None = None
        self._device: Any = None

    def __call__(self, *args: Any) -> tuple[jax.Array, ...]:
        """Calls it.

        Args:
            *args: JAX or NumPy arrays or Python scalars, as `signature` says.

        Returns:
            A tuple: one JAX array for each result.

        Raises:
            SignatureError: The arguments do not fit.
            PrecisionError: It works in 64 bits and `jax_enable_x64` is off.
            PreflightError: XLA cannot compile it.
            CompileError: XLA refused it, or it failed while running.
            PlacementError: An argument is bound to another device than the one in use.
        """
        # Nothing else here: each line would show against a call of a plain `jax.jit` function.
        if _checks:
            _checks[0](self._program, args, self._device)
        try:
            return self._run(*args)
        except JaxRuntimeError as error:
            raise compile_error(self._program, error) from error
        except ValueError as error:
            if not is_of_xla(error):
                raise
            raise compile_error(self._program, error) from error

    def _first_run(self, *args: Any) -> tuple[jax.Array, ...]:
        run = self._jitted() if self._limit_s is None else self._limited
        run = with_integers(self._program.signature, run)
        self._run = run if self._device is None else run_on(self._device, self, run)
        return self._run(*args)

    def _limited(self, *args: Any) -> tuple[jax.Array, ...]:
        assert self._limit_s is not None
        if any(isinstance(arg, Tracer) for arg in args):
            return self._jitted()(*args)
        return run_limited(self._program, args, self._limit_s)

    @property
    def limit_s(self) -> float | None:
        """Seconds that a call may take, compile and all; it then runs in a child process.

        None for no limit. Calls within a trace have none.
        """
        return self._limit_s

    @limit_s.setter
    def limit_s(self, limit_s: float | None) -> None:
        self._limit_s, self._run = limit_s, self._first_run

    @property
    def device(self) -> Any:
        """Where calls outside of a trace run, as `run_on` takes it; None for where work goes."""
        return self._device

    @device.setter
    def device(self, device: Any) -> None:
        self._device, self._run = device, self._first_run

    def _jitted(self) -> Run:
        if self._compiled is None:
            ours, program = self._overrides, self._program
            self._compiled = compiled(program) if ours == NONE else overridden(program, ours)
        return self._compiled

    def retire(self) -> None:
        """Marks it as an older version, and lets go of what was compiled: a call compiles anew."""
        self.version.is_outdated = True
        self._run, self._compiled = self._first_run, None

    @property
    def is_outdated(self) -> bool:
        """Whether its unit says something else now or is gone; it keeps working as it was."""
        return self.version.is_outdated

    @property
    def program(self) -> Program:
        """What a call carries through JAX's traces."""
        return self._program

    @property
    def signature(self) -> Signature:
        """Arguments and results, with the names that the text has."""
        return self._program.signature

    @property
    def text(self) -> str:
        """The program as its author gave it; bytes as the MLIR text that they hold."""
        content = self._program.source.content
        return (
            content if isinstance(content, str) else str(parse(self._program.source, new_context()))
        )

    @property
    def link_report(self) -> LinkReport | None:
        """What linking did with its unit; None outside of a session."""
        return self._report

    def graph(self) -> FunctionGraph:
        """The functions it uses and how they call each other."""
        return program_graph(self._program.source, self._program.entry, self._report)

    def with_vjp(self, rule: Rule) -> "HloFunction":
        """The same function with a gradient of its own; `rule` replaces what JAX would find.

        Args:
            rule: An MLIR function or a JAX function. Takes the arguments, then a cotangent for
                each result of float type; gives a cotangent for each argument of float type.

        Returns:
            Another function. Forward mode refuses it, as it refuses a `jax.custom_vjp`.

        Raises:
            UsageError: `rule` cannot be called.
            SignatureError: `rule` is an MLIR function that takes or gives something else. What a
                JAX function gives is checked when it is used.
        """
        checked = ensure_rule(self._program, rule, "with_vjp")
        return self._with(replace(self._overrides, vjp=checked, jvp=None))

    def with_jvp(self, rule: Rule) -> "HloFunction":
        """The same function with derivatives of its own, in both directions.

        Args:
            rule: An MLIR function or a JAX function. Takes the arguments, then a tangent for each
                argument of float type; gives a tangent for each result of float type. It is
                linear in the tangents: gradients are made by transposing it.

        Returns:
            Another function.

        Raises:
            UsageError: `rule` cannot be called.
            SignatureError: `rule` is an MLIR function that takes or gives something else. What a
                JAX function gives is checked when it is used.
        """
        checked = ensure_rule(self._program, rule, "with_jvp")
        return self._with(replace(self._overrides, jvp=checked, vjp=None))

    def with_batching(self, method: str | Rule) -> "HloFunction":
        """The same function, batched in another way than op by op.

        Args:
            method: A method of `jax.ffi`: `"sequential"` calls it for each row in a loop,
                `"sequential_unrolled"` without one; `"broadcast_all"`, `"expand_dims"` and
                `"legacy_vectorized"` are for its custom calls, all else is batched op by op. Or an
                MLIR or JAX function that takes every argument with a leading dimension for the
                rows, and gives every result with one.

        Returns:
            Another function. Derivatives are batched as before: they are JAX's own operations.

        Raises:
            UsageError: It is neither. What a function gives is checked when it is used.
        """
        return self._with(replace(self._overrides, batching=read_batching(method)))

    def _with(self, overrides: Overrides) -> "HloFunction":
        return HloFunction(
            self._program, report=self._report, version=self.version, overrides=overrides
        )

    def jaxpr(self) -> ClosedJaxpr:
        """The program as JAX's own operations, for arguments as its signature has them.

        Raises:
            PreflightError: Ops of it have no form in JAX, or its shapes are known at a call only.
        """
        # Late: it costs as much to import as all else, and few ask.
        from kernel_magics.call.replay.replay import make_jaxpr  # noqa: PLC0415

        return make_jaxpr(self._program)

    def to_python(self) -> str:
        """The program as source of `jax.lax` that runs by itself; refused as `jaxpr` is."""
        from kernel_magics.call.python.writer import to_python  # noqa: PLC0415 - as above

        return to_python(self._program)

    def lower(self, *args: Any) -> jax.stages.Lowered:
        """Lowers it for arguments or `jax.ShapeDtypeStruct`s, as a `jax.jit` function does."""
        return self._jitted().lower(*args)  # pyright: ignore[reportFunctionMemberAccess]

    def __repr__(self) -> str:
        unit = f" of {self._report.unit}" if self._report else ""
        version = ", an older version" if self.is_outdated else ""
        return f"<HloFunction {self.signature}{unit}{version}>"


@lru_cache(maxsize=256)
def _function(source: Source, entry: str) -> HloFunction:
    return HloFunction(read_program(source, entry))
