"""Dimensions of a contract, such as `b` or `2*n + 1`: read, evaluated, solved for one name."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Tree = tuple[Any, ...]
"""`("int", 3)`, `("name", "n")`, or an operator with its operands."""

_BINARY: Mapping[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_COMPARE: Mapping[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "max": max,
    "min": min,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FUNCTIONS = {"max": "max", "min": "min", "mod": "%", "floordiv": "//"}
"""The last two as `jax.export.symbolic_shape` writes them."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension, or one condition on some; equal when written alike."""

    text: str
    tree: Tree

    @property
    def name(self) -> str | None:
        """The name that it is, where it is nothing else."""
        return self.tree[1] if self.tree[0] == "name" else None

    def names(self) -> frozenset[str]:
        """Every name in it."""
        return _names(self.tree)

    def value(self, known: Mapping[str, Any]) -> Any:
        """What it is for given names: an int, a symbolic dimension, None where not known.

        A condition gives a bool. Division by zero makes it not known.
        """
        return _value(self.tree, known)

    def solve(self, value: Any, known: Mapping[str, Any]) -> tuple[str, Any] | None:
        """The one name that is not known, and what it must be; None where there is no such."""
        unknown = [name for name in self.names() if name not in known]
        return _solve(self.tree, value, known, unknown[0]) if len(unknown) == 1 else None

    def determines(self, known: frozenset[str]) -> frozenset[str]:
        """Names that a value of it would tell, others being known."""
        unknown = self.names() - known
        if len(unknown) != 1 or not _can_solve(self.tree, next(iter(unknown))):
            return frozenset()
        return unknown

    def __str__(self) -> str:
        return self.text


def read_dimension(text: str, *, is_condition: bool = False) -> Dimension:
    """Reads a dimension, or a condition such as `n % 8 == 0`.

    Raises:
        ValueError: It is neither; the message says what is wrong.
    """
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("it cannot be read") from None
    if is_condition:
        return Dimension(text.strip(), _condition(body))
    found = Dimension(text.strip(), _tree(body))
    if found.tree[0] == "int" and found.tree[1] < 0:
        raise ValueError("a dimension is not negative")
    return found


def _condition(node: ast.expr) -> Tree:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        word = _COMPARE.get(type(node.ops[0]))
        if word is not None:
            return (word, _tree(node.left), _tree(node.comparators[0]))
    raise ValueError("a condition compares two dimensions, as in `n % 8 == 0`")


def _tree(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return ("int", value)
        case ast.Name(id=name):
            return ("name", name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            operand = _tree(operand)
            return ("int", -operand[1]) if operand[0] == "int" else ("-", ("int", 0), operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return (_BINARY[type(op)], _tree(left), _tree(right))
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if (
            name in _FUNCTIONS
        ):
            return (_FUNCTIONS[name], _tree(left), _tree(right))
        case _:
            raise ValueError("a dimension is made of names, whole numbers, + - * // % max min")


def _names(tree: Tree) -> frozenset[str]:
    if tree[0] == "name":
        return frozenset([tree[1]])
    if tree[0] == "int":
        return frozenset()
    return _names(tree[1]) | _names(tree[2])


def _value(tree: Tree, known: Mapping[str, Any]) -> Any:
    if tree[0] == "int":
        return tree[1]
    if tree[0] == "name":
        return known.get(tree[1])
    left, right = _value(tree[1], known), _value(tree[2], known)
    if left is None or right is None:
        return None
    if tree[0] in ("//", "%") and isinstance(right, int) and right == 0:
        return None
    return _OPERATORS[tree[0]](left, right)


def _can_solve(tree: Tree, name: str) -> bool:
    if tree[0] == "name":
        return True
    sides = [side for side in tree[1:] if name in _names(side)]
    return len(sides) == 1 and tree[0] in ("+", "-", "*") and _can_solve(sides[0], name)


def _solve(tree: Tree, value: Any, known: Mapping[str, Any], name: str) -> tuple[str, Any] | None:
    """Undoes the operators from outside; None where that is not possible in whole numbers."""
    if tree[0] == "name":
        return name, value
    if not _can_solve(tree, name):
        return None
    word, left, right = tree
    is_left = name in _names(left)
    other = _value(right if is_left else left, known)
    if other is None:
        return None
    if word == "*":
        exact = isinstance(value, int) and isinstance(other, int) and other != 0
        if not exact or value % other != 0:
            return None
        inner = value // other
    elif word == "+":
        inner = value - other
    else:
        inner = value + other if is_left else other - value
    return _solve(left if is_left else right, inner, known, name)
