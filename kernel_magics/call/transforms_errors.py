"""What keeps JAX from transforming a program: all of it in one error, and what would help."""

from collections.abc import Sequence
from typing import Any

import jax
from jax.core import ShapedArray

from kernel_magics.call.program import Program
from kernel_magics.call.shapes import static_program
from kernel_magics.call.transforms_traced import Avals
from kernel_magics.errors import PreflightError, SignatureError
from kernel_magics.ir.types import aval_text

ADVICE = {
    "batched": (
        '`fn.with_batching("sequential")` calls it once for each row; '
        "`fn.with_batching(rule)` takes a function of a whole batch."
    ),
    "differentiated": (
        "Give it a derivative of its own: `fn.with_vjp(rule)` for gradients, "
        "`fn.with_jvp(rule)` for both directions."
    ),
    "transposed": (
        "Give it a derivative of its own: `fn.with_vjp(rule)` needs no transpose of it."
    ),
}
"""What was asked of a function, to the override that helps."""


def ensure_form(program: Program, avals: Avals, asked: str) -> None:
    """Refuses a program that JAX has no form of.

    Args:
        program: The function.
        avals: What it is called with.
        asked: A word of `ADVICE`.

    Raises:
        PreflightError: Lists every op that blocks, with its line and the reason.
    """
    # Late: they cost as much to import as all else, and few calls are transformed.
    from kernel_magics.call.replay.replay import blockers, refusal  # noqa: PLC0415

    static = static_program(program, avals)
    found = blockers(static)
    if not found:
        return
    told = refusal(static, found)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    raise PreflightError(
        f"`@{program.entry}` cannot be {asked}: `{found[0].op}`: {found[0].reason}{more}",
        where=told.where,
        details=told.details,
        advice=ADVICE[asked],
    )


def ensure_types(
    program: Program, method: str, what: str, made: Sequence[Any], wanted: Sequence[ShapedArray]
) -> None:
    """Refuses what a rule of the user gives, unless it is what JAX goes on with.

    Args:
        program: The function that the rule is for.
        method: The method that took the rule.
        what: What the values are, such as `a tangent for each result of float type`.
        made: What the rule gives.
        wanted: The types that it should give.

    Raises:
        SignatureError: Another number of values, or another type; names all.
    """
    given = [jax.typeof(value) for value in made]
    if [_type(aval) for aval in given] == [_type(aval) for aval in wanted]:
        return
    raise SignatureError(
        f"The rule that `{method}` took for `@{program.entry}` gives something else",
        details=[
            f"wanted: {what}: {', '.join(map(aval_text, wanted)) or 'none'}",
            f"given: {', '.join(map(aval_text, given)) or 'none'}",
        ],
        advice="Let the rule give these, in this order.",
    )


def _type(aval: ShapedArray) -> tuple[Any, ...]:
    return tuple(aval.shape), aval.dtype
