"""What MLIR's reader may not meet in this process before another one has survived it."""

import re
from functools import lru_cache

from kernel_magics.ir.source import Source
from kernel_magics.sandbox.process import Sandbox

MOST_NESTING = 512
"""Brackets within brackets. MLIR's parser, printer and verifier recur once a level, and with a
stack of 8 MiB end the process from 1,000 nested regions on, or 3,000 of other brackets."""

ROUNDS = 64

_BRACKETS = b"()[]{}<>"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_ASIDE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
"""Strings and comments: brackets there nest nothing."""
_PAIRS = (b"()", b"[]", b"{}", b"<>")


def nests_deeply(text: str) -> bool:
    """Whether brackets in a text may nest deeper than `MOST_NESTING`; never wrongly denied.

    Pairs with nothing between them are taken out, round by round; each round takes the innermost
    level. What is left then bounds what is nested deeper. Costs a fraction of the parse.
    """
    return _depth_bound(text) > MOST_NESTING and _depth_bound(_ASIDE.sub("", text)) > MOST_NESTING


def _depth_bound(text: str) -> int:
    left = text.replace("->", "").encode(errors="replace").translate(None, _NO_BRACKETS)
    for _ in range(ROUNDS):
        before = len(left)
        for pair in _PAIRS:
            left = left.replace(pair, b"")
        if len(left) == before:
            break
    return len(left) + ROUNDS if left else 0
