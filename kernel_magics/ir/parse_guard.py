"""What this process reads only after another one has survived reading it."""

import re
from collections import OrderedDict

from kernel_magics.errors import SandboxError
from kernel_magics.ir.seal import is_intact
from kernel_magics.ir.source import Source
from kernel_magics.ir.source_message import source_message
from kernel_magics.sandbox.kernel import kernel_sandbox
from kernel_magics.sandbox.policy import policy
from kernel_magics.sandbox.process import Answer, Refusal, is_child

MOST_NESTING = 512
"""Brackets within brackets. MLIR's parser, printer and verifier recur once a level, and with a
stack of 8 MiB end the process from 3,000 nested regions on, or 10,000 of other brackets."""

TIMEOUT_S = 30.0
"""To read a program: MLIR's reader of bytecode may go round for ever on a flipped bit."""
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

_REMEMBERED = 4096
_survived: OrderedDict[str, None] = OrderedDict()


def ensure_readable(source: Source) -> None:
    """Has MLIR text or bytecode read in the child first, unless nothing speaks against it.

    Doubtful are bytes, for MLIR's reader trusts them, unless they carry a checksum of ours; and
    text that nests deeply. Each content is tried once.

    Raises:
        SandboxError: It ended the child, took too long, or took too much memory.
    """
    if is_child() or policy().when == "never" or not _is_doubtful(source):
        return
    tag = source.tag
    if tag in _survived:
        return
    size = len(source.content)
    outcome = try_parse(
        source,
        timeout_s=min(TIMEOUT_S, policy().timeout_s),
        memory_bytes=MEMORY_BYTES + 64 * size,
    )
    if isinstance(outcome, Refusal) and outcome.type_name == "MemoryError":
        raise SandboxError(
            f"Reading the {source.name} takes more memory than its {size:,} bytes explain",
            advice="The file is damaged: write or copy it again.",
        )
    # What was refused there in words is refused here in the same words.
    _survived[tag] = None
    if len(_survived) > _REMEMBERED:
        _survived.popitem(last=False)


def try_parse(
    source: Source,
    *,
    timeout_s: float,
    memory_bytes: int | None = None,
    wants_bytecode: bool = False,
) -> Answer | Refusal:
    """Reads a program in the child.

    Returns:
        An answer, with the module as MLIR bytecode if that is wanted; or the error of `parse`.

    Raises:
        SandboxError: Reading it ended the child, or took longer.
    """
    head, content = source_message(source)
    head["wants_bytecode"] = wants_bytecode
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
    if policy().when == "always":
        return True
    content = source.content
    if isinstance(content, bytes):
        return not is_intact(content)
    return (
        _HIGH_BYTE.search(content) is not None
        or _NO_GROUPS.search(content) is not None
        or nests_deeply(content)
    )
