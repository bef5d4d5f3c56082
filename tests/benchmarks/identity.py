"""What it costs to find functions that do the same."""

import time

from jax.extend.mlir import ir

from kernel_magics.ir.context import new_context
from kernel_magics.ir.fingerprint import canonical_text, fingerprints, top_level_texts
from kernel_magics.ir.symbols import scan
from tests.benchmarks.harness import Row
from tests.benchmarks.programs import layers

ROUNDS = 7


def run() -> list[Row]:
    """Against the parse of the same text: no other tool finds them."""
    return [
        identity("identity of 2,000 functions of 50 ops", layers(100_000)),
        identity("the same, no two of them equal", all_different(2000, 50)),
    ]


def identity(what: str, text: str) -> Row:
    """The print, its parts and their digests; parsing and scanning are not ours to count."""
    pairs = [measure_s(text) for _ in range(ROUNDS)]
    ours, parse = sorted(pairs, key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]
    return Row(what, ours, "parse of the text", parse, ours / parse, "<= 1.5")


def measure_s(text: str) -> tuple[float, float]:
    """Seconds for fingerprints and for the parse."""
    context = new_context()
    began = time.perf_counter()
    module = ir.Module.parse(text, context)
    parsed = time.perf_counter()
    texts = top_level_texts(module, canonical_text(module))
    printed = time.perf_counter()
    index = scan(module, texts)
    scanned = time.perf_counter()
    fingerprints(index, texts, {})
    return time.perf_counter() - scanned + printed - parsed, parsed - began


def all_different(count: int, size: int) -> str:
    """Functions of `size` ops with a constant of their own."""
    kind = "tensor<8xf32>"
    lines: list[str] = []
    for i in range(count):
        lines += [
            f"func.func private @f{i}(%v0: {kind}) -> {kind} {{",
            f"  %v1 = stablehlo.constant dense<{i}.0> : {kind}",
        ]
        lines += [f"  %v{j + 1} = stablehlo.add %v{j}, %v1 : {kind}" for j in range(1, size - 1)]
        lines += [f"  return %v{size - 1} : {kind}", "}"]
    return "\n".join(lines)
