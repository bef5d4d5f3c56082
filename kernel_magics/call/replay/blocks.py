"""A program as it is replayed: blocks of steps, read once, run in every trace."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from kernel_magics.ir.source import Source


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a value."""

    text: str
    """As MLIR prints it."""
    shape: tuple[int, ...]
    """Empty for what is no tensor."""
    dtype: np.dtype | None
    """None for what is no tensor of static shape with a dtype of JAX."""

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def known(self) -> np.dtype:
        """The dtype of a tensor; rules see no others unless they ask for them."""
        assert self.dtype is not None
        return self.dtype

    def of(self, letters: str) -> bool:
        """Whether the dtype is of one of NumPy's kinds: `b`, `i`, `u`, `f`, `c`."""
        return self.dtype is not None and dtype_kind(self.dtype) in letters


Caller = Callable[[Callable[..., Any], Sequence[Any]], Any]
"""Calls a function with operands, in a frame that stands at an op's line of the program."""


@dataclass(slots=True)
class Region:
    """A region of one op, and where the values stand that it takes from around it."""

    block: "Block"
    captures: tuple[int, ...] = ()


@dataclass(slots=True)
class Step:
    """One op: what it does, and which places of the block's values it reads and fills."""

    run: Callable[..., Any]
    operands: tuple[int, ...]
    results: tuple[int, ...]
    kinds: tuple[Kind, ...]
    regions: tuple[Region, ...]
    name: str
    place: tuple[int, int] | None
    """Line and byte column of the op; None where its location points elsewhere."""
    caller: Caller


@dataclass(slots=True)
class Block:
    """The ops of a function or of a region."""

    arguments: tuple[Kind, ...]
    source: Source
    """Where places point."""
    groups: list[tuple[str, list[Step]]] = field(default_factory=list["tuple[str, list[Step]]"])
    """Steps that stand in one name scope, in order."""
    returned: tuple[int, ...] = ()
    captured: tuple[int, ...] = ()
    """Places of the values that come from around the block."""
    size: int = 0
    """How many places there are; arguments stand first."""

    def steps(self) -> list[Step]:
        """All steps, in order."""
        return [step for _, steps in self.groups for step in steps]

    def step(self, place: int) -> Step:
        """The step of one op, by the number of its place among the block's ops."""
        return self.steps()[place]

    def __call__(self, arguments: Sequence[Any], captured: Sequence[Any] = ()) -> list[Any]:
        """Runs the steps; JAX sees each of its own operations."""
        values: list[Any] = [None] * self.size
        values[: len(arguments)] = arguments
        for place, value in zip(self.captured, captured, strict=True):
            values[place] = value
        step: Step | None = None
        try:
            for scope, steps in self.groups:
                with jax.named_scope(scope) if scope else nullcontext():
                    for step in steps:
                        _run(step, values)
        except Exception as error:
            if step is not None:
                _note(error, step, self.source)
            raise
        return [values[place] for place in self.returned]


def _run(step: Step, values: list[Any]) -> None:
    operands = [values[place] for place in step.operands]
    if step.regions:
        operands.insert(0, [_bound(region, values) for region in step.regions])
    made = step.caller(step.run, operands)
    if len(step.results) == 1:
        made = (made,)
    for place, kind, value in zip(step.results, step.kinds, made, strict=True):
        if kind.dtype is not None:
            _check(step, kind, value)
        values[place] = value


def _note(error: Exception, step: Step, source: Source) -> None:
    note = f"in `{step.name}` of the replayed program"
    error.add_note(f"{note}\n{source.excerpt(*step.place)}" if step.place else note)


def _check(step: Step, kind: Kind, value: Any) -> None:
    """A value of another type would be a wrong one."""
    if value.shape != kind.shape or value.dtype != kind.dtype:
        found = f"{value.dtype}{list(value.shape)}"
        raise TypeError(f"`{step.name}` gives `{kind.text}`, its form in JAX gives {found}")


@dataclass(frozen=True, slots=True)
class BoundRegion:
    """A region as a function of its arguments, with what it takes from around it."""

    block: Block
    captured: list[Any]

    def __call__(self, *arguments: Any) -> list[Any]:
        """Gives what the region returns."""
        return self.block(arguments, self.captured)


def _bound(region: Region, values: list[Any]) -> BoundRegion:
    return BoundRegion(region.block, [values[place] for place in region.captures])


def dtype_kind(dtype: np.dtype) -> str:
    """NumPy's letter for a dtype, also for those of `ml_dtypes`, whose own letter is `V`."""
    if dtype.kind != "V":
        return dtype.kind
    name = dtype.name
    return "u" if name.startswith("uint") else "i" if name.startswith("int") else "f"
