"""Loads from constant globals are elements of constants; other memory stays as it is."""

import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import PreflightError
from tests.lowering import left

TABLE = np.array([[1, 2, 3], [4, 5, 6]], np.float32)

LOOK_UP = """memref.global "private" constant @table : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
memref.global constant @scale : memref<f32> = dense<10.0>
func.func @main(%i: tensor<i32>) -> tensor<f32> {
  %table = memref.get_global @table : memref<2x3xf32>
  %scale = memref.get_global @scale : memref<f32>
  %n = tensor.extract %i[] : tensor<i32>
  %column = arith.index_cast %n : i32 to index
  %row = arith.constant 1 : index
  %0 = memref.load %table[%row, %column] : memref<2x3xf32>
  %1 = memref.load %scale[] : memref<f32>
  %2 = arith.mulf %0, %1 : f32
  %3 = tensor.from_elements %2 : tensor<f32>
  return %3 : tensor<f32>
}"""


@pytest.mark.parametrize("column", [0, 1, 2])
def test_loads_from_constant_globals_are_their_elements(column):
    (given,) = km.hlo_call(LOOK_UP, np.int32(column))
    np.testing.assert_array_equal(given, TABLE[1, column] * 10)


SUM = """memref.global constant @table : memref<4xi32> = dense<[3, 1, 4, 1]>
func.func @main() -> tensor<i32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %none = arith.constant 0 : i32
  %table = memref.get_global @table : memref<4xi32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %none) -> (i32) {
    %v = memref.load %table[%i] : memref<4xi32>
    %s = arith.addi %a, %v : i32
    scf.yield %s : i32
  }
  %o = tensor.from_elements %r : tensor<i32>
  return %o : tensor<i32>
}"""


def test_loops_read_constant_globals():
    assert km.hlo_call(SUM)[0] == 9


@pytest.mark.parametrize("read", ["", "%0 = memref.get_global @weights : memref<2xf32>"])
@pytest.mark.parametrize("other", ["%c = arith.constant 1.0 : f32\n  %d = math.absf %c : f32", ""])
def test_globals_that_nothing_reads_are_no_obstacle(read, other):
    text = f"""memref.global "private" @state : memref<2xf32> = uninitialized
memref.global constant @weights : memref<2xf32> = dense<1.0>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  {read}
  {other}
  %1 = stablehlo.add %x, %x : tensor<2xf32>
  return %1 : tensor<2xf32>
}}"""
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(km.hlo_call(text, x)[0], 2 * x)


@pytest.mark.parametrize(
    ("definition", "element"),
    [
        ("@g : memref<2xf32> = dense<1.0>", "f32"),
        ("constant @g : memref<2xf32> = uninitialized", "f32"),
        ("constant @g : memref<2xindex> = dense<1>", "index"),
        ("constant @g : memref<2xcomplex<f32>> = dense<(1.0, 2.0)>", "complex<f32>"),
    ],
)
def test_memory_of_unknown_content_and_of_other_elements_stays(definition, element):
    if element != "index":
        left(_read(definition, element))
    with pytest.raises(PreflightError, match="`memref.get_global` is not an op that XLA takes"):
        km.hlo_call(_read(definition, element), np.float32(1))


def _read(definition: str, element: str) -> str:
    return f"""memref.global {definition}
func.func @main(%x: tensor<f32>) -> tensor<f32> {{
  %g = memref.get_global @g : memref<2x{element}>
  %c0 = arith.constant 0 : index
  %0 = memref.load %g[%c0] : memref<2x{element}>
  return %x : tensor<f32>
}}"""


def test_a_global_that_is_stored_to_or_handed_on_stays():
    text = """memref.global constant @g : memref<2xf32> = dense<1.0>
func.func @main() {
  %g = memref.get_global @g : memref<2xf32>
  %c0 = arith.constant 0 : index
  %0 = memref.load %g[%c0] : memref<2xf32>
  call @other(%g) : (memref<2xf32>) -> ()
  return
}
func.func private @other(%g: memref<2xf32>) { return }"""
    left(text)
    call = "call @other(%g) : (memref<2xf32>) -> ()"
    left(text.replace(call, "memref.store %0, %g[%c0] : memref<2xf32>"))


def test_a_name_inside_a_nested_module_is_another_name():
    left("""memref.global constant @g : memref<2xf32> = dense<1.0>
module @inner {
  memref.global @g : memref<2xf32> = dense<2.0>
  func.func @f() -> f32 {
    %g = memref.get_global @g : memref<2xf32>
    %c0 = arith.constant 0 : index
    %0 = memref.load %g[%c0] : memref<2xf32>
    return %0 : f32
  }
}""")
