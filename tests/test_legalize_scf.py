"""Conditions and loops of `scf` are run after lowering and compared with Python."""

import numpy as np
import pytest

from tests.lowering import left, legalized, run

IF = """func.func @main(%x: tensor<f32>, %y: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract %x[] : tensor<f32>
  %c = arith.cmpf ogt, %s, %zero : f32
  %r:2 = scf.if %c -> (f32, tensor<3xf32>) {
    %0 = arith.mulf %s, %s : f32
    scf.yield %0, %y : f32, tensor<3xf32>
  } else {
    %0 = math.absf %y : tensor<3xf32>
    scf.yield %zero, %0 : f32, tensor<3xf32>
  }
  %o = tensor.from_elements %r#0 : tensor<f32>
  return %o, %r#1 : tensor<f32>, tensor<3xf32>
}"""


@pytest.mark.parametrize("x", [3.0, -3.0, np.nan])
def test_conditions_choose_scalars_and_tensors(x):
    y = np.array([1, -2, -0.0], np.float32)
    scalar, tensor = run(IF, np.float32(x), y)
    np.testing.assert_array_equal(scalar, x * x if x > 0 else 0)
    np.testing.assert_array_equal(tensor, y if x > 0 else np.abs(y))


FOR = """func.func @main(%x: tensor<6xf32>, %n: tensor<i32>) -> (tensor<6xf32>, tensor<f32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %unit = arith.constant 1.0 : f32
  %last = tensor.extract %n[] : tensor<i32>
  %end = arith.index_cast %last : i32 to index
  %r:2 = scf.for %i = %zero to %end step %two iter_args(%t = %x, %p = %unit) -> (tensor<6xf32>, f32) {
    %v = tensor.extract %t[%i] : tensor<6xf32>
    %q = arith.mulf %p, %v : f32
    %c = arith.cmpi ult, %i, %two : index
    %w = scf.if %c -> (f32) {
      scf.yield %unit : f32
    } else {
      scf.yield %q : f32
    }
    %next = arith.addi %i, %one : index
    %s = tensor.insert %w into %t[%next] : tensor<6xf32>
    scf.yield %s, %q : tensor<6xf32>, f32
  }
  %o = tensor.from_elements %r#1 : tensor<f32>
  return %r#0, %o : tensor<6xf32>, tensor<f32>
}"""


@pytest.mark.parametrize("n", [0, -1, 1, 5, 6])
def test_loops_count_and_carry_scalars_and_tensors(n):
    x = np.array([2, 3, 4, 5, 6, 7], np.float32)
    wanted, product = x.copy(), 1
    for i in range(0, n, 2):
        product = product * wanted[i]
        wanted[i + 1] = 1 if i < 2 else product
    given = run(FOR, x, np.int32(n))
    np.testing.assert_array_equal(given[0], wanted)
    np.testing.assert_array_equal(given[1], product)


WHILE = """func.func @main(%n: tensor<i32>, %x: tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %s = tensor.extract %n[] : tensor<i32>
  %r:2 = scf.while (%k = %s, %t = %x) : (i32, tensor<3xf32>) -> ({0}) {
    %c = arith.cmpi sgt, %k, %one : i32
    %odd = arith.remsi %k, %two : i32
    {1}
  } do {
  ^bb0(%a: {2}, %b: {3}):
    {4}
    %h = arith.divsi %k, %two : i32
    %d = math.absf %t : tensor<3xf32>
    %e = arith.mulf %d, %d : tensor<3xf32>
    scf.yield %h, %e : i32, tensor<3xf32>
  }
  %o = tensor.from_elements %r#{5} : tensor<i32>
  return %o, %r#{6} : tensor<i32>, tensor<3xf32>
}"""


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_loops_with_a_condition_hand_on_what_they_were_given(n):
    text = WHILE
    for number, part in enumerate(
        (
            "i32, tensor<3xf32>",
            "scf.condition(%c) %k, %t : i32, tensor<3xf32>",
            "i32",
            "tensor<3xf32>",
            "",
            "0",
            "1",
        )
    ):
        text = text.replace(f"{{{number}}}", part)
    text = text.replace("^bb0(%a: i32, %b:", "^bb0(%k: i32, %t:")
    x = np.array([1, -2, 0.5], np.float32)
    given = run(text, np.int32(n), x)
    while n > 1:
        n, x = n // 2, x * x
    np.testing.assert_array_equal(given[0], n)
    np.testing.assert_array_equal(given[1], x)


