"""Calls and branches, and what only passes values on."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from jax import lax

from kernel_magics.call.replay.bodies import over_arrays
from kernel_magics.call.replay.operation import Blocked, Op, Run, Unary


def single(run: Callable[..., Any], count: int) -> Run:
    """A function that gives a sequence, as one that gives the value itself where it is one."""
    return (lambda *args: run(*args)[0]) if count == 1 else run


def _call(op: Op) -> Run:
    return op.callees.function(op.symbol("callee"))


def _composite(op: Op) -> Run:
    return op.callees.function(op.symbol("decomposition"))


def _if(op: Op) -> Run:
    def branch(regions: Any, condition: Any) -> Any:
        yes, no = (partial(_as_tuple, region) for region in regions)
        return lax.cond(condition, yes, no)

    return single(branch, len(op.results))


def _case(op: Op) -> Run:
    last = len(op.regions) - 1

    def case(regions: Any, index: Any) -> Any:
        branches = [partial(_as_tuple, region) for region in regions]
        if last == 0:
            return branches[0]()
        # As StableHLO has it, an index of no branch means the last one.
        is_branch = lax.bitwise_and(lax.ge(index, np.int32(0)), lax.le(index, np.int32(last)))
        return lax.switch(lax.select(is_branch, index, np.int32(last)), branches)

    return single(case, len(op.results))


def _as_tuple(region: Callable[..., list[Any]]) -> tuple[Any, ...]:
    return tuple(region())


def _map(op: Op) -> Run:
    rank = op.results[0].rank

    def map_(regions: Any, *args: Any) -> Any:
        return over_arrays(regions[0], rank)(*args)[0]

    return map_


def _optimization_barrier(op: Op) -> Run:
    return single(lambda *args: lax.optimization_barrier(args), len(op.results))


def _pass_on(op: Op) -> Unary:
    del op
    return lambda x: x


def _create_token(op: Op) -> Run:
    del op
    return lax.create_token


def _after_all(op: Op) -> Run:
    del op
    return lax.after_all


def _async_start(op: Op) -> Run:
    """What runs beside the program has its values all the same; XLA decides what runs when."""
    del op

    def start(regions: Any, *args: Any) -> Any:
        made = regions[0](*args)
        return made[0] if len(made) == 1 else made

    return start


def _manual_computation(op: Op) -> Run:
    del op
    raise Blocked("its body is for one device, and names axes of a mesh that is not JAX's here")


CONTROL: dict[str, Callable[[Op], Run]] = {
    "after_all": _after_all,
    "async_done": _pass_on,
    "async_start": _async_start,
    "case": _case,
    "composite": _composite,
    "copy": _pass_on,
    "create_token": _create_token,
    "func.call": _call,
    "if": _if,
    "map": _map,
    "optimization_barrier": _optimization_barrier,
    "sdy.manual_computation": _manual_computation,
    "sdy.sharding_constraint": _pass_on,
}
