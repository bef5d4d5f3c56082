"""Checks of custom calls: targets that nobody serves, and XLA's own that end the process."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from jax.extend.mlir import ir

from kernel_magics.ir.problems import Problem, Scope, custom_call, target_of
from kernel_magics.ir.symbols import CUSTOM_CALLS
from kernel_magics.ir.targets import ServedTargets

OWN_TARGETS = frozenset(
    (
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "Sharding",
        "annotate_device_placement",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.PropagationBarrier",
        "ApproxTopK",
        "Eigh",
        "ProductOfElementaryHouseholderReflectors",
        "Qr",
        "TopK",
    )
)
"""Targets that XLA's CPU compiler serves itself, without a handler; each was tried."""

_OF_PASSES = ("SliceToDynamic", "__onednn$")
"""Beginnings of targets that only XLA's own passes may write; each ended the process."""

_SHOWN = 8
"""Registered targets in a message."""

_SHAPES = {
    "Eigh": (1, 0, "an operand"),
    "ProductOfElementaryHouseholderReflectors": (2, 0, "a matrix and a vector"),
    "Qr": (1, 0, "an operand"),
    "TopK": (1, 2, "one operand and two results"),
}
"""Operands at least, results (0: any), in words; with fewer XLA reads past their end."""


def unknown_targets(scope: Scope) -> Iterator[Problem]:
    """Targets without a handler, where it is known which have one."""
    if scope.targets is None:
        return
    names = list(scope.targets) if isinstance(scope.targets, Collection) else []
    known = scope.targets if isinstance(scope.targets, ServedTargets) else None
    place = known.place if known is not None else "here"
    listed = ", ".join(f"`{name}`" for name in known.registered[:_SHOWN]) if known else ""
    for op in scope.ops:
        for target in op.custom_calls:
            if target in scope.targets or target in OWN_TARGETS:
                continue
            close = get_close_matches(target, names, 1)
            hint = f"Did you mean `{close[0]}`? " if close else ""
            yield Problem(
                "unknown-target",
                f"no handler serves the custom call `{target}` {place}",
                custom_call(op, target),
                f'{hint}`km.custom_calls.register("{target}", handler=…)` serves it, `fallback=` '
                f"says what stands in for it.{f' Registered: {listed}.' if listed else ''}",
            )


def fatal_targets(scope: Scope) -> Iterator[Problem]:
    """Targets of XLA's own passes, which it takes without a look at their operands."""
    for kind in CUSTOM_CALLS:
        for operation in scope.watched(kind):
            target = target_of(operation)
            if target.startswith(_OF_PASSES):
                sentence = f"`{target}` is a custom call that only XLA's passes may write"
                yield Problem("fatal-target", sentence, operation.location, _advice(target))
            elif target in _SHAPES and not _fits(operation, target):
                sentence = f"the custom call `{target}` takes {_SHAPES[target][2]}"
                yield Problem("fatal-target", sentence, operation.location, _advice(target))


def _fits(operation: ir.Operation, target: str) -> bool:
    operands, results, _ = _SHAPES[target]
    if len(operation.operands) < operands:
        return False
    if target == "ProductOfElementaryHouseholderReflectors":
        ranks = [getattr(value.type, "rank", 0) for value in operation.operands]
        return ranks[0] >= 2 and ranks[1] == ranks[0] - 1  # noqa: PLR2004
    return not results or _count_results(operation) == results


def _count_results(operation: ir.Operation) -> int:
    """How many values it gives; programs that were HLO give one tuple of them."""
    kinds = [value.type for value in operation.results]
    return sum(kind.num_types if isinstance(kind, ir.TupleType) else 1 for kind in kinds)


def _advice(target: str) -> str:
    return f"Otherwise `{target}` ends the process in XLA's compiler."
