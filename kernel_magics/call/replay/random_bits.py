"""Random bits that follow from a state; random numbers that follow from none are refused."""

from collections.abc import Callable
from typing import Any

import jax
import jax.custom_batching
import numpy as np
from jax import lax

from kernel_magics.call.replay.operation import Blocked, Op, Run

_ALGORITHMS = {
    "DEFAULT": lax.RandomAlgorithm.RNG_DEFAULT,
    "THREE_FRY": lax.RandomAlgorithm.RNG_THREE_FRY,
    "PHILOX": lax.RandomAlgorithm.RNG_PHILOX,
}
_MADE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_KEY_WORDS = {"uint32": (4,), "uint64": (2, 3)}


def _rng_bit_generator(op: Op) -> Run:
    algorithm = _ALGORITHMS[op.word("rng_algorithm")]
    state, made = op.operands[0], op.results[1]
    if state.size not in _KEY_WORDS.get(state.known.name, ()) or made.known.name not in _MADE:
        raise Blocked(f"JAX makes no `{made.text}` of a state of `{state.text}`")
    unsigned: Any = np.dtype(f"uint{8 * made.known.itemsize}")

    # A batch of states gives what each gives alone; JAX's own rule gives other numbers.
    @jax.custom_batching.sequential_vmap
    def rng_bit_generator(key: Any) -> Any:
        after, bits = lax.rng_bit_generator(key, made.shape, unsigned, algorithm)
        if made.dtype != unsigned:
            bits = lax.bitcast_convert_type(bits, made.known)
        return after, bits

    return rng_bit_generator


def _rng(op: Op) -> Run:
    del op
    raise Blocked(
        "it draws numbers that each platform chooses anew at every run, so no other form of it "
        "gives the same; `rng_bit_generator` takes a state"
    )


RANDOM_BITS: dict[str, Callable[[Op], Run]] = {
    "rng": _rng,
    "rng_bit_generator": _rng_bit_generator,
}
