"""Whether a call fits a signature, told to a person: which argument, wanted against given."""

import re
from collections.abc import Sequence

import jax
from jax.core import ShapedArray

from kernel_magics.errors import PrecisionError, SignatureError
from kernel_magics.ir.signature import Signature
from kernel_magics.ir.source import Source
from kernel_magics.ir.types import TensorType, aval_text, mlir_text


def check_callable(signature: Signature, source: Source) -> None:
    """Raises unless JAX arrays can be its arguments and results, all 64 bits of them.

    Raises:
        SignatureError: A type is no tensor, or of a dtype that JAX does not have.
        PrecisionError: 64-bit types while `jax_enable_x64` is off.
    """
    named = [
        *((f"argument {i} (`{a}`)", a.type) for i, a in enumerate(signature.arguments)),
        *((f"result {i}", t) for i, t in enumerate(signature.results)),
    ]
    foreign = [f"{name} is `{t.mlir_type}`" for name, t in named if not t.is_callable]
    if foreign:
        raise SignatureError(
            f"`@{signature.name}` cannot be called from JAX",
            where=_function_place(signature, source),
            details=foreign,
            advice="JAX calls functions of ranked tensors of its own dtypes.",
        )
    double = [f"{name} is `{t.mlir_type}`" for name, t in named if t.needs_x64]
    if double and not jax.config.read("jax_enable_x64"):
        raise PrecisionError(
            f"`@{signature.name}` works in 64 bits, and `jax_enable_x64` is off",
            where=_function_place(signature, source),
            details=double,
            advice='Run `jax.config.update("jax_enable_x64", True)` first; nothing was cut.',
        )


def check_arguments(signature: Signature, avals: Sequence[ShapedArray], source: Source) -> None:
    """Raises unless the arguments fit, naming each that does not.

    Raises:
        SignatureError: Another number, shape or dtype than the function takes.
    """
    wanted = signature.arguments
    if len(wanted) != len(avals):
        raise SignatureError(
            f"`@{signature.name}` takes {_plural(len(wanted), 'argument')}, "
            f"{len(avals)} {'was' if len(avals) == 1 else 'were'} given",
            where=_function_place(signature, source),
            details=[
                f"wanted: {', '.join(map(str, wanted)) or 'none'}",
                f"given: {', '.join(map(aval_text, avals)) or 'none'}",
            ],
            advice="Give as many as it takes, or choose another function.",
        )
    wrong = [
        i
        for i, (argument, aval) in enumerate(zip(wanted, avals, strict=True))
        if not argument.type.accepts(aval)
    ]
    if wrong:
        raise _misfit(signature, avals, wrong, source)


def _misfit(
    signature: Signature, avals: Sequence[ShapedArray], wrong: list[int], source: Source
) -> SignatureError:
    details: list[str] = []
    where: list[str] = []
    for i in wrong:
        argument, aval = signature.arguments[i], avals[i]
        name = f" (`%{argument.name}`)" if argument.name else ""
        details.append(
            f"argument {i}{name}: `{argument.type.mlir_type}` wanted, "
            f"`{mlir_text(aval)}` given{_difference(argument.type, aval)}"
        )
        if argument.position:
            where.append(source.excerpt(*argument.position, f"{argument.type} wanted"))
    first = signature.arguments[wrong[0]]
    return SignatureError(
        f"`@{signature.name}` takes {first.type} as argument {wrong[0]}, "
        f"{aval_text(avals[wrong[0]])} was given",
        where=where or _function_place(signature, source),
        details=details,
        advice="Give an array of that shape and dtype; `jnp.asarray(x, dtype)` converts.",
    )


def _difference(wanted: TensorType, given: ShapedArray) -> str:
    parts: list[str] = []
    if wanted.dtype != given.dtype:
        parts.append("dtype")
    if wanted.shape is None or len(wanted.shape) != len(given.shape):
        parts.append("rank")
    elif any(w is not None and w != g for w, g in zip(wanted.shape, given.shape, strict=True)):
        parts.append("shape")
    return f" (other {' and '.join(parts)})" if parts else ""


def _function_place(signature: Signature, source: Source) -> list[str]:
    if signature.position is None:
        return []
    line, column = signature.position
    text = source.line(line)
    # The caret belongs under the name, not under `func.func`.
    at = re.search(rf'@"?{re.escape(signature.name)}', text)
    return [source.excerpt(line, len(text[: at.start()].encode()) + 1 if at else column)]


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