ROTATED = """func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
  %one = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %s = tensor.extract %n[] : tensor<i32>
  %r:2 = scf.while (%k = %s) : (i32) -> (f32, i32) {
    %c = arith.cmpi sgt, %k, %one : i32
    %f = arith.sitofp %k : i32 to f32
    %g = arith.mulf %f, %half : f32
    %j = arith.muli %k, %k : i32
    scf.condition(%c) %g, %j : f32, i32
  } do {
  ^bb0(%g: f32, %j: i32):
    %i = arith.fptosi %g : f32 to i32
    scf.yield %i : i32
  }
  %0 = tensor.from_elements %r#1 : tensor<i32>
  %1 = tensor.from_elements %r#0 : tensor<f32>
  return %0, %1 : tensor<i32>, tensor<f32>
}"""


@pytest.mark.parametrize("n", [0, 1, 2, 9, 100])
def test_loops_whose_condition_computes_what_it_hands_on_run_it_as_often(n):
    given = run(ROTATED, np.int32(n))
    while n > 1:
        n //= 2
    np.testing.assert_array_equal(given[0], n * n)
    np.testing.assert_array_equal(given[1], n / 2)


def test_loop_whose_body_is_its_condition_runs_at_least_once():
    text = ROTATED.replace("%i = arith.fptosi %g : f32 to i32\n    scf.yield %i", "scf.yield %j")
    for n, wanted in ((1, 1), (2, 2**4)):
        text_of_n = text.replace("sgt, %k, %one", "sgt, %one, %k" if n == 1 else "eq, %k, %two")
        text_of_n = text_of_n.replace("%half =", "%two = arith.constant 2 : i32\n  %half =")
        np.testing.assert_array_equal(run(text_of_n, np.int32(n))[0], wanted)


def test_loops_in_conditions_of_loops_do_not_grow():
    sizes = []
    for depth in (4, 8):
        head = "  %v = scf.while (%k = %s) : (i32) -> (i32) {\n    %c = arith.cmpi sgt, %k, %one : i32\n"
        tail = "    %j = arith.muli %k, %k : i32\n    scf.condition(%c) %j : i32\n  } do {\n  ^bb0(%g: i32):\n    scf.yield %g : i32\n  }\n"
        loops = "".join(
            head.replace("%v", f"%v{i}")
            .replace("%k = %s", f"%k{i} = %k{i - 1}")
            .replace("%k,", f"%k{i},")
            .replace("%c", f"%c{i}")
            for i in range(1, depth)
        ) + "".join(
            tail.replace("%k", f"%k{i}")
            .replace("%c", f"%c{i}")
            .replace("%j", f"%j{i}")
            .replace("%g", f"%g{i}")
            for i in reversed(range(1, depth))
        )
        text = f"func.func @main(%n: tensor<i32>) -> tensor<i32> {{\n  %one = arith.constant 1 : i32\n  %k0 = tensor.extract %n[] : tensor<i32>\n{loops}  return %n : tensor<i32>\n}}"
        sizes.append(legalized(text).count("stablehlo.while"))
    assert sizes == [3, 7]


def test_condition_without_results_and_without_else_compiles():
    text = """func.func @main(%n: tensor<i1>) -> tensor<i1> {
  %s = tensor.extract %n[] : tensor<i1>
  scf.if %s {
    %0 = stablehlo.not %n : tensor<i1>
  }
  return %n : tensor<i1>
}"""
    assert run(text, np.array(True))[0]


MEMORY = """func.func @main(%x: tensor<f32>, %m: memref<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %one step %one {
    %0 = memref.load %m[%i] : memref<4xf32>
    %1 = arith.mulf %0, %0 : f32
    memref.store %1, %m[%i] : memref<4xf32>
  }
  return
}"""


def test_loops_over_memory_stay():
    left(MEMORY)


def test_scalar_that_an_op_of_a_moved_body_reads_is_taken_out_of_its_tensor():
    text = """func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = tensor.extract %n[] : tensor<i32>
  %r = scf.for %i = %zero to %one step %one iter_args(%a = %s) -> (i32) {
    %k = arith.index_cast %i : index to i128
    %l = arith.trunci %k : i128 to i32
    %m = arith.muli %l, %a : i32
    scf.yield %m : i32
  }
  %o = tensor.from_elements %r : tensor<i32>
  return %o : tensor<i32>
}"""
    after = legalized(text)
    assert "stablehlo.while" in after
    assert "i64 to index" in after
    assert "arith.muli" in after
