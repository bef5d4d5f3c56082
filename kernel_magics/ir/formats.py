"""What is this? MLIR, HLO, an exported function, or something that we do not take."""

import re
from dataclasses import dataclass
from typing import Literal

from kernel_magics import _jax_private
from kernel_magics.errors import FormatError
from kernel_magics.ir import hlo_proto
from kernel_magics.ir.source import Source

Format = Literal["text", "bytecode", "hlo text", "hlo proto", "export"]

_BYTECODE_MAGIC = b"ML\xefR"
_PORTABLE_PRODUCER = re.compile(rb"StableHLO_v(\d+)\.(\d+)\.(\d+)\0")
_FLATBUFFER_HEAD = 4
"""Bytes of the offset of a FlatBuffer's root, and of the shortest table of fields."""

_COMMENT = re.compile(r"//[^\n]*")

_HLO_WORDS = ("HloModule", "ENTRY", "ROOT")
_HLO_MODULE = re.compile(r"\A(?:\s|//[^\n]*\n|/\*.*?\*/)*HloModule\b", re.DOTALL)
# Without the first line: no line of MLIR begins like this.
_HLO_PART = re.compile(
    r"^[ \t]*(?:ENTRY[ \t]+%?[\w.-]+.*\{|ROOT[ \t]+%?[\w.-]+[ \t]*=)", re.MULTILINE
)

