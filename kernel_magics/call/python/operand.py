"""What an operation is written from: its parameters, and its operands as Python."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernel_magics.call.python.layout import Code
from kernel_magics.call.python.literals import STANDARD, python_number, value_code


class Unwritten(Exception):  # noqa: N818 - says what the operation is; becomes an error with its line
    """Raised where an operation has no form as source, for the reason that it carries."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that an operation takes."""

    code: Code
    """As an array of its own dtype."""
    shape: tuple[int, ...]
    dtype: np.dtype
    number: Any = None
    """The NumPy scalar that it is filled with, where that is known."""
    is_traced: bool = True
    """Whether it is JAX's, and no constant of NumPy, whose arithmetic is its own."""

    @property
    def short(self) -> Code:
        """As a number that takes on the dtype of what it meets, where it can be one."""
        found = None if self.number is None else python_number(self.number)
        return found or self.code


@dataclass(frozen=True, slots=True)
class Operation:
    """One equation of a jaxpr."""

    name: str
    parameters: dict[str, Any]
    operands: tuple[Operand, ...]
    results: tuple[Any, ...]
    """Abstract values."""

    @property
    def codes(self) -> list[Code]:
        """The operands."""
        return [operand.code for operand in self.operands]

    def parameter(self, name: str) -> Code:
        """A parameter as Python.

        Raises:
            Unwritten: It cannot be written.
        """
        return written(self.parameters[name], f"the parameter `{name}` of `{self.name}`")

    def others(self, *names: str, **defaults: Any) -> dict[str, Code]:
        """Parameters by name, without those that are what they are when left out."""
        for name in names:
            defaults[name] = None
        return {
            name: self.parameter(name)
            for name, default in defaults.items()
            if name in self.parameters and not _is(self.parameters[name], default)
        }

    @property
    def is_arithmetic(self) -> bool:
        """Whether Python's operators and numbers mean what JAX's do here."""
        array = [o for o in self.operands if o.number is None]
        is_standard = all(o.dtype.name in STANDARD for o in self.operands)
        one_dtype = len({o.dtype for o in self.operands}) == 1
        return is_standard and one_dtype and any(o.is_traced for o in array)

    @property
    def sides(self) -> list[Code]:
        """The operands, those that are numbers as Python's."""
        return [operand.short for operand in self.operands]


Form = Callable[[Operation], Code]
"""How an operation is written."""


def written(value: Any, what: str) -> Code:
    """A value as Python.

    Raises:
        Unwritten: It cannot be written.
    """
    code = value_code(value)
    if code is None:
        raise Unwritten(f"{what} is {value!r}, which has no form as source")
    return code


def _is(value: Any, default: Any) -> bool:
    return type(value) is type(default) and value == default


def texts(codes: Sequence[Code]) -> list[str]:
    """Each on one line."""
    return [code.flat for code in codes]
