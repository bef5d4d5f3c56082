"""Forms: which kinds of ops work on which element types.

A module's element types are known from few of its ops. Most StableHLO ops give values of the
element type that they take, and MLIR's verifier sees to it; a new one enters by a function's
arguments or by the few ops that can make one. So the scan reads the types of those alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from jax.extend.mlir import ir

from kernel_magics.ir.types import tensor_type

CALCULATIONS = frozenset(
    f"stablehlo.{name}"
    for name in [
        "add",
        "and",
        "atan2",
        "broadcast_in_dim",
        "cbrt",
        "ceil",
        "clamp",
        "concatenate",
        "cosine",
        "count_leading_zeros",
        "divide",
        "exponential",
        "exponential_minus_one",
        "floor",
        "log",
        "log_plus_one",
        "logistic",
        "maximum",
        "minimum",
        "multiply",
        "negate",
        "not",
        "or",
        "pad",
        "popcnt",
        "power",
        "reduce_precision",
        "remainder",
        "reshape",
        "reverse",
        "round_nearest_afz",
        "round_nearest_even",
        "rsqrt",
        "shift_left",
        "shift_right_arithmetic",
        "shift_right_logical",
        "sign",
        "sine",
        "sqrt",
        "subtract",
        "tan",
        "tanh",
        "transpose",
        "xor",
    ]
)
"""All operands and results have one element type, and no result is smaller than an operand.

So a value that is too large is met in the end by an op that is read, or by a function's type.
"""

QUIET = CALCULATIONS | {"func.call", "func.func", "func.return", "stablehlo.return"}
"""Kinds whose types the scan does not read."""

CARRIERS = frozenset(
    f"stablehlo.{name}" for name in ("case", "if", "optimization_barrier", "while")
)
"""Results are values that other ops made: any type that is proven elsewhere will do."""

MAKERS = CALCULATIONS | {"stablehlo.constant", "stablehlo.iota", "stablehlo.select"}
"""The element types of the results tell those of the operands."""

BRANCHES = frozenset(("stablehlo.case", "stablehlo.if", "stablehlo.while"))

REDUCERS = frozenset(
    f"stablehlo.{name}"
    for name in [
        "all_reduce",
        "map",
        "reduce",
        "reduce_scatter",
        "reduce_window",
        "scatter",
        "select_and_scatter",
        "sort",
    ]
)
"""Kinds whose regions are functions of scalars."""

Form = tuple[str, tuple[str, ...]]
"""An op's kind, and the element types of the values that it takes and gives, sorted."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """What the checks need of the type of a value."""

    text: str
    elements: tuple[str, ...]
    """Element types; `f32?` where a dimension is not known before the call."""
    size_bytes: int
    """0 where it is not known."""
    element_count: int
    rank: int


class TypeReader:
    """Reads types, each once: equal ones are one object of MLIR."""

    def __init__(self) -> None:
        self._known: dict[ir.Type, ValueType] = {}

    def read(self, kind: ir.Type) -> ValueType:
        """What the checks need of a type."""
        known = self._known.get(kind)
        if known is None:
            known = self._known[kind] = _read(kind)
        return known

    def elements(self, kinds: Iterable[ir.Type]) -> tuple[str, ...]:
        """The element types of values, sorted, each once."""
        return tuple(sorted({e for kind in kinds for e in self.read(kind).elements}))


def exact_form(operation: ir.Operation, reader: TypeReader) -> Form:
    """The form of one op, of whatever kind."""
    kinds = operation.results.types
    if operation.name not in MAKERS:
        kinds = [*kinds, *(value.type for value in operation.operands)]
    return operation.name, reader.elements(kinds)


@cache
def bit_width(element: str) -> int:
    """Bits of one element as XLA stores it; 0 for what is no number."""
    if element.startswith("complex<"):
        return 2 * bit_width(element[8:-1])
    digits = element.lstrip("abcdefghijklmnopqrstuvwxyz")
    number = "".join(_leading_digits(digits))
    # XLA stores what is narrower than a byte in a byte of its own.
    return max(8, int(number)) if number and element[0] in "ifub" else 0


def _leading_digits(text: str) -> Iterator[str]:
    for letter in text:
        if not letter.isdigit():
            return
        yield letter


def _read(kind: ir.Type) -> ValueType:
    if isinstance(kind, ir.TupleType):
        inner = [_read(kind.get_type(i)) for i in range(kind.num_types)]
        elements = {"tuple", *(e for part in inner for e in part.elements)}
        size = sum(part.size_bytes for part in inner)
        largest = max((part.element_count for part in inner), default=0)
        return ValueType(
            str(kind),
            tuple(sorted(elements)),
            size,
            largest,
            max((p.rank for p in inner), default=0),
        )
    tensor = tensor_type(kind)
    if tensor.shape is None or not isinstance(kind, ir.RankedTensorType):
        return ValueType(tensor.mlir_type, (tensor.element_type,), 0, 0, 0)
    element = tensor.element_type + ("?" if tensor.is_dynamic else "")
    if kind.encoding is not None:
        element += " encoded"
    count = 1
    for size in tensor.shape:
        count *= 1 if size is None else size
    width = bit_width(tensor.element_type)
    return ValueType(tensor.mlir_type, (element,), count * width // 8, count, len(tensor.shape))
