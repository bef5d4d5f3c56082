"""What a function takes and gives, with the argument names that its text has."""

from dataclasses import dataclass

from jax.extend.mlir import ir

from kernel_magics.ir.diagnostics import position
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import TopLevelOp
from kernel_magics.ir.types import TensorType, tensor_type


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a function."""

    type: TensorType
    name: str = ""
    """The block argument's name in the text without `%`; empty where the text has none."""
    position: tuple[int, int] | None = None
    """Line and byte column of the name in the text."""

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" if self.name else str(self.type)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives: `@scale(x: f32[3], k: f32[]) -> (f32[3])`."""

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[TensorType, ...]
    position: tuple[int, int] | None = None
    """Line and byte column of the function in the text."""

    @property
    def is_dynamic(self) -> bool:
        """Whether a dimension is known only when called."""
        return any(t.is_dynamic for t in self.types)

    @property
    def types(self) -> tuple[TensorType, ...]:
        """All types, arguments first."""
        return (*(argument.type for argument in self.arguments), *self.results)

    def __str__(self) -> str:
        arguments = ", ".join(map(str, self.arguments))
        return f"@{self.name}({arguments}) -> ({', '.join(map(str, self.results))})"


def read_signature(op: TopLevelOp, source: Source) -> Signature:
    """The signature of a `func.func`, with the argument names that the text has."""
    function_type = op.operation.attributes["function_type"]
    assert isinstance(function_type, ir.TypeAttr)
    kind = ir.FunctionType(function_type.value)
    places = _argument_places(op, source)
    arguments = [
        Argument(tensor_type(t), _argument_name(source, place), place)
        for t, place in zip(kind.inputs, places or [None] * len(kind.inputs), strict=True)
    ]
    results = tuple(tensor_type(t) for t in kind.results)
    place = position(op.location, source)
    return Signature(op.name or "", tuple(arguments), results, place)


def _argument_places(op: TopLevelOp, source: Source) -> list[tuple[int, int] | None]:
    if op.is_declaration or isinstance(source.content, bytes):
        return []
    block = op.operation.regions[0].blocks[0]
    return [position(argument.location, source) for argument in block.arguments]


def _argument_name(source: Source, place: tuple[int, int] | None) -> str:
    token = source.token(*place) if place else ""
    return token[1:] if token.startswith("%") else ""
