"""Which function of a program is called: by name, or by the rule when no name is given."""

from difflib import get_close_matches

from kernel_magics.errors import EntryError
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import SymbolIndex, TopLevelOp

MAIN = "main"


def named_entry(index: SymbolIndex, name: str, source: Source) -> TopLevelOp:
    """The function called `name`, public or private.

    Raises:
        EntryError: There is none; the message names those on offer.
    """
    name = name.removeprefix("@")
    op = index.by_name.get(name)
    if op is not None and op.is_function:
        return op
    what = f"The {source.name} has no function `@{name}`"
    if op is not None:
        what = f"`@{name}` in the {source.name} is a `{op.kind}`, not a function"
    raise EntryError(what, details=_offer(index, name), advice="Choose one of them by its name.")


def default_entry(index: SymbolIndex) -> TopLevelOp | None:
    """`@main`, or the only public function; None where there is no one clear choice."""
    public = index.public_functions()
    main = [op for op in public if op.name == MAIN]
    if main:
        return main[0]
    return public[0] if len(public) == 1 else None


def ambiguous(index: SymbolIndex, source: Source) -> EntryError:
    """The error for a program in which no function is plainly the entry."""
    count = len(index.public_functions())
    what = f"{count} public functions" if count else "no public function"
    return EntryError(
        f"The {source.name} has {what} and no `@main`, so it is not clear what to call",
        details=_offer(index, MAIN),
        advice="Choose one with `func_name=` or, in a cell, `--func NAME`.",
    )


def _offer(index: SymbolIndex, name: str) -> list[str]:
    functions = sorted(index.functions(), key=lambda op: op.is_private)
    names = [op.name for op in functions if op.name is not None and not op.is_declaration]
    if not names:
        return ["It holds no function with a body."]
    close = get_close_matches(name, names, 1, 0.75)
    shown = ", ".join(f"`@{n}`" for n in names[:20])
    more = f" and {len(names) - 20:,} more" if len(names) > 20 else ""  # noqa: PLR2004
    hint = [f"Did you mean `@{close[0]}`?"] if close else []
    return [*hint, f"on offer: {shown}{more}"]
