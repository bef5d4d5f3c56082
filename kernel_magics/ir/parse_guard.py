"""What this process reads only after another one has survived reading it."""

import re
from collections import OrderedDict

from kernel_magics.errors import SandboxError
from kernel_magics.ir.seal import is_intact
from kernel_magics.ir.source import Source
from kernel_magics.ir.source_message import read_error_message, source_message
from kernel_magics.sandbox.kernel import kernel_sandbox
from kernel_magics.sandbox.policy import policy
from kernel_magics.sandbox.process import Answer, Refusal, is_child

MOST_NESTING = 512
"""Brackets within brackets. MLIR's parser, printer and verifier recur once a level, and with a
stack of 8 MiB end the process from 3,000 nested regions on, or 10,000 of other brackets."""

LARGE = 4 << 20
"""Bytes or characters that take some tenths of a second to read, in which MLIR does not let
Python run; their bytecode takes half of it."""

TIMEOUT_S = 30.0
"""To read a program that is not large: MLIR's reader of bytecode may go round for ever."""
MEMORY_BYTES = 4 << 30
"""To read a program, on top of 64 times its size."""

_ROUNDS = 64
_BRACKETS = b"()[]{}<>"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_PAIRS = (b"()", b"[]", b"{}", b"<>")
# MLIR's verifier of `all_to_all` divides by the size of a group.
_NO_GROUPS = re.compile(r"dense<>\s*:\s*tensor<(?:0x\d+|\d+x0)xi64>")
# The binding makes Python strings of names in dictionaries, and ends the process on other bytes.
_HIGH_BYTE = re.compile(r"\\[89A-Fa-f][0-9A-Fa-f]")
# Brackets in strings and comments nest nothing.
_ASIDE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')

_REMEMBERED = 32
_rewritten: OrderedDict[str, bytes] = OrderedDict()


def rewritten(source: Source) -> bytes | None:
    """The program as the child read it and wrote it again, where this process should not read it.

    Doubtful are bytes, for MLIR's reader trusts them, unless they carry a checksum of ours; and
    text that nests deeply, or has a form that is known to end the process. Large programs are
    read in the child for another reason: Ctrl-C need not wait for it.

    Returns:
        MLIR bytecode of this jaxlib; None where the source may be read here.

    Raises:
        SourceError: It is no program; the same error that reading it here would raise.
        SandboxError: It ended the child, took too long, or took too much memory.
    """
    if is_child() or policy().when == "never" or not _is_doubtful(source):
        return None
    tag = source.tag
    if tag not in _rewritten:
        _rewritten[tag] = _read_elsewhere(source)
        if len(_rewritten) > _REMEMBERED:
            _rewritten.popitem(last=False)
    return _rewritten[tag]


def _read_elsewhere(source: Source) -> bytes:
    size = len(source.content)
    limit = policy().timeout_s
    outcome = try_parse(
        source,
        timeout_s=limit if size >= LARGE else min(TIMEOUT_S, limit),
        memory_bytes=MEMORY_BYTES + 64 * size,
    )
    if isinstance(outcome, Refusal):
        raise SandboxError(
            f"Reading the {source.name} of {size:,} bytes failed in the child process",
            details=[f"{outcome.type_name}: {outcome.text}"],
            advice="The file may be damaged: write or copy it again.",
        )
    if "error" in outcome.head:
        raise read_error_message(outcome.head["error"])
    return outcome.blobs[0]


def try_parse(
    source: Source, *, timeout_s: float, memory_bytes: int | None = None
) -> Answer | Refusal:
    """Reads a program in the child.

    Returns:
        The module as MLIR bytecode; or a head with the `error` that reading it raises.

    Raises:
        SandboxError: Reading it ended the child, or took longer.
    """
    head, content = source_message(source)
    return kernel_sandbox().request(
        "parse",
        head,
        [content],
        timeout_s=timeout_s,
        memory_bytes=memory_bytes,
        what=f"Reading the {source.name}",
    )


def nests_deeply(text: str) -> bool:
    """Whether brackets in a text may nest deeper than `MOST_NESTING`; never wrongly denied.

    Pairs with nothing between them are taken out, round by round; each round takes the innermost
    level. What is left then bounds what is nested deeper. Costs a fraction of the parse.
    """
    return _depth_bound(text) > MOST_NESTING and _depth_bound(_ASIDE.sub("", text)) > MOST_NESTING


def _depth_bound(text: str) -> int:
    left = text.replace("->", "").encode(errors="replace").translate(None, _NO_BRACKETS)
    for _ in range(_ROUNDS):
        before = len(left)
        for pair in _PAIRS:
            left = left.replace(pair, b"")
        if len(left) == before:
            break
    return len(left) + _ROUNDS if left else 0


def _is_doubtful(source: Source) -> bool:
    if policy().when == "always" or len(source.content) >= LARGE:
        return True
    content = source.content
    if isinstance(content, bytes):
        return not is_intact(content)
    return (
        _HIGH_BYTE.search(content) is not None
        or _NO_GROUPS.search(content) is not None
        or nests_deeply(content)
    )
