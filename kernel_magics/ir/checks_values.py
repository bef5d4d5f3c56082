"""A check of values: integers that MLIR divides by zero while it compiles.

JAX 0.10.2 folds an integer division of two constants without a look at the divisor, and the
processor ends the process. JAX 0.12 does not. A division of what an argument brings is not
folded, and gives -1 or the dividend.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from jax.extend.mlir import ir

from kernel_magics.ir.problems import Doubt, Problem, Scope

_DIVISIONS = ("stablehlo.divide", "stablehlo.remainder")

_ONE_OPERAND = frozenset(
    f"stablehlo.{name}"
    for name in [
        "abs",
        "broadcast_in_dim",
        "convert",
        "negate",
        "not",
        "reshape",
        "reverse",
        "transpose",
    ]
)
"""Constant only where their operand is."""

_ANY_OPERAND = frozenset(("stablehlo.add", "stablehlo.concatenate"))
"""Constant only where all operands are."""

_ALL_OPERANDS = frozenset(
    f"stablehlo.{name}"
    for name in [
        "and",
        "clamp",
        "compare",
        "divide",
        "maximum",
        "minimum",
        "multiply",
        "or",
        "power",
        "remainder",
        "select",
        "shift_left",
        "shift_right_arithmetic",
        "shift_right_logical",
        "slice",
        "subtract",
        "xor",
    ]
)
"""Constant where one operand is, such as a product with zero, or where two are the same."""

_DEEPEST = 64
"""Ops followed back from a division."""


def constant_divisions(scope: Scope) -> Iterator[Problem]:
    """Integer divisions whose two sides are written in the program, by a zero."""
    for operation in _integer_divisions(scope):
        dividend, divisor = (_constant(value) for value in operation.operands)
        if dividend is not None and divisor is not None and _has_zero(divisor):
            yield Problem(
                "constant-division",
                f"`{operation.name}` divides a constant by zero while it is compiled, "
                "which ends the process with JAX 0.10",
                operation.location,
                "Write the value that you want instead.",
            )


def divisions_in_doubt(scope: Scope) -> Iterator[Doubt]:
    """Integer divisions that may turn out to be such ones when the program is simplified."""
    for operation in _integer_divisions(scope):
        divisor = _constant(operation.operands[1])
        if divisor is not None and not _has_zero(divisor):
            continue
        if all(_may_be_constant(value) for value in operation.operands):
            form = f"`{operation.name}` of integers that may both turn out to be constants"
            yield Doubt("constant-division", form, operation.location)


def _integer_divisions(scope: Scope) -> Iterator[ir.Operation]:
    for kind in _DIVISIONS:
        for operation in scope.watched(kind):
            if scope.types.read(operation.results.types[0]).elements[0].lstrip("u")[0] == "i":
                yield operation


def _constant(value: ir.Value[Any]) -> ir.Attribute | None:
    """The value, where it is written in the program and at most broadcast or reshaped."""
    for _ in range(_DEEPEST):
        owner = value.owner
        if not isinstance(owner, (ir.Operation, ir.OpView)):
            return None
        operation = owner.operation
        if operation.name == "stablehlo.constant":
            return operation.attributes["value"]
        if operation.name not in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
            return None
        value = operation.operands[0]
    return None


def _has_zero(attribute: ir.Attribute) -> bool:
    """Whether a constant holds a zero; so it is taken to do where that cannot be read."""
    elements: Any = attribute
    if not isinstance(attribute, ir.DenseIntElementsAttr):
        return True
    if elements.is_splat:
        return int(elements.get_splat_value().value) == 0
    try:
        return not np.all(np.asarray(elements))
    except (TypeError, ValueError):
        # No buffer: elements narrower than a byte.
        return any(int(element) == 0 for element in elements)


def _may_be_constant(value: ir.Value[Any], left: int = _DEEPEST) -> bool:
    owner = value.owner
    if not isinstance(owner, (ir.Operation, ir.OpView)):
        return False
    operation, left = owner.operation, left - 1
    if left <= 0 or operation.name == "stablehlo.constant":
        return True
    operands = list(operation.operands)
    if operation.name in _ONE_OPERAND:
        return _may_be_constant(operands[0], left)
    if operation.name in _ANY_OPERAND:
        return all(_may_be_constant(operand, left // 2) for operand in operands)
    if operation.name in _ALL_OPERANDS:
        same = any(a == b for i, a in enumerate(operands) for b in operands[:i])
        return same or any(_may_be_constant(operand, left // 2) for operand in operands)
    # Calls, loops and the like are not folded; what is not known is doubted.
    return operation.name not in _NOT_FOLDED


_NOT_FOLDED = frozenset(
    (
        "func.call",
        "stablehlo.custom_call",
        "stablehlo.dot_general",
        "stablehlo.dynamic_slice",
        "stablehlo.gather",
        "stablehlo.reduce",
        "stablehlo.reduce_window",
        "stablehlo.rng_bit_generator",
        "stablehlo.sort",
        "stablehlo.while",
    )
)
