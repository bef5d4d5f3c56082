"""Where the ops of a function stand in the text of the linked module."""

import re
from functools import lru_cache

from kernel_magics.graph.op_places import NOWHERE, Place
from kernel_magics.graph.ops_model import OpsData, OpsOrigin

# MLIR prints what stands at the top of a module two blanks in, a line each, strings escaped.
_HEADER = re.compile(r'^  func\.func (?:\w+ )?@("(?:[^"\\]|\\.)*"|[\w$.-]+)\(', re.MULTILINE)
_ESCAPE = re.compile(rb'\\([0-9A-Fa-f]{2}|[nt"\\])')
_LETTERS = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


def merged_places(graph: OpsData, origin: OpsOrigin | None, merged_text: str) -> list[Place]:
    """Line and column of each node of `graph` in the text of the module that it was linked into.

    Linking changes names and nothing else, so the function's lines there are those it has when
    its unit is printed.

    Args:
        graph: The ops of a function.
        origin: Where they were read.
        merged_text: What `session.module_text()` gives, with constants elided or not.

    Returns:
        One place a node, in the order of the nodes; (0, 0) where there is none.
    """
    header = header_places(merged_text).get(graph.function)
    if header is None or origin is None:
        return [NOWHERE] * len(graph.nodes)
    places = origin.printed_places(graph.author_name)
    if not places:
        return [NOWHERE] * len(graph.nodes)
    first, opened = header
    # The first argument stands behind the bracket, however long the function's name is.
    shift = opened - places[0][1]
    return [(line + first, column if line else column + shift) for line, column in places]


@lru_cache(maxsize=2)
def header_places(merged_text: str) -> dict[str, Place]:
    """Returns the functions of a printed module, by name: line, and column of what they take."""
    found: dict[str, Place] = {}
    line, done = 1, 0
    for header in _HEADER.finditer(merged_text):
        line += merged_text.count("\n", done, header.start())
        done = header.start()
        found[_unquoted(header[1])] = line, header.end() - header.start() + 1
    return found


def _unquoted(name: str) -> str:
    if not name.startswith('"'):
        return name
    content = name[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_unescaped, content).decode("utf-8", "replace")


def _unescaped(found: re.Match[bytes]) -> bytes:
    return _LETTERS.get(found[1]) or bytes.fromhex(found[1].decode())
