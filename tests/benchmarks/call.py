"""Calling: eagerly, and many times in one jit."""

import jax
import numpy as np
from jax import numpy as jnp

import kernel_magics as km
from tests.benchmarks.harness import Row, interleaved_s, median_s
from tests.benchmarks.programs import SMALL

CALLS = 100


def run() -> list[Row]:
    """Against the same computation as a `jax.jit` function."""
    x = jnp.ones((128, 128), np.float32)
    function = km.Session().load(SMALL)
    plain = jax.jit(lambda x: jnp.tanh(x + x))
    function(x), plain(x)
    eager, peer = interleaved_s(lambda: function(x), lambda: plain(x), calls=500)

    def ours(x):
        for _ in range(CALLS):
            (x,) = km.hlo_call(SMALL, x)
        return x

    def theirs(x):
        for _ in range(CALLS):
            x = plain(x)
        return x

    # A new function each time, so that JAX's caches do not answer.
    lower = median_s(lambda: jax.jit(lambda x: ours(x)).lower(x))
    peer_lower = median_s(lambda: jax.jit(lambda x: theirs(x)).lower(x))
    lowered = jax.jit(ours).lower(x).as_text()
    functions = lowered.count("func.func private")
    return [
        Row("eager call, 128x128 add and tanh", eager, "jax.jit function", peer, eager / peer, "<= 1.1"),
        Row(f"lower {CALLS} calls of one text", lower, f"{CALLS} inner jit calls", peer_lower, lower / peer_lower, "<= 1.5"),
        Row(f"functions in the module for {CALLS} calls", 0.0, "one", 0.0, functions, "= 1"),
    ]  # fmt: skip
