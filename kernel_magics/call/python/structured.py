"""Operations that have functions in them: calls, branches and loops."""

from collections.abc import Callable, Sequence
from typing import Any

from jax.extend.core import Literal

from kernel_magics._jax_private import scan_counts
from kernel_magics.call.python.body import Body
from kernel_magics.call.python.combiners import COMBINERS
from kernel_magics.call.python.foreign import FOREIGN
from kernel_magics.call.python.functions import (
    bind_constants,
    define,
    parameter,
    share,
    write_function,
)
from kernel_magics.call.python.layout import Code, call, group, pack
from kernel_magics.call.python.operand import written

_NONE = Code("None")


def _call(body: Body, equation: Any) -> None:
    closed, wanted = equation.params["jaxpr"], equation.params["name"]
    name = write_function(body.module, closed, wanted, is_entry=False)
    codes = [body.operand(v).code for v in equation.invars]
    body.give(equation, call(name, *codes), stem=name.strip("_0123456789") or "called")


def _without_derivative(body: Body, equation: Any) -> None:
    """Replay gives derivatives of its own to what JAX has none of: the source has none, either."""
    name = _decorated(body, equation, "call_jaxpr", "jax.custom_jvp")
    margin = " " * body.indent
    body.block(
        [
            f"{margin}@{name}.defjvp",
            f"{margin}def {name}_jvp(primals, tangents):",
            f'{margin}    raise NotImplementedError("The derivative is not known.")',
        ]
    )
    body.give(equation, call(name, *(body.operand(v).code for v in equation.invars)))


def _one_by_one(body: Body, equation: Any) -> None:
    """Replay gives a batching rule of its own only to what is batched one after another."""
    body.module.need("from jax.custom_batching import sequential_vmap")
    name = _decorated(body, equation, "call", "sequential_vmap")
    body.give(equation, call(name, *(body.operand(v).code for v in equation.invars)))


def _decorated(body: Body, equation: Any, key: str, decorator: str) -> str:
    closed = equation.params[key]
    inner = body.inner()
    name = body.names.number("opaque")
    names = [inner.names.number("x") for _ in closed.jaxpr.invars]
    for variable, taken in zip(closed.jaxpr.invars, names, strict=True):
        inner.bind_name(variable, taken)
    bind_constants(inner, closed)
    inner.returns(inner.write(closed.jaxpr))
    margin = " " * body.indent
    body.block(
        [
            f"{margin}@{decorator}",
            f"{margin}def {name}({', '.join(names)}):",
            *inner.statements,
        ]
    )
    return name


def _branch(body: Body, equation: Any) -> None:
    index, *operands = equation.invars
    names: list[str] = []
    for closed in equation.params["branches"]:

        def fill(inner: Body, closed: Any = closed) -> Sequence[str]:
            share(body, operands, inner, closed.jaxpr.invars)
            bind_constants(inner, closed)
            inner.returns(inner.write(closed.jaxpr))
            return ()

        names.append(define(body, "branch", fill))
    made = _choice(body, index, [Code(n) for n in names], equation.params)
    body.give(equation, made)


def _choice(body: Body, index: Any, branches: list[Code], params: Any) -> Code:
    platforms = params.get("branches_platforms")
    if platforms is not None:
        by_platform = {
            (entry[0] if entry else "default"): branch
            for entry, branch in zip(platforms, branches, strict=True)
        }
        return call("lax.platform_dependent", **by_platform)
    truth = None if isinstance(index, Literal) else body.truth(index)
    if truth is not None:
        no, yes = branches
        return call("lax.cond", truth, yes, no)
    return call("lax.switch", body.operand(index).code, group(branches, "[]"))


def _scan(body: Body, equation: Any) -> None:
    params = equation.params
    closed, (constants, carried) = params["jaxpr"], scan_counts(params)
    outer, inside = equation.invars, closed.jaxpr.invars
    split = constants + carried

    def fill(inner: Body) -> Sequence[str]:
        share(body, outer[:constants], inner, inside[:constants])
        bind_constants(inner, closed)
        parameters = [
            parameter(inner, inside[constants:split], "carry"),
            parameter(inner, inside[split:], "row"),
        ]
        made = inner.write(closed.jaxpr)
        inner.returns([_some(made[:carried], group(())), _some(made[carried:], _NONE)])
        return parameters

    name = define(body, "step", fill)
    codes = [body.operand(v).code for v in outer[constants:]]
    rows = _some(codes[carried:], _NONE)
    others = {key: written(params[key], f"its {key}") for key in _said(params, rows)}
    made = call("lax.scan", Code(name), _some(codes[:carried], group(())), rows, **others)
    body.give_groups(
        (("end", equation.outvars[:carried]), ("rows", equation.outvars[carried:])), made
    )


def _some(codes: Sequence[Code], otherwise: Code) -> Code:
    return pack(codes) if codes else otherwise


def _said(params: Any, rows: Code) -> list[str]:
    names = ["length"] if rows is _NONE else []
    names += ["reverse"] if params["reverse"] else []
    return names + (["unroll"] if params["unroll"] != 1 else [])


def _while(body: Body, equation: Any) -> None:
    params, outer = equation.params, equation.invars
    first = params["cond_nconsts"]
    start = first + params["body_nconsts"]

    def defined(stem: str, key: str, low: int, high: int) -> Code:
        closed = params[key]

        def fill(inner: Body) -> Sequence[str]:
            inside, count = closed.jaxpr.invars, high - low
            share(body, outer[low:high], inner, inside[:count])
            bind_constants(inner, closed)
            taken = parameter(inner, inside[count:], "carry")
            inner.returns([pack(inner.write(closed.jaxpr))])
            return [taken]

        return Code(define(body, stem, fill))

    goes_on = defined("goes_on", "cond_jaxpr", 0, first)
    step = defined("step", "body_jaxpr", first, start)
    codes = [body.operand(v).code for v in outer[start:]]
    body.give(equation, call("lax.while_loop", goes_on, step, pack(codes)))


STRUCTURED: dict[str, Callable[[Body, Any], None]] = {
    **COMBINERS,
    **FOREIGN,
    "cond": _branch,
    "custom_jvp_call": _without_derivative,
    "custom_vmap_call": _one_by_one,
    "jit": _call,
    "pjit": _call,
    "platform_index": lambda body, equation: body.bind_name(equation.outvars[0], "None"),
    "scan": _scan,
    "while": _while,
}
"""Primitives to what writes them."""
