"""Replay and what is made of it: tracing, growth, gradients, and another tool beside it."""

import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.call.program import Program, parsed, read_program
from kernel_magics.call.replay.build import build
from kernel_magics.call.replay.replay import replay
from kernel_magics.ir.source import Source
from tests.benchmarks.harness import Row, interleaved_s, median_of_s

DEPTH, DEEP, WIDTH, HEADS, LENGTH = 12, 80, 64, 4, 64


def parameters(depth: int) -> list[dict[str, np.ndarray]]:
    """One dictionary a layer."""
    random = np.random.default_rng(0)
    shapes = {
        **dict.fromkeys(("query", "key", "value", "out"), (WIDTH, WIDTH)),
        "up": (WIDTH, 4 * WIDTH),
        "down": (4 * WIDTH, WIDTH),
    }
    return [
        {n: (random.standard_normal(s) / 8).astype(np.float32) for n, s in shapes.items()}
        for _ in range(depth)
    ]


def loss(layers: list[dict[str, Any]], x: Any, *, is_masked: bool = True) -> Any:
    """A transformer, layer by layer as its author would write it."""

    def normal(x: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)

    def heads(x: Any) -> Any:
        return x.reshape(LENGTH, HEADS, -1).transpose(1, 0, 2)

    for layer in layers:
        y = normal(x)
        query, key, value = (heads(y @ layer[name]) for name in ("query", "key", "value"))
        scores = jnp.einsum("hqd,hkd->hqk", query, key) / np.sqrt(WIDTH / HEADS)
        if is_masked:
            scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
        mixed = jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores), value)
        x = x + mixed.transpose(1, 0, 2).reshape(LENGTH, WIDTH) @ layer["out"]
        x = x + jax.nn.gelu(normal(x) @ layer["up"]) @ layer["down"]
    return (normal(x) ** 3).mean()


def run() -> list[Row]:
    """Against the original JAX function, traced and compiled in the same run."""
    x = np.random.default_rng(1).standard_normal((LENGTH, WIDTH)).astype(np.float32)
    layers = parameters(DEPTH)
    text = jax.jit(loss).lower(layers, x).as_text()
    program = read_program(Source(text), "main")
    leaves = [*jax.tree.leaves(layers), x]
    ops = parsed(program.source).index.by_name["main"].op_count

    def imported(layers: Any, x: Any) -> Any:
        return km.hlo_call(text, *jax.tree.leaves(layers), x)[0]

    ours = _traced_s(lambda: lambda *args: replay(program, args), leaves)
    theirs = _traced_s(lambda: lambda *args: loss(*args), [layers, x])
    return [
        Row(f"trace a transformer of {DEPTH} layers, {ops:,} ops", ours, "the original", theirs, ours / theirs, "<= 1.5"),
        *_growth(program, x),
        *_gradients(imported, layers, x),
        *_other_tool(layers, x),
    ]  # fmt: skip


def _traced_s(make: Callable[[], Any], args: list[Any]) -> float:
    """Tracing with nothing remembered."""

    def measure() -> float:
        jax.clear_caches()
        function = make()
        began = time.perf_counter()
        jax.make_jaxpr(function)(*args)
        return time.perf_counter() - began

    return median_of_s(measure)


def _growth(small: Program, x: np.ndarray) -> list[Row]:
    """Time for each op, in a program that is many times as large."""
    layers = parameters(DEEP)
    text = jax.jit(loss).lower(layers, x).as_text()
    large = read_program(Source(text), "main")
    times: list[float] = []
    counts: list[int] = []
    for program, depth in ((small, DEPTH), (large, DEEP)):
        leaves = [*jax.tree.leaves(parameters(depth)), x]

        times.append(_traced_s(partial(to_jax_anew, program), leaves))
        counts.append(parsed(program.source).index.by_name["main"].op_count)
    linear = times[0] * counts[1] / counts[0]
    what = f"read and trace {counts[1]:,} ops"
    return [Row(what, times[1], f"{counts[0]:,} ops, times {counts[1] / counts[0]:.1f}", linear, times[1] / linear, "<= 1.3")]  # fmt: skip


def _gradients(imported: Any, layers: Any, x: Any) -> list[Row]:
    """The gradient as compiled, and what it would cost to run the original beside it."""

    def twice(layers: Any, x: Any) -> Any:
        # The barrier keeps XLA from finding the two halves alike.
        value = imported(layers, x)
        return value, jax.grad(imported)(lax.optimization_barrier(layers), x)

    made = {
        "ours": jax.jit(jax.value_and_grad(imported)),
        "theirs": jax.jit(jax.value_and_grad(loss)),
        "twice": jax.jit(twice),
    }
    compiled = {name: function.lower(layers, x).compile() for name, function in made.items()}
    sizes = {n: c.memory_analysis().temp_size_in_bytes for n, c in compiled.items()}
    ready = {n: lambda c=c: jax.block_until_ready(c(layers, x)) for n, c in compiled.items()}
    for call in ready.values():
        call()
    ours, theirs = interleaved_s(ready["ours"], ready["theirs"], calls=3)
    again, both = interleaved_s(ready["ours"], ready["twice"], calls=3)
    memory = sizes["ours"] / sizes["theirs"]
    return [
        Row("value and gradient, compiled", ours, "the original", theirs, ours / theirs, "<= 1.05"),
        Row("memory of the gradient: ratio of temporary bytes", 0.0, "the original", 0.0, memory, "<= 1.0"),
        Row("value and gradient of one replay", again, "value of the original program beside", both, again / both, "<= 1.0"),
    ]  # fmt: skip


def _other_tool(layers: Any, x: Any) -> list[Row]:
    """Beside `rehydrax`, where the extra `bench` is installed; it takes no truth values."""
    if importlib.util.find_spec("rehydrax") is None:
        return []
    import rehydrax

    leaves = [*jax.tree.leaves(layers), x]
    text = jax.jit(partial(loss, is_masked=False)).lower(layers, x).as_text()
    program = read_program(Source(text), "main")
    ours_s = _traced_s(lambda: to_jax_anew(program), leaves)
    theirs_s = _traced_s(lambda: rehydrax.rehydrate_stablehlo(text), leaves)
    ours = jax.jit(lambda *args: km.hlo_call(text, *args))
    theirs = jax.jit(rehydrax.rehydrate_stablehlo(text))
    for call in (ours, theirs):
        jax.block_until_ready(call(*leaves))
    run_s, other_s = interleaved_s(
        lambda: jax.block_until_ready(ours(*leaves)),
        lambda: jax.block_until_ready(theirs(*leaves)),
        calls=3,
    )
    return [
        Row("read and trace it without its masks", ours_s, "rehydrax", theirs_s, ours_s / theirs_s, "< 1.0"),
        Row("run the same", run_s, "rehydrax", other_s, run_s / other_s, "<= 1.0"),
    ]  # fmt: skip


def to_jax_anew(program: Program) -> Callable[..., Any]:
    """A program read again, as the other tool reads it within the trace."""

    def function(*args: Any) -> Any:
        return build(program).block(args)

    return function
