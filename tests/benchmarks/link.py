"""Linking many functions whose names all clash."""

import time
from collections.abc import Callable

from jax.extend.mlir import ir
from jax.interpreters import mlir

import kernel_magics as km
from kernel_magics.ir.context import new_context
from kernel_magics.ir.link import Target, link
from kernel_magics.ir.symbols import scan
from tests.benchmarks.harness import Row, median_of_s
from tests.benchmarks.programs import functions

COUNT = 1600


def run() -> list[Row]:
    """Against JAX's own merge of the same two modules."""
    first, second = functions(COUNT, "sine"), functions(COUNT, "cosine")
    linked = median_of_s(lambda: link_s(first, second), runs=11)
    defined = median_of_s(lambda: define_s(COUNT), runs=11)
    merge = median_of_s(lambda: merge_s(first, second), runs=3)
    peer = "merge_mlir_modules"
    return [
        Row(f"link {COUNT} clashing functions", linked, peer, merge, merge / linked, ">= 200"),
        Row("Session.define of them", defined, peer, merge, merge / defined, ">= 60"),
        growth("link", lambda n: link_s(functions(n, "sine"), functions(n, "cosine"))),
        growth("Session.define", define_s),
    ]


def growth(what: str, measure: Callable[[int], float]) -> Row:
    """How much faster time grows than the number of functions."""
    # In turns: the machine's speed changes over minutes.
    pairs = [(median_of_s(lambda: measure(1000), runs=3), measure(8000)) for _ in range(7)]
    small, large = sorted(pairs, key=lambda pair: pair[1] / pair[0])[len(pairs) // 2]
    name = f"{what}: 8,000 functions against 8 times 1,000"
    return Row(name, large, "8 x 1,000 functions", 8 * small, large / (8 * small), "<= 1.3")


def merge_s(first: str, second: str) -> float:
    """JAX's linker, without parsing."""
    context = new_context()
    target, source = ir.Module.parse(first, context), ir.Module.parse(second, context)
    with context:
        began = time.perf_counter()
        mlir.merge_mlir_modules(target, "main", source)
        return time.perf_counter() - began


def link_s(first: str, second: str) -> float:
    """Our linker, without parsing and scanning."""
    context = new_context()
    module, incoming = ir.Module.parse(first, context), ir.Module.parse(second, context)
    index = scan(incoming)
    target = Target(module, ir.SymbolTable(module.operation))
    began = time.perf_counter()
    link(incoming, index, target, unit="second", tag="0123456789abcdef")
    return time.perf_counter() - began


def define_s(count: int) -> float:
    """All that `Session.define` does, from text on."""
    session = km.Session()
    session.define(functions(count, "sine"))
    text = functions(count, "cosine")
    began = time.perf_counter()
    session.define(text)
    return time.perf_counter() - began
