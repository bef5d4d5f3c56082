"""Softmaxes in a jaxpr, whose maxima JAX need not differentiate.

`softmax(x)` is `softmax(x - c)` for every `c` that is one number a row, so its derivative with
respect to the maximum that libraries subtract is nothing, in every order. JAX cannot see that,
and keeps where the maximum stood.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from jax.extend.core import Jaxpr, JaxprEqn, Literal, gensym, new_jaxpr_eqn
from jax.extend.core.primitives import stop_gradient_p


@dataclass(frozen=True, slots=True)
class Stops:
    """Maxima to the values that stand in for them, behind a `stop_gradient`."""

    behind: dict[Any, Any] = field(default_factory=dict["Any", Any])

    def renamed(self, atom: Any) -> Any:
        """What an equation takes in place of an atom."""
        return atom if isinstance(atom, Literal) else self.behind.get(atom, atom)

    def around(self, equation: JaxprEqn) -> list[JaxprEqn]:
        """An equation, and the stop behind it where its value is such a maximum."""
        stops = [
            new_jaxpr_eqn(
                [value],
                [self.behind[value]],
                stop_gradient_p,
                {},
                equation.effects,
                equation.source_info,
                equation.ctx,
            )
            for value in equation.outvars
            if value in self.behind
        ]
        return [equation, *stops]


def find_stops(jaxpr: Jaxpr) -> Stops:
    """The maxima of a jaxpr's softmaxes and of their logarithms; not those of inner jaxprs."""
    maxima = [each for each in jaxpr.eqns if each.primitive.name == "reduce_max"]
    if not maxima:
        return Stops()
    uses, fresh = _uses(jaxpr), gensym()
    numbers = {
        each.outvars[0]
        for each in jaxpr.eqns
        if each.primitive.name == "broadcast_in_dim" and isinstance(each.invars[0], Literal)
    }
    found = [each.outvars[0] for each in maxima if _is_of_softmax(each, uses, numbers)]
    return Stops({each: fresh(each.aval) for each in found})


@dataclass(frozen=True, slots=True)
class _Use:
    """An equation that reads a value, or the end of the jaxpr."""

    equation: JaxprEqn | None
    place: int
    """Which operand the value is."""
    of_log: bool = False
    """Whether the logarithm of the value is read."""

    def is_a(self, name: str, place: int) -> bool:
        """Whether it is this primitive, with the value as this operand."""
        return self.equation is not None and (
            (self.equation.primitive.name, self.place) == (name, place)
        )

    @property
    def result(self) -> Any:
        """What the equation gives."""
        assert self.equation is not None
        return self.equation.outvars[0]

    def operand(self, place: int) -> Any:
        """What the equation reads."""
        assert self.equation is not None
        return self.equation.invars[place]

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the equation."""
        return {} if self.equation is None else self.equation.params


Uses = dict[Any, list[_Use]]


def _uses(jaxpr: Jaxpr) -> Uses:
    found: Uses = {}
    for equation in jaxpr.eqns:
        for place, atom in enumerate(equation.invars):
            if not isinstance(atom, Literal):
                found.setdefault(atom, []).append(_Use(equation, place))
    for atom in jaxpr.outvars:
        if not isinstance(atom, Literal):
            found.setdefault(atom, []).append(_Use(None, 0))
    return found


def _is_of_softmax(maximum: JaxprEqn, uses: Uses, numbers: Collection[Any]) -> bool:
    """Whether all that comes of a maximum is a softmax of what it is the maximum of."""
    operand: Any = maximum.invars[0]
    rows = _Rows(operand.aval.shape, tuple(maximum.params["axes"]), uses, numbers)
    shifts = list(rows.ends(maximum.outvars[0]))
    return bool(shifts) and all(
        shift.is_a("sub", 1)
        and not shift.of_log
        and shift.operand(0) is operand
        and _is_normalized(shift.result, rows)
        for shift in shifts
    )


def _is_normalized(shifted: Any, rows: "_Rows") -> bool:
    """Whether a value is used as `exp(x) / sum(exp(x))`, or as `x - log(sum(exp(x)))`, alone."""
    normalized: list[JaxprEqn | None] = []
    by: list[JaxprEqn | None] = []
    for use in rows.uses.get(shifted, []):
        if not use.is_a("exp", 0):
            normalized.append(use.equation if use.is_a("sub", 0) else None)
            continue
        for inner in rows.uses.get(use.result, []):
            if inner.is_a("reduce_sum", 0) and tuple(inner.params["axes"]) == rows.axes:
                for end in rows.ends(inner.result):
                    fits = end.is_a("sub", 1) if end.of_log else end.is_a("div", 1)
                    by.append(end.equation if fits else None)
            else:
                normalized.append(inner.equation if inner.is_a("div", 0) else None)
    # Each is normalized by its own sum, and nothing else is made of either.
    found, wanted = (set(map(id, each)) for each in (normalized, by))
    return None not in (*normalized, *by) and bool(by) and found == wanted


@dataclass(frozen=True, slots=True)
class _Rows:
    """An array of which some axes make up a row."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    uses: Uses
    numbers: Collection[Any]
    """Values of which all elements are one known number."""

    def ends(self, reduced: Any) -> Iterator[_Use]:
        """The uses of one number a row, seen through what spreads it over its row again.

        The end of the jaxpr stands for a use in other rows.
        """
        kept = [d for d in range(len(self.shape)) if d not in self.axes]
        return self._ends(reduced, tuple(kept), of_log=False)

    def _ends(self, value: Any, lies: tuple[int | None, ...], *, of_log: bool) -> Iterator[_Use]:
        """Those of a value whose dimensions are these of the array; None for those of size 1."""
        for use in self.uses.get(value, []):
            moved = self._moved(use, lies)
            if moved is not None:
                yield from self._ends(use.result, moved, of_log=of_log)
            elif use.is_a("log", 0) and not of_log:
                yield from self._ends(use.result, lies, of_log=True)
            elif self._is_in_place(lies):
                yield replace(use, of_log=of_log)
            else:
                yield _Use(None, 0)

    def _moved(self, use: _Use, lies: tuple[int | None, ...]) -> tuple[int | None, ...] | None:
        """Where dimensions lie in what an equation makes; None where it does more than that."""
        if use.is_a("max", 0) or use.is_a("max", 1):
            other = use.operand(1 - use.place)
            return lies if isinstance(other, Literal) or other in self.numbers else None
        if use.is_a("broadcast_in_dim", 0):
            shape = use.params["shape"]
            made: list[int | None] = [None] * len(shape)
            for dimension, target in zip(lies, use.params["broadcast_dimensions"], strict=True):
                made[target] = dimension
            return tuple(made)
        if use.is_a("reshape", 0) or use.is_a("squeeze", 0):
            return self._reshaped(use.result.aval.shape, lies)
        return None

    def _reshaped(
        self, shape: tuple[int, ...], lies: tuple[int | None, ...]
    ) -> tuple[int | None, ...] | None:
        """Dimensions of size 1 come and go, the others stay in order."""
        left = [d for d in lies if d is not None and self.shape[d] != 1]
        if [size for size in shape if size != 1] != [self.shape[d] for d in left]:
            return None
        return tuple(None if size == 1 else left.pop(0) for size in shape)

    def _is_in_place(self, lies: tuple[int | None, ...]) -> bool:
        """Whether each number stands in its own row of the whole array."""
        return len(lies) == len(self.shape) and all(
            lie == d or self.shape[d] == 1 or (d in self.axes and lie is None)
            for d, lie in enumerate(lies)
        )
