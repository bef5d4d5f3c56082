"""Functions of the source: one for each function of the program, and those inside of them."""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from kernel_magics.call.python.body import Body
from kernel_magics.call.python.layout import INDENT, WIDTH, Code, call, lines
from kernel_magics.call.python.module import Module
from kernel_magics.call.python.names import Names

_SHORT = {"bfloat16": "bf16", "bool": "bool"}
_LETTERS = {"float": "f", "int": "i", "uint": "ui", "complex": "c"}
_LONG = 80
_SEVERAL = {"carry": "state"}


def write_function(module: Module, closed: ClosedJaxpr, name: str, *, is_entry: bool) -> str:
    """Writes a function at the top of the source.

    Args:
        module: The source.
        closed: What it does.
        name: Its name in the program, without `@`.
        is_entry: Whether it gives a tuple even of one result.

    Returns:
        Its name in the source.
    """

    def write(taken: str) -> list[str]:
        names = Names(module.names)
        body = Body(module, names, INDENT, has_docstring=True)
        wanted = module.argument_names(name, len(closed.jaxpr.invars))
        parameters = [names.take(each) for each in wanted]
        for variable, parameter in zip(closed.jaxpr.invars, parameters, strict=True):
            body.bind_name(variable, parameter)
        bind_constants(body, closed)
        body.returns(body.write(closed.jaxpr), is_tuple=is_entry)
        head = lines(call(taken, *map(Code, parameters)), 0, "def ", ":")
        return ["@jax.jit", *head, *_docstring(closed, parameters), *body.statements]

    return module.once((id(closed.jaxpr), name), name, write)


def _docstring(closed: ClosedJaxpr, parameters: Sequence[str]) -> list[str]:
    kinds = [short_type(variable.aval) for variable in closed.jaxpr.invars]
    takes = ", ".join(f"{n}: {kind}" for n, kind in zip(parameters, kinds, strict=True))
    gives = ", ".join(short_type(variable.aval) for variable in closed.jaxpr.outvars)
    rows = textwrap.wrap(f"({takes}) -> ({gives}).", WIDTH - INDENT - 6, break_on_hyphens=False)
    quoted = ['    """' + rows[0], *("    " + row for row in rows[1:])]
    return [*quoted[:-1], quoted[-1] + '"""']


def short_type(aval: Any) -> str:
    """A type as XLA prints it, such as `f32[3]`."""
    name = np.dtype(aval.dtype).name if hasattr(aval, "shape") else "token"
    letters, digits = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz")
    short = _SHORT.get(name) or f"{_LETTERS.get(letters, letters)}{digits}"
    return f"{short}[{','.join(map(str, getattr(aval, 'shape', ())))}]"


def bind_constants(body: Body, closed: Any) -> None:
    """Says what the constants of a jaxpr are."""
    for variable, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
        body.bind(variable, body.module.constant(np.asarray(value)))


def define(body: Body, stem: str, fill: Callable[[Body], Sequence[str]]) -> str:
    """Writes a function inside the one that is written.

    Args:
        body: The outer function.
        stem: Its name, to which a number is added.
        fill: Writes its statements and gives its parameters.

    Returns:
        Its name.
    """
    inner = body.inner()
    name = body.names.number(stem)
    parameters = fill(inner)
    head = lines(call(name, *map(Code, parameters)), body.indent, "def ", ":")
    body.block([*head, *inner.statements])
    return name


def share(outer: Body, variables: Sequence[Any], inner: Body, inside: Sequence[Any]) -> None:
    """Lets an inner function use what the outer one has."""
    for variable, other in zip(variables, inside, strict=True):
        inner.bind(other, outer.named(variable))


def parameter(inner: Body, variables: Sequence[Any], stem: str) -> str:
    """The parameter that holds some values; where they are several, it is taken apart."""
    names = [inner.names.number(stem) for _ in variables]
    for variable, name in zip(variables, names, strict=True):
        inner.bind_name(variable, name)
    if len(names) == 1:
        return names[0]
    whole = inner.names.number(_SEVERAL.get(stem, f"{stem}s"))
    if names and len(", ".join(names)) <= _LONG - inner.indent:
        inner.statements.append(f"{' ' * inner.indent}{', '.join(names)} = {whole}")
        return whole
    for i, variable in enumerate(variables):
        inner.bind_name(variable, f"{whole}[{i}]")
    return whole
