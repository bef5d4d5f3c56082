"""Expressions of Python, broken into lines as formatters break them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

WIDTH = 100
INDENT = 4

UNARY = 8
ATOM = 10
"""The strength of what never needs parentheses: names, calls, numbers that are not negative."""


@dataclass(frozen=True, slots=True)
class Code:
    """An expression."""

    flat: str
    """On one line."""
    strength: int = ATOM
    """How strongly its operator binds; what is weaker stands in parentheses."""
    head: str = ""
    """What stands before the items, bracket included; empty where it has none."""
    items: tuple["Code", ...] = ()
    """What stands between its brackets, where it can be broken into lines."""
    tail: str = ""
    """The closing bracket."""

    def within(self, strength: int) -> str:
        """Its text as an operand of an operator."""
        return self.flat if self.strength >= strength else f"({self.flat})"


def call(function: str, *items: Code, **keywords: Code) -> Code:
    """A call; keywords stand last."""
    named = (keyword(name, value) for name, value in keywords.items())
    return bracket(f"{function}(", (*items, *named), ")")


def keyword(name: str, value: Code) -> Code:
    """An argument with its name."""
    head = f"{name}={value.head}" if value.items else ""
    return replace(value, flat=f"{name}={value.flat}", head=head)


def group(items: Sequence[Code], brackets: str = "()") -> Code:
    """A tuple or a list."""
    is_single = brackets == "()" and len(items) == 1
    return bracket(brackets[0], items, f",{brackets[1]}" if is_single else brackets[1])


def pack(codes: Sequence[Code]) -> Code:
    """A value by itself, several as a tuple."""
    return codes[0] if len(codes) == 1 else group(codes)


def bracket(head: str, items: Sequence[Code], tail: str) -> Code:
    """Items between brackets."""
    inner = ", ".join(item.flat for item in items)
    return Code(f"{head}{inner}{tail}", head=head, items=tuple(items), tail=tail)


def infix(left: Code, operator: str, right: Code, strength: int) -> Code:
    """Two operands about an operator that is taken from left to right."""
    text = f"{left.within(strength)} {operator} {right.within(strength + 1)}"
    return Code(text, strength)


def lines(code: Code, indent: int, before: str = "", after: str = "") -> list[str]:
    """The lines of a statement.

    Args:
        code: The expression.
        indent: How many spaces each line begins with.
        before: Stands before the expression, such as `x = `.
        after: Stands behind it, such as a comma.
    """
    margin = " " * indent
    text = f"{margin}{before}{code.flat}{after}"
    if len(text) <= WIDTH or not code.items:
        return [text]
    closing = code.tail.lstrip(",")
    first, last = f"{margin}{before}{code.head}", f"{margin}{closing}{after}"
    inner = ", ".join(item.flat for item in code.items)
    if len(code.tail) == 1 and indent + INDENT + len(inner) <= WIDTH:
        return [first, f"{margin}{' ' * INDENT}{inner}", last]
    body = [line for item in code.items for line in lines(item, indent + INDENT, after=",")]
    return [first, *body, last]
