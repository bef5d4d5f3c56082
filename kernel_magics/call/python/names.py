"""Names for what is written: those of the program where Python can have them, short ones else."""

import builtins
import keyword
import re
from collections import Counter

_TAKEN = frozenset(
    {"base64", "jax", "jnp", "lax", "np", "sequential_vmap", *dir(builtins), *keyword.kwlist}
)

STEMS = {
    "argmax": "place",
    "argmin": "place",
    "bitcast_convert_type": "bits",
    "broadcast_in_dim": "spread",
    "cholesky": "factor",
    "concatenate": "joined",
    "conv_general_dilated": "conv",
    "convert_element_type": "cast",
    "custom_jvp_call": "bits",
    "div": "ratio",
    "dot_general": "dot",
    "dynamic_slice": "part",
    "dynamic_update_slice": "updated",
    "eq": "is_equal",
    "ffi_call": "called",
    "gather": "taken",
    "ge": "is_above",
    "gt": "is_above",
    "integer_pow": "power",
    "iota": "counts",
    "jit": "called",
    "le": "is_below",
    "logistic": "gate",
    "lt": "is_below",
    "max": "larger",
    "min": "smaller",
    "mul": "product",
    "ne": "differs",
    "neg": "negative",
    "pad": "padded",
    "pow": "power",
    "reduce": "reduced",
    "reduce_max": "largest",
    "reduce_min": "smallest",
    "reduce_sum": "total",
    "reduce_window_sum": "pooled",
    "reduce_window_max": "pooled",
    "reduce_window_min": "pooled",
    "reshape": "shaped",
    "rev": "reversed",
    "select_n": "chosen",
    "slice": "part",
    "sort": "sorted",
    "squeeze": "shaped",
    "sub": "difference",
    "add": "sum",
    "transpose": "turned",
    "while": "end",
    "scan": "end",
    "cond": "branch",
}
"""Primitives to what their values are called, where that is not the primitive's name."""


def identifier(name: str) -> str:
    """A name as Python may have it: other signs become `_`, reserved names end in one."""
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not cleaned or cleaned.strip("_") == "":
        return "x"
    if cleaned[0].isdigit():
        return f"x{cleaned}"
    return f"{cleaned}_" if cleaned in _TAKEN else cleaned


class Names:
    """Gives every name once; names of a function differ from those at the top of the source."""

    def __init__(self, top: "Names | None" = None) -> None:
        self._used: set[str] = set()
        self._top = top
        self._everywhere: set[str] = set() if top is None else top._everywhere  # noqa: SLF001 - as below
        self._counts: Counter[str] = Counter()

    def take(self, wanted: str) -> str:
        """The name, with a number where it is taken."""
        base, number = identifier(wanted), 2
        name = base
        while self._is_taken(name):
            name = f"{base.rstrip('_')}_{number}"
            number += 1
        return self._keep(name)

    def number(self, stem: str) -> str:
        """The stem with its next number."""
        while True:
            self._counts[stem] += 1
            name = f"{stem}{self._counts[stem]}"
            if not self._is_taken(name):
                return self._keep(name)

    def _is_taken(self, name: str) -> bool:
        if self._top is None:
            return name in self._everywhere
        return name in self._used or name in self._top._used  # noqa: SLF001 - another of its kind

    def _keep(self, name: str) -> str:
        self._used.add(name)
        self._everywhere.add(name)
        return name


def stem_of(primitive: str) -> str:
    """What the values of a primitive are called."""
    return STEMS.get(primitive) or re.sub(r"\W", "_", primitive)
