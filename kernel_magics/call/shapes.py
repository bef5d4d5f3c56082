"""What a call gives back, and the program with all shapes known that it runs."""

from functools import lru_cache

from jax.core import ShapedArray
from jax.extend.mlir import ir

from kernel_magics.call.assemble import Assembled, assemble
from kernel_magics.call.program import Program, read_program
from kernel_magics.ir.arguments import check_arguments, check_callable
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import MAIN
from kernel_magics.ir.link import Target
from kernel_magics.ir.refine import refine
from kernel_magics.ir.source import Source

Avals = tuple[ShapedArray, ...]


def result_avals(program: Program, avals: Avals) -> list[ShapedArray]:
    """Checks a call and tells the abstract values of its results.

    Raises:
        SignatureError: The arguments do not fit, or the function's types are not JAX's.
        PrecisionError: 64-bit types while `jax_enable_x64` is off.
    """
    check_callable(program.signature, program.source)
    check_arguments(program.signature, avals, program.source)
    results: list[ShapedArray] = []
    for kind in static_program(program, avals).signature.results:
        assert kind.shape is not None
        results.append(ShapedArray(kind.shape, kind.dtype))  # pyright: ignore[reportArgumentType]
    return results


def static_program(program: Program, avals: Avals) -> Program:
    """The program for arguments of these shapes: itself, or one with its dimensions known.

    Raises:
        PreflightError: The program cannot be compiled.
        SignatureError: Its shapes do not work out for these arguments.
    """
    return _refined(program, avals) if program.signature.is_dynamic else program


@lru_cache(maxsize=256)
def _refined(program: Program, avals: Avals) -> Program:
    module = ir.Module.create(ir.Location.unknown(new_context()))
    target = Target(module, ir.SymbolTable(module.operation))
    entry = assemble(program, target, Assembled())
    content = refine(module, entry, avals)
    return read_program(Source(content, program.source.name), MAIN)
