import numpy as np
import pytest

from kernel_magics import hlo_call
from kernel_magics.errors import CompileError

DYNAMIC_CONV = """func.func @main(%a: tensor<1x4x4x1xi32>, %b: tensor<3x3x1x1xi32>, %p: tensor<2x2xi32>) -> tensor<1x2x2x1xi32> {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %p) {
    window_strides = array<i64: 4, 4>, lhs_dilation = array<i64: 2, 2>,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<1x4x4x1xi32>, tensor<3x3x1x1xi32>, tensor<2x2xi32>) -> tensor<1x2x2x1xi32>
  return %0 : tensor<1x2x2x1xi32>
}"""


def test_xlas_words_stand_at_the_line_they_are_about():
    shapes = ((1, 4, 4, 1), (3, 3, 1, 1), (2, 2))
    with pytest.raises(CompileError) as error:
        hlo_call(DYNAMIC_CONV, *(np.zeros(shape, np.int32) for shape in shapes))
    assert str(error.value) == (
        "XLA refused `@main`\n"
        "  text:2:8\n"
        '    %0 = "stablehlo.dynamic_conv"(%a, %b, %p) {\n'
        "         ^^^^^^^^^^^^^^^^^^^^^^^^ 'stablehlo.dynamic_conv' op can't be translated to XLA HLO\n"
        "  These are XLA's own words."
    )
