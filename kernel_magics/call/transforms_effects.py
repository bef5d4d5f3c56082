"""Whether a call does more than give results, so that JAX keeps it where none is used."""

from functools import lru_cache

from jax.extend.mlir import ir

from kernel_magics.call.program import Program, parsed
from kernel_magics.ir.symbols import CUSTOM_CALLS
from kernel_magics.ir.targets import served_declarations


@lru_cache(maxsize=1024)
def has_side_effect(program: Program) -> bool:
    """Whether a custom call that the entry uses, directly or not, is said to have one."""
    index = parsed(program.source).index
    used = index.reachable([program.entry])
    watched = [index.by_name[name].watched for name in used]
    calls = [op for kinds in watched for kind in CUSTOM_CALLS for op in kinds.get(kind, ())]
    if any(_is_effectful(call) for call in calls):
        return True
    meanings = {binding.name: binding.program for binding in program.bindings}
    served = served_declarations(index, meanings)
    if any(form.has_side_effect for name, form in served.items() if name in used):
        return True
    return any(has_side_effect(meanings[name]) for name in meanings if name in used)


def _is_effectful(call: ir.Operation) -> bool:
    attributes = call.attributes
    flag = attributes["has_side_effect"] if "has_side_effect" in attributes else None  # noqa: SIM401 - has no `get`
    return isinstance(flag, ir.BoolAttr) and flag.value
