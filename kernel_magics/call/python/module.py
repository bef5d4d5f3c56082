"""The source as it grows: constants and functions at its top, each once."""

import base64
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kernel_magics.call.python.layout import INDENT, WIDTH, Code, call, group, lines
from kernel_magics.call.python.literals import array_code, dtype_code, scalar_code
from kernel_magics.call.python.names import Names
from kernel_magics.call.python.operand import Operand

_INLINE = 44
"""Constants of so many characters stand where they are used."""
_READABLE = 64
"""Arrays of so many elements are written as numbers."""

_ARRAY = '''
def {name}(data, dtype, *shape):
    """The elements of an array from their bytes."""
    return np.frombuffer(base64.b64decode(data), dtype).reshape(shape)
'''


class Module:
    """One source file.

    Attributes:
        names: Of everything at its top.
        functions: The lines of each function, in an order in which they can be defined.
        structured: What writes the operations that have functions in them.
        argument_names: Those of a function of the program that has so many arguments.
    """

    def __init__(
        self,
        argument_names: Callable[[str, int], Sequence[str]],
        structured: Mapping[str, Callable[..., None]],
    ) -> None:
        self.argument_names = argument_names
        self.structured = structured
        self.names = Names()
        self.functions: list[list[str]] = []
        self._constants: list[str] = []
        self._named: dict[tuple[bytes, str, tuple[int, ...]], Code] = {}
        self._helpers: dict[str, str] = {}
        self._written: dict[Any, str] = {}
        self._imports: set[str] = set()
        self._standard: set[str] = set()
        self._setup: list[str] = []

    def constant(self, value: np.ndarray) -> Operand:
        """An array that is known, of any shape."""
        value = np.asarray(value)
        first = value.ravel()[0] if value.size else None
        code: Code | None = None
        number: Any = None
        if first is not None and value.tobytes() == first.tobytes() * value.size:
            code = scalar_code(first)
            number = first if code is not None else None
            if code is not None and value.shape:
                filled = Code(str(bool(first))) if value.dtype == np.bool_ else code
                code = call("lax.full", group([Code(str(n)) for n in value.shape]), filled)
        if code is None:
            code = self._array(value)
        return Operand(code, value.shape, value.dtype, number, is_traced=False)

    def _array(self, value: np.ndarray) -> Code:
        code = array_code(value) if value.size <= _READABLE else None
        if code is not None and len(code.flat) <= _INLINE:
            return code
        key = (value.tobytes(), value.dtype.name, value.shape)
        if key not in self._named:
            name = self.names.number("C")
            self._named[key] = Code(name)
            written = lines(code, 0, f"{name} = ") if code else self._bytes(name, value)
            self._constants += written
        return self._named[key]

    def _bytes(self, name: str, value: np.ndarray) -> list[str]:
        helper = self.helper("array", _ARRAY)
        self._standard.add("base64")
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        rows = textwrap.wrap(data, WIDTH - 2 * INDENT - 2) or [""]
        rest = [f"    {dtype_code(value.dtype).flat},", *(f"    {n}," for n in value.shape)]
        if len(rows) == 1:
            made = call(helper, Code(f'"{data}"'), dtype_code(value.dtype),
                        *(Code(str(n)) for n in value.shape))  # fmt: skip
            return lines(made, 0, f"{name} = ")
        quoted = [f'    "{row}"' for row in rows]
        quoted[-1] += ","
        return [f"{name} = {helper}(", *quoted, *rest, ")"]

    def prepare(self, text: str) -> None:
        """Adds statements that run before all else, once."""
        if text not in self._setup:
            self._setup.append(text)

    def need(self, line: str) -> None:
        """Adds an import from JAX, once."""
        self._imports.add(line)

    def helper(self, name: str, text: str) -> str:
        """The name of a function that is written once, when it is first asked for."""
        if name not in self._helpers:
            taken = self.names.take(f"_{name}")
            self._helpers[name] = taken
            self._constants += ["", *text.strip("\n").format(name=taken).split("\n"), "", ""]
        return self._helpers[name]

    def once(self, key: Any, wanted: str, write: Callable[[str], list[str]]) -> str:
        """The name of a function that is written when it is first called.

        Args:
            key: Equal for equal functions.
            wanted: The name to have, if it is free.
            write: Gives its lines for the name it gets.
        """
        if key not in self._written:
            name = self._written[key] = self.names.take(wanted)
            self.functions.append(write(name))
        return self._written[key]

    def text(self, title: str) -> str:
        """All of it, under a title that is a docstring."""
        standard = [f"import {name}" for name in sorted(self._standard)]
        imports = [*standard, *[""] * bool(standard), "import jax", "import numpy as np",
                   "from jax import lax", "from jax import numpy as jnp",
                   *sorted(self._imports)]  # fmt: skip
        parts = [title, "\n".join(imports), *(text.strip() for text in self._setup)]
        constants = "\n".join(self._constants).strip("\n")
        if constants:
            parts.append(constants)
        functions = ["\n".join(function) for function in self.functions]
        return "\n\n".join(parts) + "\n\n\n" + "\n\n\n".join(functions) + "\n"
