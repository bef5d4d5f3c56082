"""The statements of one function: each value of a jaxpr as an expression, named where it helps."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jax.extend.core import Jaxpr, Literal

from kernel_magics.call.python.arithmetic import ARITHMETIC, is_public
from kernel_magics.call.python.arrays import ARRAYS
from kernel_magics.call.python.layout import INDENT, Code, call, group, lines
from kernel_magics.call.python.module import Module
from kernel_magics.call.python.names import Names, stem_of
from kernel_magics.call.python.operand import Form, Operand, Operation, Unwritten

_NESTED = 40
"""An expression of so many characters may stand inside another."""
_LONG_TARGETS = 60
_OF_JAX = re.compile(r"while|cond|body|closed_call|branch_\d+_fun")

FORMS: dict[str, Form] = {**ARITHMETIC, **ARRAYS}


@dataclass(slots=True)
class Body:
    """Writes the equations of one jaxpr."""

    module: Module
    names: Names
    indent: int
    has_docstring: bool = False
    statements: list[str] = field(default_factory=list[str])
    _values: dict[Any, Operand] = field(default_factory=dict["Any", Operand])
    _waiting: dict[Any, tuple[str, Operand]] = field(
        default_factory=dict["Any", "tuple[str, Operand]"]
    )
    """Values that are used once, and may stand in the expression that uses them."""
    _uses: Counter[Any] = field(default_factory=Counter["Any"])
    _truths: dict[Any, Code] = field(default_factory=dict["Any", Code])
    _scope: str = ""
    _result: Any = None
    """The variable that is all that is returned, where nothing else uses it."""

    def bind(self, variable: Any, operand: Operand) -> None:
        """Says what a variable is."""
        self._values[variable] = operand

    def bind_name(self, variable: Any, name: str | Code) -> None:
        """Says that a variable is a name."""
        code = Code(name) if isinstance(name, str) else name
        self._values[variable] = Operand(code, *_type(variable.aval))

    def write(self, jaxpr: Jaxpr) -> list[Code]:
        """Writes what the results need.

        Returns:
            The results.
        """
        live = _live(jaxpr)
        self._uses = Counter(v for v in jaxpr.outvars if not isinstance(v, Literal))
        for equation in live:
            self._uses.update(v for v in equation.invars if not isinstance(v, Literal))
        is_one = len(jaxpr.outvars) == 1 and self._uses.total() > 0
        last = jaxpr.outvars[0] if is_one and not isinstance(jaxpr.outvars[0], Literal) else None
        self._result = last if self._uses[last] == 1 else None
        for equation in live:
            self._enter(str(equation.source_info.name_stack))
            structured = self.module.structured.get(equation.primitive.name)
            if structured:
                structured(self, equation)
            else:
                self._write_one(equation)
        return [self.operand(variable).code for variable in jaxpr.outvars]

    def _enter(self, scope: str) -> None:
        # What JAX puts there for its loops and branches, the source shows.
        said = "/".join(part for part in scope.split("/") if not _OF_JAX.fullmatch(part))
        if said and said != self._scope:
            self.flush()
            self.statements.append(f"{' ' * self.indent}# {said}")
        self._scope = said

    def _write_one(self, equation: Any) -> None:
        name = equation.primitive.name
        operands = tuple(self.operand(v) for v in equation.invars)
        results = tuple(v.aval for v in equation.outvars)
        code = _form(name)(Operation(name, equation.params, operands, results))
        if not _fits(code, self.indent):
            # What is written inside made it too long.
            self._name_waiting(equation.invars)
            operands = tuple(self.operand(v) for v in equation.invars)
            code = _form(name)(Operation(name, equation.params, operands, results))
        if name == "convert_element_type" and operands[0].dtype == np.bool_:
            self._truths[equation.outvars[0]] = operands[0].code
        self._forget(equation.invars)
        self._assign(equation, code)

    def give(self, equation: Any, code: Code, *, is_sequence: bool = False, stem: str = "") -> None:
        """Names what a function gives: one value by itself, several as a sequence.

        Args:
            equation: Has the results.
            code: The call.
            is_sequence: Whether one value is in a sequence, too.
            stem: What the values are called.
        """
        self._forget(equation.invars)
        stem, variables = stem or stem_of(equation.primitive.name), equation.outvars
        if len(variables) > 1 or is_sequence:
            self._unpack(stem, variables, code)
            return
        self.flush()
        operand = Operand(code, *_type(variables[0].aval))
        if variables[0] is self._result:
            self._waiting[variables[0]] = (stem, operand)
        else:
            self._name(variables[0], stem, operand)

    def give_groups(self, groups: Sequence[tuple[str, Sequence[Any]]], code: Code) -> None:
        """Names what a function gives that returns groups of values."""
        self.flush()
        names: list[str] = []
        for stem, variables in groups:
            is_needed = any(self._uses[v] for v in variables)
            name = self.names.number(stem) if is_needed else "_"
            names.append(name)
            for i, variable in enumerate(variables):
                self.bind_name(variable, name if len(variables) == 1 else f"{name}[{i}]")
        self.statement(code, f"{', '.join(names)} = ")

    def _assign(self, equation: Any, code: Code) -> None:
        stem, variables = stem_of(equation.primitive.name), equation.outvars
        if len(variables) > 1:
            self._unpack(stem, variables, code)
            return
        (variable,) = variables
        operand = Operand(code, *_type(variable.aval), *self._number(equation))
        if operand.number is not None or code.flat.isidentifier():
            self._values[variable] = operand
        elif variable is self._result or (self._uses[variable] == 1 and len(code.flat) <= _NESTED):
            self._waiting[variable] = (stem, operand)
        else:
            self._name(variable, stem, operand)

    def _number(self, equation: Any) -> tuple[Any, ...]:
        """The number that a value is filled with."""
        if equation.primitive.name != "broadcast_in_dim":
            return ()
        source = self.operand(equation.invars[0])
        return (source.number,) if not source.shape else ()

    def _unpack(self, stem: str, variables: Sequence[Any], code: Code) -> None:
        """Names several results."""
        self.flush()
        targets = [self.names.number(stem) if self._uses[v] else "_" for v in variables]
        text = ", ".join(targets) if len(targets) > 1 else f"({targets[0]},)"
        if len(text) > _LONG_TARGETS:
            whole = self.names.number("results")
            targets = [f"{whole}[{i}]" for i in range(len(variables))]
            text = whole
        self.statement(code, f"{text} = " if any(self._uses[v] for v in variables) else "")
        for variable, target in zip(variables, targets, strict=True):
            self.bind_name(variable, target)

    def statement(self, code: Code, before: str) -> None:
        """Adds a statement."""
        self.statements += lines(code, self.indent, before)

    def operand(self, variable: Any) -> Operand:
        """What a variable is, in the words of this function."""
        if isinstance(variable, Literal):
            return self.module.constant(np.asarray(variable.val, _type(variable.aval)[1]))
        if variable in self._waiting:
            return self._waiting[variable][1]
        return self._values[variable]

    def named(self, variable: Any) -> Operand:
        """What a variable is, by a name that inner functions may use."""
        if variable in self._waiting:
            self._name_waiting([variable])
        return self.operand(variable)

    def truth(self, variable: Any) -> Code | None:
        """The truth value that an index is made of, where it is made of one."""
        return self._truths.get(variable)

    def flush(self) -> None:
        """Names all that waits, in order."""
        self._name_waiting(list(self._waiting))

    def _name_waiting(self, variables: Sequence[Any]) -> None:
        for variable in variables:
            if not isinstance(variable, Literal) and variable in self._waiting:
                stem, operand = self._waiting.pop(variable)
                self._name(variable, stem, operand)

    def _forget(self, variables: Sequence[Any]) -> None:
        for variable in variables:
            if not isinstance(variable, Literal):
                operand = self._waiting.pop(variable, None)
                if operand:
                    self._values[variable] = operand[1]

    def _name(self, variable: Any, stem: str, operand: Operand) -> None:
        name = self.names.number(stem)
        self.statement(operand.code, f"{name} = ")
        self.bind_name(variable, name)

    def block(self, block: Sequence[str]) -> None:
        """Adds a function, with empty lines about it."""
        before = self.statements[-1].strip() if self.statements else None
        # A comment belongs to what stands below it.
        is_first = before is None
        is_apart = self.has_docstring if is_first else before and not before.startswith("#")
        apart = [""] if is_apart else []
        self.statements += [*apart, *block, ""]

    def inner(self) -> "Body":
        """A function inside this one: it sees the names of this one."""
        self.flush()
        return Body(self.module, self.names, self.indent + INDENT)

    def returns(self, codes: Sequence[Code], *, is_tuple: bool = False) -> None:
        """Ends it."""
        margin = " " * self.indent
        if len(codes) == 1 and not is_tuple:
            self.statements += lines(codes[0], self.indent, "return ")
            return
        text = ", ".join(code.flat for code in codes) + ("," if len(codes) == 1 else "")
        flat = f"{margin}return {text or '()'}"
        if len(flat) <= 100 and len(codes) != 1:  # noqa: PLR2004 - the width of a line
            self.statements.append(flat)
        else:
            self.statements += lines(group(codes), self.indent, "return ")


def _type(aval: Any) -> tuple[tuple[int, ...], np.dtype]:
    return getattr(aval, "shape", ()), getattr(aval, "dtype", np.dtype(np.float32))


def _fits(code: Code, indent: int) -> bool:
    return bool(code.items) or indent + len("longest_name99 = ") + len(code.flat) <= 100  # noqa: PLR2004


def _live(jaxpr: Jaxpr) -> list[Any]:
    """The equations that results or effects need."""
    needed = {v for v in jaxpr.outvars if not isinstance(v, Literal)}
    kept: list[Any] = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(v in needed for v in equation.outvars):
            kept.append(equation)
            needed.update(v for v in equation.invars if not isinstance(v, Literal))
    return kept[::-1]


def _form(name: str) -> Form:
    if name in FORMS:
        return FORMS[name]
    for path in ("lax", "lax.linalg"):
        if is_public(path, f"{name}_p"):
            return lambda op: _bind(f"{path}.{name}_p.bind", op)
    raise Unwritten(f"JAX's `{name}` has no public name")


def _bind(function: str, op: Operation) -> Code:
    parameters = {name: op.parameter(name) for name in op.parameters}
    return call(function, *op.codes, **parameters)
