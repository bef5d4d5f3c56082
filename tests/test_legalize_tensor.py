"""Ops of `tensor` are run after lowering and compared with NumPy."""

import numpy as np
import pytest

from tests.lowering import kind, legalized, run

X = np.arange(24, dtype=np.float32).reshape(4, 6)
TENSOR_OPS = [
    ("tensor.extract_slice %x[1, 2] [2, 3] [1, 1] : {x} to {r}", X[1:3, 2:5]),
    ("tensor.extract_slice %x[1, 0] [2, 3] [2, 2] : {x} to {r}", X[1::2, ::2]),
    ("tensor.extract_slice %x[1, 2] [1, 3] [1, 1] : {x} to {r}", X[1, 2:5]),
    ("tensor.collapse_shape %x [[0, 1]] : {x} into {r}", X.ravel()),
    (
        "tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 6] : {x} into {r}",
        X.reshape(2, 2, 6),
    ),
    ("tensor.concat dim(1) %x, %x : ({x}, {x}) -> {r}", np.concatenate([X, X], 1)),
    ("tensor.reshape %x(%shape) : ({x}, tensor<2xi32>) -> {r}", X.reshape(8, 3)),
    ("tensor.bitcast %x : {x} to {r}", X.view(np.int32)),
    ("tensor.splat %s : {r}", np.full((2, 3), 7, np.float32)),
    ("tensor.from_elements %s, %e, %s, %e : {r}", np.array([[7, 15], [7, 15]], np.float32)),
    ("tensor.from_elements %e : {r}", np.float32(15)),
    ("tensor.insert_slice %p into %x[1, 1] [2, 2] [1, 1] : tensor<2x2xf32> into {r}", None),
    ("tensor.insert_slice %p into %x[1, 1] [2, 2] [2, 3] : tensor<2x2xf32> into {r}", None),
    ("tensor.insert_slice %p into %x[%i, 1] [2, 2] [1, 1] : tensor<2x2xf32> into {r}", None),
    ("tensor.insert %s into %x[%i, %j] : {r}", None),
]


def written(line: str) -> np.ndarray:
    """What the inserting ops of the table make."""
    result = X.copy()
    if "tensor.insert " in line:
        result[2, 3] = 7
    elif "%i" in line:
        result[2:4, 1:3] = 9
    else:
        result[1:4:2, 1:5:3] = 9
        if "[2, 2] [1, 1]" in line:
            result = X.copy()
            result[1:3, 1:3] = 9
    return result


@pytest.mark.parametrize(("line", "wanted"), TENSOR_OPS)
def test_tensor_ops_are_numpys(line, wanted):
    wanted = written(line) if wanted is None else np.asarray(wanted)
    types = {"x": kind(X), "r": kind(wanted)}
    text = f"""func.func @main(%x: {types["x"]}, %p: tensor<2x2xf32>) -> {types["r"]} {{
  %i = arith.constant 2 : index
  %j = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %shape = stablehlo.constant dense<[8, 3]> : tensor<2xi32>
  %e = tensor.extract %x[%i, %j] : {types["x"]}
  %r = {line.format(**types)}
  return %r : {types["r"]}
}}"""
    np.testing.assert_array_equal(run(text, X, np.full((2, 2), 9, np.float32))[0], wanted)


PAD = """func.func @main(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %e = tensor.extract %v[] : tensor<f32>
  %r = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    {0}
  } : tensor<3xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}"""


@pytest.mark.parametrize(
    "body", ["tensor.yield %e : f32", "%c = arith.constant 4.0 : f32\n    tensor.yield %c : f32"]
)
def test_padding_with_one_value_is_numpys(body):
    (given,) = run(PAD.replace("{0}", body), X[0, :3], np.float32(4))
    np.testing.assert_array_equal(given, [4, 0, 1, 2, 4, 4])


def test_padding_that_depends_on_the_place_is_left():
    body = "%k = arith.index_cast %i : index to i32\n    %c = arith.sitofp %k : i32 to f32\n    tensor.yield %c : f32"
    assert "tensor.pad" in legalized(PAD.replace("{0}", body))


EMPTY = """func.func @main(%x: tensor<2xf32>) -> tensor<{0}xf32> {{
  %0 = tensor.empty() : tensor<{0}xf32>
  %1 = tensor.insert_slice %x into %0[2] [2] [1] : tensor<2xf32> into tensor<{0}xf32>
  %2 = tensor.insert_slice %x into %1[0] [2] [1] : tensor<2xf32> into tensor<{0}xf32>
  return %2 : tensor<{0}xf32>
}}"""


def test_empty_tensor_is_turned_only_where_all_of_it_is_written():
    np.testing.assert_array_equal(run(EMPTY.format(4), X[0, :2])[0], [0, 1, 0, 1])
    assert "tensor.empty" in legalized(EMPTY.format(5))


def test_sizes_are_constants():
    text = """func.func @main(%x: tensor<4x6xf32>) -> tensor<2xi32> {
  %c1 = arith.constant 1 : index
  %0 = tensor.dim %x, %c1 : tensor<4x6xf32>
  %1 = tensor.rank %x : tensor<4x6xf32>
  %2 = arith.index_cast %0 : index to i32
  %3 = arith.index_castui %1 : index to i32
  %4 = tensor.from_elements %2, %3 : tensor<2xi32>
  return %4 : tensor<2xi32>
}"""
    np.testing.assert_array_equal(run(text, X)[0], [6, 2])