EXAMPLE = """\
func.func @double(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""


@dataclass(frozen=True, slots=True)
class Lookalike:
    """A kind of input that we do not take, how to tell it, and what to do with it."""

    kind: str
    pattern: re.Pattern[str]
    advice: str


_JAX_ADVICE = "Export the function with `jax.jit(f).lower(*args).as_text()` and paste that."

_TEXT_LOOKALIKES = (
    Lookalike(
        "a jaxpr",
        re.compile(r"\A\s*(let\b[^=]*=\s*)?\{\s*lambda\b"),
        f"A jaxpr is JAX's own form. {_JAX_ADVICE}",
    ),
    Lookalike(
        "LLVM IR",
        re.compile(r"\A\s*(; ModuleID|source_filename|target (triple|datalayout)|define \w)"),
        "StableHLO is taken: use the text from before code generation.",
    ),
    Lookalike(
        "a notebook magic",
        re.compile(r"\A\s*%%?[a-z]\w*(\s|$)"),
        "Put the magic in the first line of the cell, and only there.",
    ),
    Lookalike(
        "Python",
        re.compile(
            r"\A\s*(#[^\n]*\s*)*(import \w|from [\w.]+ import |def \w+\(|class \w+[:(]"
            r"|@[\w.]+\s*\n\s*def |[A-Za-z_][\w.]*\s*=[^=]|print\(|async def )"
        ),
        f"`%%hlo` cells hold MLIR. {_JAX_ADVICE}",
    ),
    Lookalike("JSON", re.compile(r'\A\s*[{\[]\s*(["\[{]|\})'), "Give the program itself."),
    Lookalike("XML or HTML", re.compile(r"\A\s*<(\?xml|!?[a-zA-Z])"), "Give the program itself."),
)

_BYTE_LOOKALIKES = (
    (b"PK\x03\x04", "a zip archive", "Unpack it and give the `.mlir` or `.mlir.bc` file inside."),
    (b"\x1f\x8b", "a gzip file", "Decompress it first."),
    (b"\x7fELF", "a shared library or program", "Give the program's MLIR."),
    (b"BC\xc0\xde", "LLVM bitcode", "Give MLIR bytecode from before code generation."),
    (b"\x93NUMPY", "a NumPy array", "Give the program; arrays are its arguments."),
    (b"\x89PNG", "a picture", "Give the program's MLIR."),
)


def detect(source: Source) -> Format:
    """Decides what a source is.

    Raises:
        FormatError: It is empty, or plainly something that we do not take.
    """
    content = source.content
    if isinstance(content, bytes):
        return _detect_bytes(content)
    if "\0" in content:
        line = content[: content.index("\0")].count("\n") + 1
        raise FormatError(
            "The text holds a NUL character, after which MLIR's parser stops reading",
            where=[f"{source.name}:{line + source.first_line - 1}"],
            advice="Remove the character, or read the file as bytes if it is bytecode.",
        )
    if not _COMMENT.sub("", content).strip():
        raise FormatError(
            f"The {source.name} holds no program",
            advice=f"A program looks like this:\n{EXAMPLE}",
        )
    return "hlo text" if _is_hlo(content) else "text"


def refuse_lookalike(source: Source, cause: Exception) -> None:
    """Raises when text that the parser refused looks like another language.

    Asked only after the parser has failed: what MLIR accepts is MLIR, whatever it looks like.

    Raises:
        FormatError: The text looks like a jaxpr, Python, JSON, …
    """
    if isinstance(source.content, bytes):
        return
    text = _COMMENT.sub("", source.content)
    for lookalike in _TEXT_LOOKALIKES:
        if lookalike.pattern.search(text):
            first = next(i for i, line in enumerate(source.content.split("\n"), 1) if line.strip())
            column = len(source.line(first)) - len(source.line(first).lstrip()) + 1
            raise FormatError(
                f"This looks like {lookalike.kind}, not MLIR",
                where=[source.excerpt(first, column)],
                advice=lookalike.advice,
            ) from cause


def portable_version(content: bytes) -> tuple[int, int, int] | None:
    """The StableHLO version that wrote a portable artifact; None for other bytes."""
    found = _PORTABLE_PRODUCER.search(content, 0, 64)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def version_problem(content: bytes) -> tuple[str, str] | None:
    """Says in words when an artifact's version lies outside what this jaxlib reads.

    Returns:
        What is wrong and what to do, or None when the version is fine.
    """
    version = portable_version(content)
    if version is None:
        return None
    oldest, newest = (_numbers(v) for v in _jax_private.stablehlo_versions())
    written = ".".join(map(str, version))
    window = f"{'.'.join(map(str, oldest))} to {'.'.join(map(str, newest))}"
    if version > newest:
        return (
            f"The artifact was written by StableHLO {written}; this jaxlib reads {window}",
            "Write it for one of these versions, or install a newer jaxlib.",
        )
    if version < oldest:
        return (
            f"The artifact was written by StableHLO {written}; this jaxlib reads {window}",
            "Write it again with a newer StableHLO.",
        )
    return None


def _detect_bytes(content: bytes) -> Format:
    if content.startswith(_BYTECODE_MAGIC):
        return "bytecode"
    for magic, kind, advice in _BYTE_LOOKALIKES:
        if content.startswith(magic):
            raise FormatError(f"This looks like {kind}, not MLIR", advice=advice)
    if _is_exported(content):
        return "export"
    # Last: nothing marks a serialized HLO module but that it reads as one.
    if hlo_proto.unwrap(content) is not None:
        return "hlo proto"
    raise FormatError(
        f"These {len(content):,} bytes are neither MLIR bytecode nor UTF-8 text",
        details=[f"They begin with `{content[:8].hex(' ')}`; bytecode begins with `4d 4c ef 52`."],
        advice="Portable artifacts, MLIR bytecode and text, HLO modules, and functions "
        "exported by JAX are taken.",
    )


def is_mlir(source: Source) -> bool:
    """Whether it is plainly MLIR or nothing that needs a conversion; at next to no cost."""
    if isinstance(source.content, str):
        return not _is_hlo(source.content)
    return source.content.startswith(_BYTECODE_MAGIC)


def _is_hlo(text: str) -> bool:
    # The words first: searching a large text line by line takes as long as parsing a part of it.
    if not any(word in text for word in _HLO_WORDS):
        return False
    return bool(_HLO_MODULE.match(text) or _HLO_PART.search(text))


def _is_exported(content: bytes) -> bool:
    """Whether it is a FlatBuffer that holds bytecode: its root table tells where its own ends."""
    if content.find(_BYTECODE_MAGIC) < _FLATBUFFER_HEAD:
        return False
    root = int.from_bytes(content[:4], "little")
    table = root - int.from_bytes(content[root : root + 4], "little", signed=True)
    size = int.from_bytes(content[table : table + 2], "little") if table > 0 else 0
    return root + 4 <= len(content) and size >= _FLATBUFFER_HEAD and table + size <= len(content)


def _numbers(version: str) -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in version.split("."))
    return major, minor, patch
