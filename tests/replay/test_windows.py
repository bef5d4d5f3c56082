"""Window reductions and select-and-scatter, with the bodies that JAX has and with others."""

import numpy as np
import pytest

from tests.replay.programs import assert_same

RANDOM = np.random.default_rng(0)

HALVES = """%h = stablehlo.constant dense<0.5> : tensor<f32>
          %d = stablehlo.multiply %a, %h : tensor<f32>
          %c = stablehlo.add %d, %b : tensor<f32>"""

# Associative, as XLA wants it of windows; no start value but zero is neutral.
JOINED = """%d = stablehlo.multiply %a, %b : tensor<f32>
          %e = stablehlo.add %a, %b : tensor<f32>
          %c = stablehlo.add %d, %e : tensor<f32>"""

PLAIN = ("1, 1", "[[0, 0], [0, 0]]", "1, 1", "1, 1", "5x5")
STRIDED = ("2, 3", "[[1, 0], [2, 1]]", "1, 1", "1, 1", "3x3")
DILATED = ("1, 2", "[[0, 1], [1, 1]]", "1, 2", "2, 1", "5x6")


def window(body, form, start="0.0", dtype="f32"):
    strides, padding, base, dilation, shape = form
    kinds = f"(tensor<6x6x{dtype}>, tensor<{dtype}>) -> tensor<{shape}x{dtype}>"
    return f"""
    func.func @main(%x: tensor<6x6x{dtype}>) -> tensor<{shape}x{dtype}> {{
      %s = stablehlo.constant dense<{start}> : tensor<{dtype}>
      %r = "stablehlo.reduce_window"(%x, %s) ({{
        ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>):
          {body}
          stablehlo.return %c : tensor<{dtype}>
      }}) {{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: {strides}>,
           padding = dense<{padding}> : tensor<2x2xi64>, base_dilations = array<i64: {base}>,
           window_dilations = array<i64: {dilation}>}} : {kinds}
      return %r : tensor<{shape}x{dtype}>
    }}"""


@pytest.mark.parametrize("form", [PLAIN, STRIDED, DILATED])
@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("neutral", [True, False])
def test_known_bodies(form, op, neutral):
    starts = {"add": "0.0", "multiply": "1.0", "maximum": "0xFF800000", "minimum": "0x7F800000"}
    body = f"%c = stablehlo.{op} %a, %b : tensor<f32>"
    text = window(body, form, starts[op] if neutral else "0.25")
    assert_same(text, RANDOM.standard_normal((6, 6), np.float32), rtol=1e-6)


@pytest.mark.parametrize("form", [PLAIN, STRIDED, DILATED])
@pytest.mark.parametrize("start", ["0.0", "0.5"])
def test_any_body(form, start):
    x = RANDOM.standard_normal((6, 6), np.float32)
    assert_same(window(JOINED, form, start), x, rtol=1e-5)


@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "and"])
def test_integers(op):
    body = f"%c = stablehlo.{op} %a, %b : tensor<i32>"
    x = RANDOM.integers(-9, 9, (6, 6), np.int32)
    assert_same(window(body, STRIDED, "3", "i32"), x)


def scatter(direction, body, start="0.0"):
    return f"""
    func.func @main(%x: tensor<4x6xf32>, %y: tensor<2x3xf32>) -> tensor<4x6xf32> {{
      %s = stablehlo.constant dense<{start}> : tensor<f32>
      %r = "stablehlo.select_and_scatter"(%x, %y, %s) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.compare {direction}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
      }}, {{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          {body}
          stablehlo.return %c : tensor<f32>
      }}) {{window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 2>,
           padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}}
        : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
      return %r : tensor<4x6xf32>
    }}"""


@pytest.mark.parametrize("direction", ["GE", "LE", "GT"])
@pytest.mark.parametrize("body", ["%c = stablehlo.add %a, %b : tensor<f32>", HALVES])
@pytest.mark.parametrize("start", ["0.0", "1.5"])
def test_values_go_to_the_elements_that_windows_select(direction, body, start):
    # Small integers: ties are settled as well.
    x = RANDOM.integers(0, 3, (4, 6)).astype(np.float32)
    y = RANDOM.standard_normal((2, 3), np.float32)
    assert_same(scatter(direction, body, start), x, y, rtol=1e-6)
