"""From a cell to what a compiler reads: headers in front, lines that count in the cell."""

import re
from dataclasses import dataclass
from typing import NoReturn

from kernel_magics.custom_call.build_compiler import Language
from kernel_magics.custom_call.build_glue import handler_of_body
from kernel_magics.custom_call.contract import Contract, contract
from kernel_magics.errors import UsageError
from kernel_magics.ir.source import Source

_CONTRACT = re.compile(r"^[ \t]*//[ \t]*contract:[ \t]*(.*)$", re.MULTILINE)
_MORE = re.compile(r"[ \t]*//(.*)")
_MACRO = re.compile(r"\bXLA_FFI_DEFINE_HANDLER_SYMBOL\s*\(\s*(\w+)")
_FUNCTION = re.compile(r"\bXLA_FFI_Error\s*\*\s*(\w+)\s*\(\s*XLA_FFI_CallFrame\s*\*")
_STATIC = re.compile(r"\bstatic\s+XLA_FFI_Error\s*\*\s*(\w+)\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_C_HEAD = """#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "xla/ffi/api/c_api.h"
"""
_CPP_HEAD = "namespace ffi = xla::ffi;\n"
_PLAIN_CPP_HEAD = "#include <algorithm>\n#include <cmath>\n" + _C_HEAD
_COMPLEX_HEAD = "#include <complex>\n"


@dataclass(frozen=True, slots=True)
class Unit:
    """What a compiler is given, and what is known of it."""

    source: Source
    text: str
    handlers: tuple[str, ...]
    """Functions of it that are handlers."""
    contract: Contract | None
    """What its `// contract:` says."""
    is_plain: bool
    """Whether it is a body, which is called over C's interface: it compiles much faster."""


def translation_unit(source: Source, language: Language, name: str) -> Unit:
    """Makes what a compiler reads of a source.

    A source is whole functions with a line that makes handlers of them: in C++
    `XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)`, in C functions that take an
    `XLA_FFI_CallFrame*`. Or it is the body of one function behind a line such as
    `// contract: (x: f32[n], k: f32) -> (y: f32[n])`: arguments and results are pointers of
    their names there, dimensions and attributes are numbers of theirs, and `return "text";`
    makes the call fail. What stands before that line is outside of the function.

    Args:
        source: The text.
        language: Of the text.
        name: Of the handler, where the source is a body.

    Raises:
        UsageError: There is no handler in it, or its contract cannot be read.
    """
    text = source.content
    assert isinstance(text, str)
    kind, place = _read_contract(text)
    bare = _COMMENT.sub(" ", text)
    handlers = tuple(dict.fromkeys([*_MACRO.findall(bare), *_FUNCTION.findall(bare)]))
    handlers = tuple(h for h in handlers if h not in _STATIC.findall(bare))
    if handlers or "XLA_FFI" in bare:
        head = _CPP_HEAD if language == "c++" else _C_HEAD
        whole = f"{head}{_line(source, 1)}{text}\n"
        return Unit(source, whole, handlers, kind, is_plain=language == "c")
    if kind is None or place is None:
        _no_handler(source)
    symbol = re.sub(r"\W", "_", name) or "handler"
    symbol = f"_{symbol}" if symbol[0].isdigit() else symbol
    head = _PLAIN_CPP_HEAD if language == "c++" else _C_HEAD
    if language == "c++" and re.search(r"\bc(64|128)\b", str(kind)):
        head = _COMPLEX_HEAD + head
    whole = head + _around_body(source, text, place, kind, symbol, language)
    return Unit(source, whole, (symbol,), kind, is_plain=True)


def _read_contract(text: str) -> tuple[Contract | None, tuple[int, int] | None]:
    """The contract in a comment, with where the comment begins and ends."""
    found = _CONTRACT.search(text)
    if found is None:
        return None, None
    words, end = found[1], found.end()
    # It goes on in further comments until its brackets are closed.
    while "->" not in words or words.count("(") > words.count(")"):
        more = _MORE.match(text, end + 1)
        if more is None:
            break
        words, end = f"{words} {more[1].strip()}", more.end()
    return contract(words.strip()), (found.start(), end)


def _around_body(
    source: Source,
    text: str,
    place: tuple[int, int],
    kind: Contract,
    symbol: str,
    language: Language,
) -> str:
    before, body = text[: place[0]], text[place[1] :]
    line = text[: place[1]].count("\n") + 1
    includes = "".join(
        f"{_line(source, line + body[: found.start()].count(chr(10)))}{found[0]}\n"
        for found in _INCLUDE.finditer(body)
    )
    body = _INCLUDE.sub("", body)
    head, tail = handler_of_body(kind, symbol, language)
    return (
        f"{_line(source, 1)}{before}\n{includes}{head}{_line(source, line)}{body}\n"
        f'#line 1 "kernel_magics"\n{tail}'
    )


def _line(source: Source, line: int) -> str:
    name = source.name.replace("\\", "/").replace('"', "'")
    return f'#line {line + source.first_line - 1} "{name}"\n'


def _no_handler(source: Source) -> NoReturn:
    raise UsageError(
        f"There is no handler in the {source.name}",
        details=[
            "whole functions: `XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)` makes one",
            "a body alone: `// contract: (x: f32[n], k: f32) -> (y: f32[n])` stands before it",
        ],
        advice="Add one of the two lines.",
    )
