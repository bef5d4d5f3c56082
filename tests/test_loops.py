"""Which loops are seen to end, and after how many rounds."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from kernel_magics.ir.context import new_context
from kernel_magics.ir.loops import WHILE, find_counter, loops_without_evident_end
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source
from kernel_magics.ir.symbols import scan

LOOP = """func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {{
  %start = stablehlo.constant dense<{start}> : tensor<i32>
  %limit = stablehlo.constant dense<{limit}> : tensor<i32>
  %step = stablehlo.constant dense<{step}> : tensor<i32>
  %0:3 = stablehlo.while(%i = {first}, %v = %x, %m = %n) : tensor<i32>, tensor<f32>, tensor<i32>
  cond {{
    %c = stablehlo.compare {compare} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    {extra}
    stablehlo.return {held} : tensor<i1>
  }} do {{
    %j = stablehlo.{op} : tensor<i32>
    %w = stablehlo.add %v, %v : tensor<f32>
    %k = stablehlo.add %m, %m : tensor<i32>
    stablehlo.return %j, %w, {m} : tensor<i32>, tensor<f32>, tensor<i32>
  }}
  return %0#1 : tensor<f32>
}}"""
USUAL = {
    "start": 0, "limit": 10, "step": 3, "first": "%start", "compare": "LT, %i, %limit", "extra": "", "held": "%c",
    "op": "add %i, %step", "m": "%m",
}  # fmt: skip


def index_of(text):
    return scan(parse(Source(text), new_context()))


def counter_of(**changed):
    index = index_of(LOOP.format(**{**USUAL, **changed}))
    body = index.by_name["main"].operation.regions[0].blocks[0]
    loop = next(view.operation for view in body.operations if view.operation.name == WHILE)
    return find_counter(loop)


@pytest.mark.parametrize(
    ("changed", "count"),
    [
        ({}, 4),
        ({"limit": 9}, 3),
        ({"limit": 0}, 0),
        ({"limit": -5}, 0),
        ({"compare": "LE, %i, %limit", "limit": 9}, 4),
        ({"compare": "GT, %limit, %i"}, 4),
        ({"op": "add %step, %i"}, 4),
        ({"start": 10, "limit": 0, "compare": "GT, %i, %limit", "op": "subtract %i, %step"}, 4),
        ({"start": 10, "limit": 0, "compare": "GE, %i, %limit", "step": -5}, 3),
        ({"extra": "%d = stablehlo.and %c, %c : tensor<i1>", "held": "%d"}, 4),
        ({"compare": "LT, %i, %m", "step": 1}, None),
        ({"compare": "LT, %i, %n", "step": 1}, None),
        ({"first": "%n"}, None),
    ],
)
def test_counted_loops(changed, count):
    assert counter_of(**changed).trip_count == count


@pytest.mark.parametrize(
    "changed",
    [
        {"compare": "NE, %i, %limit"},
        {"op": "subtract %i, %step"},
        {"op": "multiply %i, %step"},
        {"op": "add %i, %m"},
        {"op": "add %m, %step"},
        {"step": 0},
        {"compare": "LE, %i, %limit", "limit": 2**31 - 1, "step": 1},
        {"limit": 2**31 - 2},
        {"compare": "LT, %i, %m"},
        {"compare": "LE, %i, %m", "step": 1},
        {"compare": "LT, %i, %m", "m": "%k"},
        {"compare": "LT, %limit, %limit"},
        {"extra": "%d = stablehlo.or %c, %c : tensor<i1>", "held": "%d"},
    ],
)
def test_loops_that_nothing_shows_to_end(changed):
    assert counter_of(**changed) is None


def unending(function, *args):
    index = index_of(jax.jit(function).lower(*args).as_text())
    return len(list(loops_without_evident_end(index, "main")))


def test_loops_of_jax():
    x = jnp.ones(3)
    assert unending(lambda x: lax.fori_loop(0, 9, lambda _, y: y * 2, x), x) == 0
    assert unending(lambda n, x: lax.fori_loop(0, n, lambda _, y: y * 2, x), 9, x) == 0
    assert unending(lambda x: lax.scan(lambda c, y: (c + y, c), 0.0, x), x) == 0
    assert unending(lambda x: lax.while_loop(lambda y: y.sum() < 9, lambda y: y * 2, x), x) == 1

    def nested(x):
        def body(_, y):
            return lax.while_loop(lambda z: z.sum() < 9, lambda z: z * 2, y)

        return lax.fori_loop(0, 9, body, x)

    assert unending(nested, x) == 1
