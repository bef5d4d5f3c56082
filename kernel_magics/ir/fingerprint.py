"""What symbols do, as digests: equal for functions that do the same, whatever they are called.

A Merkle tree over the module: the canonical print of each symbol, with the digests of what it
refers to in place of their names. White space, comments, SSA names, locations, symbol names,
visibility and the order of functions do not count; everything else does.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from jax.extend.mlir import ir

from kernel_magics.ir.references import replace_in_text
from kernel_magics.ir.symbols import SymbolIndex, TopLevelOp

_NEXT_OP = re.compile(r"\n  (?=[^ }^])")
_HEAD = re.compile(
    r"(func\.func|memref\.global|sdy\.mesh|module|gpu\.module)"
    r'(?: "?(?:public|private|nested)"?)?( constant)? @(?:"(?:[^"\\]|\\.)*"|[\w$.-]+)'
)

Fingerprints = Mapping[str, str]
"""Symbols to 64 hexadecimal digits; empty for those that are like no other."""


def canonical_text(module: ir.Module) -> str:
    """A module as MLIR prints it, without locations. Printing takes half as long as parsing."""
    return _print(module.operation)


def digest(canonical: str) -> str:
    """The SHA-256 of a module's canonical text, 64 hexadecimal digits.

    White space, comments, SSA names and locations do not count; symbol names, the order of
    functions and every attribute do. The same in every process for one version of jaxlib.
    """
    # Public is what a function without a visibility is.
    text = canonical.replace("func.func public @", "func.func @")
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def top_level_texts(module: ir.Module, canonical: str) -> list[str]:
    """What each op at the top of a module says, but for its own name and visibility."""
    operations = [view.operation for view in module.body.operations]
    # Lines of an op at the top begin with two blanks, those inside it with more.
    parts = _NEXT_OP.split(canonical.rstrip().removesuffix("\n}"))[1:]
    if len(parts) != len(operations):
        parts = [_print(operation).replace("\n", "\n  ") for operation in operations]
    return [_without_name(part) for part in parts]


def fingerprints(index: SymbolIndex, texts: Sequence[str], bound: Fingerprints) -> Fingerprints:
    """The digest of each symbol of a module; the same in every process for one jaxlib.

    Like no other is what can change while it runs (`memref.global` that is not constant), what
    refers to such a thing, and what takes part in a cycle of calls.

    Args:
        index: The scan of the module.
        texts: What `top_level_texts` gave for it.
        bound: Those of declarations that mean a function elsewhere.
    """
    by_op = {id(op): text for op, text in zip(index.ops, texts, strict=True)}
    # Copies refer to the same names, so equal texts are equal functions.
    by_text: dict[str, str] = {}
    found = dict(bound)
    for op in _callees_first(index):
        if op.name is None or op.name in bound:
            continue
        text = by_op[id(op)]
        if op.is_declaration:
            text += op.name
        if text not in by_text:
            by_text[text] = _fingerprint(op, text, index, found)
        found[op.name] = by_text[text]
    return found


def _fingerprint(op: TopLevelOp, text: str, index: SymbolIndex, found: Fingerprints) -> str:
    if op.kind == "memref.global" and not text.startswith("memref.global constant"):
        return ""
    if "dense_resource<" in text:
        # The text names the data; it does not say it.
        return ""
    if op.references:
        used = {symbol for symbol, _ in op.references if symbol in index.by_name}
        if not op.is_function or any(not found.get(symbol) for symbol in used):
            return ""
        text = replace_in_text(text, {symbol: f"<{found[symbol]}>" for symbol in used})
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _callees_first(index: SymbolIndex) -> Iterator[TopLevelOp]:
    """Every symbol once, after those that it refers to, as far as calls form no cycle."""
    begun: set[str] = set()
    pending = [(name, False) for name in reversed(index.by_name)]
    while pending:
        name, is_done = pending.pop()
        if is_done:
            yield index.by_name[name]
        elif name not in begun:
            begun.add(name)
            pending.append((name, True))
            used = (symbol for symbol, _ in index.by_name[name].references)
            pending += [(symbol, False) for symbol in used if symbol in index.by_name]


def _without_name(text: str) -> str:
    head = _HEAD.match(text)
    return text if head is None else f"{head[1]}{head[2] or ''}{text[head.end() :]}"


def _print(operation: ir.Operation) -> str:
    return str(
        operation.get_asm(enable_debug_info=False, assume_verified=True, use_local_scope=True)
    )
