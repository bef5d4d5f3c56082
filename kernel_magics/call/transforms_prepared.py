"""A traced program made ready for derivatives: same values, and less to keep for the way back.

What a library says of the derivatives of its functions is not in their StableHLO. Three things
are found again here. What was spread over an array before it met another is kept as it was. Of
a cube the number alone is kept. And a softmax does not depend on the maximum that it subtracts:
nothing is kept for that maximum.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax import numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, new_jaxpr_eqn
from jax.extend.core.primitives import integer_pow_p

from kernel_magics.call.transforms_softmax import Stops, find_stops

_SPREAD = ("add", "sub", "mul", "div", "max", "min", "pow")
"""Primitives of two arrays of which one may be a number, or have dimensions of size 1."""


def prepared(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same program with what derivatives do not need left out, inner functions as well."""
    return ClosedJaxpr(_prepared(closed.jaxpr), closed.consts)


def _prepared(jaxpr: Jaxpr) -> Jaxpr:
    spread: dict[Any, Any] = {}
    squares = _squares(jaxpr)
    stops = find_stops(jaxpr)
    equations: list[JaxprEqn] = []
    for equation in jaxpr.eqns:
        cube = _cube(equation, squares)
        equations += stops.around(cube or _changed(equation, spread, stops))
        atom = _spread(equation)
        if atom is not None:
            spread[equation.outvars[0]] = atom
    return jaxpr.replace(eqns=equations)


def _squares(jaxpr: Jaxpr) -> dict[Any, Any]:
    """Squares that are read once, to what they are the squares of."""
    pairs = [e for e in jaxpr.eqns if e.primitive.name == "mul" and e.invars[0] is e.invars[1]]
    if not pairs:
        return {}
    atoms = [*(atom for equation in jaxpr.eqns for atom in equation.invars), *jaxpr.outvars]
    count = Counter(atom for atom in atoms if not isinstance(atom, Literal))
    return {e.outvars[0]: e.invars[0] for e in pairs if count[e.outvars[0]] == 1}


def _cube(equation: JaxprEqn, squares: Mapping[Any, Any]) -> JaxprEqn | None:
    """A number times its square, as one power; None for any other equation."""
    if equation.primitive.name != "mul" or any(isinstance(a, Literal) for a in equation.invars):
        return None
    one, other = equation.invars
    if squares.get(one) is not other and squares.get(other) is not one:
        return None
    result: Any = equation.outvars[0]
    if not jnp.issubdtype(result.aval.dtype, jnp.inexact):
        return None
    return new_jaxpr_eqn(
        [other if squares.get(one) is other else one],
        equation.outvars,
        integer_pow_p,
        {"y": 3},
        equation.effects,
        equation.source_info,
        equation.ctx,
    )


def _changed(equation: JaxprEqn, spread: Mapping[Any, Any], stops: Stops) -> JaxprEqn:
    """An equation that spreads its operand itself where it can, its inner jaxprs made ready."""
    atoms = [stops.renamed(atom) for atom in equation.invars]
    if equation.primitive.name in _SPREAD:
        found = [None if isinstance(a, Literal) else spread.get(a) for a in equation.invars]
        # The other operand must have the shape of the result by itself.
        whole = [_shape(a) == _shape(equation.outvars[0]) for a in equation.invars]
        if _is_one_spread(found, whole):
            atoms = [
                a if s is None else stops.renamed(s) for a, s in zip(atoms, found, strict=True)
            ]
    params = {name: _inner(value) for name, value in equation.params.items()}
    return equation.replace(invars=atoms, params=params)


def _is_one_spread(spread: Sequence[Any], whole: Sequence[bool]) -> bool:
    """Whether one operand was spread, and the other is whole."""
    return any(
        spread[i] is not None and spread[1 - i] is None and whole[1 - i] for i in range(len(whole))
    )


def _shape(atom: Any) -> tuple[int, ...]:
    return np.shape(atom.val) if isinstance(atom, Literal) else tuple(atom.aval.shape)


def _inner(value: Any) -> Any:
    """A parameter of an equation, with its jaxprs made ready."""
    if isinstance(value, ClosedJaxpr):
        return prepared(value)
    if isinstance(value, tuple) and value and isinstance(value[0], ClosedJaxpr):
        return tuple(map(_inner, value))
    return value


def _spread(equation: JaxprEqn) -> Any:
    """What an equation spreads along dimensions that it lacks; None where it does more.

    That is a known number, or an array with dimensions of size 1.
    """
    if equation.primitive.name != "broadcast_in_dim" or len(equation.invars) != 1:
        return None
    if equation.params.get("sharding") is not None:
        return None
    (atom,) = equation.invars
    if isinstance(atom, Literal):
        return None if np.shape(atom.val) else atom
    result: Any = equation.outvars[0]
    dimensions = tuple(equation.params["broadcast_dimensions"])
    return atom if dimensions == tuple(range(len(result.aval.shape))) else None
