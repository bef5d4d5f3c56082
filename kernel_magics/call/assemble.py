"""A program in a module: the part that a call needs, with what its declarations mean."""

from kernel_magics import _jax_private
from kernel_magics.call.program import Program
from kernel_magics.ir.closure import keep_reachable
from kernel_magics.ir.link import Target, link
from kernel_magics.ir.parse import parse
from kernel_magics.ir.preflight import needs_lapack, preflight
from kernel_magics.ir.symbols import scan


def assemble(program: Program, target: Target, memory: dict[Program, str]) -> str:
    """Links into the target what a call of the program needs; each program once.

    Args:
        program: The function to call, with static shapes unless they are refined later.
        target: The module that the call stands in.
        memory: Programs that are there already, to the names of their entries; added to.

    Returns:
        The name of the entry in the target, without `@`.

    Raises:
        PreflightError: The program cannot be compiled.
        LinkError: Its module attributes contradict those of the target.
    """
    known = memory.get(program)
    if known is not None:
        return known
    module = parse(program.source, target.module.context)
    index = scan(module)
    meanings = {binding.name: binding.program for binding in program.bindings}
    preflight(index, program.entry, program.source, bound=meanings)
    index = keep_reachable(module, index, program.entry)
    if needs_lapack(index):
        _jax_private.initialize_lapack()
    bound = {
        name: assemble(meaning, target, memory)
        for name, meaning in meanings.items()
        if name in index.by_name
    }
    tag = program.source.tag
    report = link(module, index, target, unit=repr(program), tag=tag, bound=bound)
    memory[program] = report[program.entry].new_name
    return memory[program]
