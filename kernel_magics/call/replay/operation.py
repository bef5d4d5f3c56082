"""What a rule sees of one op: its attributes as Python values, the types of its values."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from jax.extend.mlir import ir

from kernel_magics.call.replay.blocks import Block, Kind
from kernel_magics.call.replay.constants import read_elements
from kernel_magics.ir.attribute_parts import word_of

Run = Callable[..., Any]
"""Takes an op's operands and gives its result: the value of one, a sequence of several.

Where the op has regions it takes a list of them first, each a function of the region's
arguments that gives the list of what the region returns.
"""

FIELD = re.compile(r"(\w+) = (\[[^\]]*\]|[\w.]+)")
"""One field of a printed structure."""
Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]
Ternary = Callable[[Any, Any, Any], Any]

_NUMBER = re.compile(r"-?\d+")


class Blocked(Exception):  # noqa: N818 - says what the op is; becomes a `Blocker`
    """Raised by a rule: the op has no form in JAX, for the reason that it carries."""


class Callees(Protocol):
    """Who knows the functions that ops refer to."""

    def function(self, name: str) -> Run:
        """A function of the module, or what a declaration there means, as a `jax.jit` one."""
        ...

    def excerpt(self, operation: ir.Operation) -> str:
        """The line of an op with a caret; empty where its location points elsewhere."""
        ...

    def body(self, name: str) -> ir.Block | None:
        """The body of a function of the module; None where it has none there."""
        ...

    def resource(self, name: str) -> bytes:
        """The bytes that the end of the module gives for a `dense_resource`."""
        ...


@dataclass(slots=True)
class Op:
    """One op while the program is read."""

    operation: ir.Operation
    operands: tuple[Kind, ...]
    results: tuple[Kind, ...]
    callees: Callees
    regions: list[Block] = field(default_factory=list["Block"])

    @property
    def name(self) -> str:
        """With its dialect."""
        return self.operation.name

    def attribute(self, name: str) -> ir.Attribute | None:
        """None where there is none of that name."""
        attributes = self.operation.attributes
        return attributes[name] if name in attributes else None  # noqa: SIM401 - has no `get`

    def ints(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """An array, or a constant of any rank in row-major order."""
        attribute: Any = self.attribute(name)
        if not isinstance(attribute, ir.Attribute):
            return tuple(default)
        if isinstance(attribute, ir.DenseIntElementsAttr):
            return tuple(np.asarray(attribute).ravel().tolist())
        if isinstance(attribute, ir.ArrayAttr):
            return tuple(ir.IntegerAttr(each).value for each in attribute)
        return tuple(int(each) for each in attribute)  # pyright: ignore[reportGeneralTypeIssues]

    def number(self, name: str, default: int = 0) -> int:
        """An integer."""
        attribute = self.attribute(name)
        return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.Attribute) else default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A Boolean; a unit attribute that is there is true."""
        attribute = self.attribute(name)
        if not isinstance(attribute, ir.Attribute):
            return default
        return not isinstance(attribute, ir.BoolAttr) or attribute.value

    def text(self, name: str, default: str = "") -> str:
        """A string."""
        attribute = self.attribute(name)
        return word_of(attribute) if isinstance(attribute, ir.StringAttr) else default

    def symbol(self, name: str) -> str:
        """A reference to a function, without `@`."""
        attribute = self.attribute(name)
        assert isinstance(attribute, ir.FlatSymbolRefAttr)
        return attribute.value

    def word(self, name: str, default: str = "") -> str:
        """The value of an enumeration, such as `LT` of `#stablehlo<comparison_direction LT>`."""
        attribute = self.attribute(name)
        return last_word(attribute) if isinstance(attribute, ir.Attribute) else default

    def words(self, name: str) -> tuple[str, ...]:
        """The values of an array of enumerations."""
        attribute = self.attribute(name)
        if not isinstance(attribute, ir.ArrayAttr):
            return ()
        return tuple(last_word(each) for each in attribute)

    def fields(self, name: str) -> dict[str, str]:
        """The printed fields of a structure, such as `#stablehlo.dot<…>`; lists with brackets."""
        attribute = self.attribute(name)
        return dict(FIELD.findall(str(attribute))) if isinstance(attribute, ir.Attribute) else {}

    def constant(self, position: int) -> np.ndarray | None:
        """The elements of an operand that is a constant; of rank 0 where all are equal."""
        value: Any = self.operation.operands[position]
        return constant_of(value, self.callees)

    def operand_ints(self, position: int) -> tuple[int, ...]:
        """The integers that an operand is.

        Raises:
            Blocked: It is no constant, and a shape depends on it.
        """
        elements = self.constant(position)
        if elements is None:
            raise Blocked("its shape depends on a value that is known at run time only")
        shape = self.operands[position].shape
        return tuple(int(each) for each in np.broadcast_to(elements, shape).ravel())


def constant_of(value: Any, callees: Callees) -> np.ndarray | None:
    """The elements of a value that a constant op makes; None of any other."""
    if not isinstance(value, ir.OpResult):
        return None
    owner: Any = value.owner
    if owner.name not in ("stablehlo.constant", "mhlo.constant"):
        return None
    return read_elements(owner.operation, callees.resource)


def last_word(attribute: ir.Attribute) -> str:
    """`LT` of `#stablehlo<comparison_direction LT>`."""
    return str(attribute).rstrip(">").rpartition(" ")[2]


def numbers(text: str | None) -> tuple[int, ...]:
    """The integers of a printed list; none of what is not there."""
    return tuple(map(int, _NUMBER.findall(text or "")))
