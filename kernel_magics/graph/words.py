"""What a function graph says in words: visible names, statuses, counts."""

from collections.abc import Iterable, Mapping

from kernel_magics.characters import visible
from kernel_magics.graph.model import FunctionNode


def plural(count: int, noun: str) -> str:
    """Returns `1 op`, `1,480 ops`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def shown_name(node: FunctionNode) -> str:
    """Returns the author's name as a reader sees it; symbols carry their `@`."""
    is_symbol = node.kind in ("function", "declaration")
    return ("@" if is_symbol else "") + visible(node.author_name)


def new_name(node: FunctionNode) -> str:
    """Returns `@merged` where the linked module uses another name than the author, else ``."""
    if node.kind in ("custom_call", "group") or node.merged_name == node.author_name:
        return ""
    return "@" + visible(node.merged_name)


def status_words(node: FunctionNode) -> str:
    """Returns the status in words: `kept`, `renamed`, `reused ×3`, `missing`, `declared only`."""
    if node.kind == "custom_call":
        return "missing" if node.status == "missing" else "custom call"
    if node.status == "kept" and node.kind == "declaration":
        return "declared only"
    if node.status == "reused" and node.reuse_count > 1:
        return f"reused ×{node.reuse_count:,}"
    return node.status


def count_phrases(counts: Mapping[str, int], unit_count: int) -> list[str]:
    """Returns what a graph holds, one phrase a fact: `14 functions`, `3 units`, `120 ops`, …."""
    phrases = [plural(counts["function"], "function")]
    if unit_count:
        phrases.append(plural(unit_count, "unit"))
    phrases.append(plural(counts["ops"], "op"))
    if counts["declaration"]:
        phrases.append(plural(counts["declaration"], "declaration"))
    if counts["custom_call"]:
        phrases.append(plural(counts["custom_call"], "custom call"))
    phrases += [f"{counts[word]:,} {word}" for word in ("renamed", "reused") if counts[word]]
    if counts["ops_saved"]:
        phrases.append(f"{plural(counts['ops_saved'], 'op')} saved")
    return phrases


def joined_names(names: Iterable[str], most: int = 8) -> str:
    """Returns `a, b, c and 4 more`."""
    every = list(names)
    listed = ", ".join(every[:most])
    return listed if len(every) <= most else f"{listed} and {len(every) - most:,} more"
