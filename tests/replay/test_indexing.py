"""Gathers and scatters: what stands out, any place of the index vectors, any body."""

import numpy as np
import pytest

from tests.replay.programs import assert_same

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((4, 5, 3), np.float32)

HALVES = """%h = stablehlo.constant dense<0.5> : tensor<f32>
          %d = stablehlo.multiply %a, %h : tensor<f32>
          %c = stablehlo.add %d, %b : tensor<f32>"""


def gather(numbers, sizes, indices, result):
    kinds = f"(tensor<4x5x3xf32>, tensor<{indices}>) -> tensor<{result}xf32>"
    return f"""
    func.func @main(%x: tensor<4x5x3xf32>, %i: tensor<{indices}>) -> tensor<{result}xf32> {{
      %r = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<{numbers}>,
        slice_sizes = array<i64: {sizes}>}} : {kinds}
      return %r : tensor<{result}xf32>
    }}"""


@pytest.mark.parametrize("dtype", ["i8", "i32", "ui32"])
def test_windows_that_stand_out_are_moved_inside(dtype):
    numbers = "offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1]"
    text = gather(f"{numbers}, index_vector_dim = 1", "1, 2, 3", f"6x2x{dtype}", "6x2x3")
    indices = np.array([[0, 0], [3, 4], [9, 1], [-1, -3], [2, 3], [100, 100]])
    assert_same(text, X, indices.astype({"i8": np.int8, "i32": np.int32, "ui32": np.uint32}[dtype]))


def test_index_vectors_in_the_first_dimension():
    numbers = "offset_dims = [0], collapsed_slice_dims = [0, 1], start_index_map = [1, 0]"
    text = gather(f"{numbers}, index_vector_dim = 0", "1, 1, 3", "2x2x3xi32", "3x2x3")
    assert_same(text, X, RANDOM.integers(-1, 6, (2, 2, 3), np.int32))


def test_indices_without_a_vector_dimension():
    numbers = "offset_dims = [1, 2], collapsed_slice_dims = [1], start_index_map = [1]"
    text = gather(f"{numbers}, index_vector_dim = 1", "4, 1, 3", "7xi32", "7x4x3")
    assert_same(text, X, RANDOM.integers(-1, 6, 7, np.int32))


def test_batching_dimensions_with_vectors_in_the_middle():
    numbers = """offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 1"""
    text = gather(numbers, "1, 1, 3", "2x1x4xi32", "2x4x3")
    assert_same(text, X, RANDOM.integers(-1, 6, (2, 1, 4), np.int32))


def scatter(body, numbers, indices, updates, attributes=""):
    kinds = f"(tensor<4x5x3xf32>, tensor<{indices}xi32>, tensor<{updates}xf32>)"
    return f"""
    func.func @main(%x: tensor<4x5x3xf32>, %i: tensor<{indices}xi32>, %u: tensor<{updates}xf32>)
        -> tensor<4x5x3xf32> {{
      %r = "stablehlo.scatter"(%x, %i, %u) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          {body}
          stablehlo.return %c : tensor<f32>
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>{attributes}}}
        : {kinds} -> tensor<4x5x3xf32>
      return %r : tensor<4x5x3xf32>
    }}"""


BODIES = {
    "add": "%c = stablehlo.add %a, %b : tensor<f32>",
    "multiply": "%c = stablehlo.multiply %b, %a : tensor<f32>",
    "maximum": "%c = stablehlo.maximum %a, %b : tensor<f32>",
    "minimum": "%c = stablehlo.minimum %a, %b : tensor<f32>",
    "halves": HALVES,
    "subtract": "%c = stablehlo.subtract %a, %b : tensor<f32>",
}

WINDOWS = """update_window_dims = [1, 2], inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1"""


@pytest.mark.parametrize("name", BODIES)
def test_windows_that_stand_out_are_left_away(name):
    text = scatter(BODIES[name], WINDOWS, "6x2", "6x2x3")
    indices = np.array([[0, 0], [3, 4], [9, 1], [-1, 0], [2, 3], [2, 3]], np.int32)
    assert_same(text, X, indices, RANDOM.standard_normal((6, 2, 3), np.float32), rtol=1e-6)


def test_updates_replace_what_is_there():
    text = scatter("", WINDOWS, "4x2", "4x2x3").replace("return %c", "return %b")
    indices = np.array([[0, 0], [3, 4], [9, 1], [2, 3]], np.int32)
    assert_same(text, X, indices, RANDOM.standard_normal((4, 2, 3), np.float32))


@pytest.mark.parametrize("name", ["add", "halves"])
def test_batching_dimensions_of_scatters(name):
    numbers = """update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1],
      index_vector_dim = 1"""
    text = scatter(BODIES[name], numbers, "2x1x4", "2x4x3")
    indices = RANDOM.integers(-1, 6, (2, 1, 4), np.int32)
    assert_same(text, X, indices, RANDOM.standard_normal((2, 4, 3), np.float32), rtol=1e-6)


def test_several_operands_are_scattered_together():
    text = """
    func.func @main(%x: tensor<5xf32>, %y: tensor<5xi32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>,
        %v: tensor<3xi32>) -> (tensor<5xf32>, tensor<5xi32>) {
      %r:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) ({
        ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
          %e = stablehlo.add %a, %c : tensor<f32>
          stablehlo.return %e, %d : tensor<f32>, tensor<i32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<5xf32>, tensor<5xi32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xi32>)
        -> (tensor<5xf32>, tensor<5xi32>)
      return %r#0, %r#1 : tensor<5xf32>, tensor<5xi32>
    }"""
    y, v = np.arange(5, dtype=np.int32), np.arange(10, 13, dtype=np.int32)
    indices = np.array([[1], [7], [1]], np.int32)
    assert_same(text, X[0, :, 0], y, indices, X[1, :3, 0], v, rtol=1e-6)


def test_slices_at_places_that_stand_out():
    text = """
    func.func @main(%x: tensor<4x5x3xf32>, %i: tensor<i32>, %u: tensor<2x5x3xf32>)
        -> (tensor<2x5x3xf32>, tensor<4x5x3xf32>) {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %a = stablehlo.dynamic_slice %x, %i, %z, %z, sizes = [2, 5, 3]
        : (tensor<4x5x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x5x3xf32>
      %b = stablehlo.dynamic_update_slice %x, %u, %i, %z, %z
        : (tensor<4x5x3xf32>, tensor<2x5x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>)
        -> tensor<4x5x3xf32>
      return %a, %b : tensor<2x5x3xf32>, tensor<4x5x3xf32>
    }"""
    for start in (-2, 1, 3, 100):
        assert_same(text, X, np.int32(start), RANDOM.standard_normal((2, 5, 3), np.float32))
