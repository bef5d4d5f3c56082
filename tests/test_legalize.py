"""What lowering leaves, keeps and says, whatever the dialect."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.extend.mlir import ir
from jax.interpreters import mlir

from kernel_magics.ir.context import new_context
from kernel_magics.ir.legalize import RULES, legalize, needs_legalizing
from kernel_magics.ir.symbols import scan
from tests.lowering import left, legalized, run

LOOP = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %s = tensor.extract %x[] : tensor<f32>
  %r = scf.for %i = %zero to %ten step %one iter_args(%a = %s) -> (f32) {
    %0 = math.sqrt %a : f32
    scf.yield %0 : f32
  }
  %o = tensor.from_elements %r : tensor<f32>
  return %o : tensor<f32>
}"""


def test_ops_in_regions_of_stablehlo_are_turned():
    text = """func.func @main(%x: tensor<5xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = "stablehlo.reduce"(%x, %0) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = arith.mulf %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}"""
    np.testing.assert_allclose(run(text, np.arange(1, 6, dtype=np.float32))[0], 120)


def test_locations_and_attributes_of_dialects_stay():
    text = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.divui %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, other} : tensor<4xi32> loc("a.mlir":7:3)
  return %0 : tensor<4xi32>
}"""
    module = ir.Module.parse(text, new_context())
    assert legalize(module)
    ops = [
        view.operation
        for view in module.body.operations[1].operation.regions[0].blocks[0].operations
    ]
    assert [str(op.location) for op in ops[:-1]] == ['loc("a.mlir":7:3)'] * 4
    assert ["sdy.sharding" in op.attributes for op in ops] == [False, False, False, True, False]
    assert not any("other" in op.attributes for op in ops)


UNTOUCHED = [
    "%0 = arith.addf %x, %x : tensor<3xf32>",
    "%0 = math.fma %x, %x, %x : tensor<3xf32>",
    "%0 = arith.constant dense<1.0> : tensor<3xf32>",
    "%0 = tensor.cast %x : tensor<3xf32> to tensor<?xf32>",
    "%0 = tensor.empty() : tensor<3xf32>",
    "%0 = arith.constant dense<1.0> : vector<4xf32>\n  %1 = arith.mulf %0, %0 : vector<4xf32>",
    "%0 = ub.poison : f32\n  %1 = arith.mulf %0, %0 : f32",
    "%m = memref.alloc() : memref<3xf32>\n  %i = arith.constant 0 : index\n  %0 = memref.load %m[%i] : memref<3xf32>\n  %1 = arith.mulf %0, %0 : f32",
    "%c = arith.constant dense<2> : tensor<3xindex>\n  %0 = arith.muli %c, %c : tensor<3xindex>",
    "%c = arith.constant dense<2> : tensor<3xi128>\n  %0 = arith.muli %c, %c : tensor<3xi128>",
    "%0 = stablehlo.add %x, %x : tensor<3xf32>",
]


@pytest.mark.parametrize("body", UNTOUCHED)
def test_what_has_no_exact_form_stays(body):
    left(
        f"func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n  {body}\n  return %x : tensor<3xf32>\n}}"
    )


def test_scalars_that_a_left_op_reads_stay_beside_their_tensors():
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %s = tensor.extract %x[] : tensor<f32>
  %0 = arith.mulf %s, %s : f32
  %1 = call @f(%0) : (f32) -> f32
  %2 = tensor.from_elements %0 : tensor<f32>
  return %2 : tensor<f32>
}
func.func private @f(%x: f32) -> f32 { return %x : f32 }"""
    after = legalized(text)
    assert "arith.mulf" in after
    assert "stablehlo.multiply" in after
    assert "from_elements" not in after


def test_scan_tells_whether_there_is_anything_to_do(read):
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n  %0 = {0} : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}}"
    for line, wanted in {
        "arith.mulf %x, %x": True,
        "arith.addf %x, %x": False,
        "arith.constant dense<1.0>": False,
        "stablehlo.add %x, %x": False,
    }.items():
        assert needs_legalizing(read(text.format(line)).index) is wanted


def test_rules_name_ops_of_the_four_dialects_alone():
    assert {name.partition(".")[0] for name in RULES} == {"arith", "math", "scf", "tensor"}


def test_jax_context_is_not_changed():
    context = mlir.make_ir_context()
    module = ir.Module.parse(LOOP, context)
    before = context.allow_unregistered_dialects
    assert legalize(module)
    assert module.operation.verify()
    assert context.allow_unregistered_dialects == before
    np.testing.assert_array_equal(jax.jit(jnp.add)(1, 2), 3)


def test_scan_after_legalizing_knows_no_foreign_op():
    module = ir.Module.parse(LOOP, new_context())
    legalize(module)
    assert not needs_legalizing(scan(module))


def test_ops_of_equal_shapes_are_turned_before_the_sizes_are_known():
    text = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %x, %x : tensor<?xf32>
  %1 = math.trunc %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}"""
    assert "stablehlo.multiply %arg0, %arg0 : tensor<?xf32>" in legalized(text)
    assert "math.log2" in left(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  %0 = math.log2 %x : tensor<?xf32>\n  return %0 : tensor<?xf32>\n}"
    )
