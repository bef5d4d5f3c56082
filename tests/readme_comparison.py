"""`python -m tests.readme_comparison` prints the comparison that the README shows.

One block of a transformer, written by JAX as StableHLO and read as a cell would be, on every
plugin and engine that is installed.
"""

import jax
from jax import numpy as jnp

import kernel_magics as km

WIDTH, HEADS, LENGTH = 256, 4, 128


def block(x: jax.Array, qkv: jax.Array, out: jax.Array, up: jax.Array, down: jax.Array):
    """Attention and a feed-forward part, each with its norm."""

    def norm(x: jax.Array) -> jax.Array:
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    q, k, v = jnp.split((norm(x) @ qkv).reshape(LENGTH, HEADS, -1).swapaxes(0, 1), 3, -1)
    weights = jax.nn.softmax(q @ k.swapaxes(1, 2) / jnp.sqrt(q.shape[-1] * 1.0), -1)
    x = x + (weights @ v).swapaxes(0, 1).reshape(LENGTH, WIDTH) @ out
    return x + jax.nn.gelu(norm(x) @ up) @ down


def main() -> None:
    """Loads what there is, and compares."""
    shapes = ((LENGTH, WIDTH), (WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))  # fmt: skip
    arguments = [
        jax.random.normal(key, shape) / shape[0] ** 0.5
        for key, shape in zip(jax.random.split(jax.random.key(0), 5), shapes, strict=True)
    ]
    function = km.load(jax.jit(block).lower(*arguments).as_text(), name="block")
    for row in km.plugins.discover():
        if row.state == "found" and row.name != "cpu":
            km.plugins.load(row.name)
    print(km.plugins.compare(function, *arguments, runs=50))


if __name__ == "__main__":
    main()
