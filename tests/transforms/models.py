"""Small models, written in JAX: a loss of parameters and data for each."""

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

WIDTH, HEADS, LENGTH = 16, 4, 6


def array(seed, *shape, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def transformer(parameters, x):
    def normal(x):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)

    def heads(x):
        return x.reshape(LENGTH, HEADS, -1).transpose(1, 0, 2)

    y = normal(x)
    query, key, value = (heads(y @ parameters[name]) for name in ("query", "key", "value"))
    scores = jnp.einsum("hqd,hkd->hqk", query, key) / np.sqrt(WIDTH / HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores), value)
    x = x + mixed.transpose(1, 0, 2).reshape(LENGTH, WIDTH) @ parameters["out"]
    x = x + jax.nn.gelu(normal(x) @ parameters["up"]) @ parameters["down"]
    return (normal(x) ** 3).mean()


def residual(parameters, image):
    def convolved(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def normal(x, scale):
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - mean) / jnp.sqrt(variance + 1e-5) * scale

    y = jax.nn.relu(normal(convolved(image, parameters["first"]), parameters["scale"]))
    y = convolved(y, parameters["second"])
    y = jax.nn.relu(image + y)
    pooled = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jnp.tanh(pooled.mean((1, 2)) @ parameters["head"]).sum()


def recurrent(parameters, rows):
    def step(state, row):
        update = jax.nn.sigmoid(row @ parameters["gate"] + state @ parameters["state"])
        state = (1 - update) * state + update * jnp.tanh(row @ parameters["in"])
        return state, state @ parameters["out"]

    _, outputs = lax.scan(step, jnp.zeros(WIDTH), rows)
    return (outputs**2).mean()


def gaussian_process(parameters, points):
    distance = ((points[:, None] - points[None]) ** 2).sum(-1)
    kernel = jnp.exp(parameters["amplitude"] - distance * jnp.exp(parameters["scale"]))
    factor = jnp.linalg.cholesky(kernel + 0.1 * jnp.eye(len(points)))
    target = jnp.sin(points.sum(-1))
    half = jax.scipy.linalg.solve_triangular(factor, target, lower=True)
    return 0.5 * half @ half + jnp.log(jnp.diag(factor)).sum()


def fourier_filter(parameters, signal):
    spectrum = jnp.fft.rfft(signal)
    response = 1 / (1 + (jnp.arange(len(spectrum)) * jnp.exp(parameters["cut"])) ** 2)
    filtered = jnp.fft.irfft(spectrum * response * jnp.exp(1j * parameters["phase"]), len(signal))
    return ((filtered - jnp.roll(signal, 1)) ** 2).sum()


MODELS = {
    "transformer block": (
        transformer,
        {
            **{n: array(i, WIDTH, WIDTH, scale=0.3) for i, n in enumerate(("query", "key", "value", "out"))},
            "up": array(5, WIDTH, 4 * WIDTH, scale=0.2),
            "down": array(6, 4 * WIDTH, WIDTH, scale=0.2),
        },
        array(7, LENGTH, WIDTH),
    ),
    "residual block": (
        residual,
        {
            "first": array(1, 3, 3, 4, 4, scale=0.3),
            "second": array(2, 3, 3, 4, 4, scale=0.3),
            "scale": 1 + array(3, 4, scale=0.1),
            "head": array(4, 4, 5),
        },
        array(5, 2, 6, 6, 4),
    ),
    "recurrent network": (
        recurrent,
        {
            "gate": array(1, 5, WIDTH, scale=0.3),
            "state": array(2, WIDTH, WIDTH, scale=0.3),
            "in": array(3, 5, WIDTH, scale=0.3),
            "out": array(4, WIDTH, 2),
        },
        array(5, 12, 5),
    ),
    "gaussian process": (
        gaussian_process,
        {"amplitude": np.float32(0.1), "scale": np.float32(-0.3)},
        array(1, 8, 2),
    ),
    "fourier filter": (
        fourier_filter,
        {"cut": np.float32(-1.0), "phase": array(1, 17, scale=0.1)},
        array(2, 32),
    ),
}  # fmt: skip
"""Name to loss, parameters and data."""
