"""What JAX cannot transform is told in one error: every op, its line, and what would help."""

import jax
import numpy as np
import pytest
from jax import lax

import kernel_magics as km
from kernel_magics.errors import PreflightError
from tests.transforms.programs import assert_close

X = np.ones(3, np.float32)

UNKNOWN = """func.func private @inner(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @nobody.knows(%x) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = call @inner(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @nor.this(%0) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>
  return %1, %x : tensor<3xf32>, tensor<3xf32>
}"""
UNKNOWN_MESSAGE = """\
`@main` cannot be differentiated: what `nobody.knows`, `nor.this` does is not known, nor the derivative
  text:2:8
    %0 = stablehlo.custom_call @nobody.knows(%x) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf …
         ^^^^^^^^^^^^^^^^^^^^^
  text:7:8
    %1 = stablehlo.custom_call @nor.this(%0) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>
         ^^^^^^^^^^^^^^^^^^^^^
  Give it a derivative of its own: `fn.with_vjp(rule)` for gradients, `fn.with_jvp(rule)` for both directions."""

BATCHING_ADVICE = """\
  `fn.with_batching("sequential")` calls it once for each row; `fn.with_batching(rule)` takes a function of a whole batch."""

DRAWN = """func.func @main(%a: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %n = stablehlo.constant dense<3> : tensor<1xi64>
  %0 = "stablehlo.rng"(%a, %a, %n) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  %1 = "stablehlo.rng"(%a, %a, %n) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}"""

LOOPS = """func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) -> (tensor<3xf32>, tensor<f32>) {
  %0 = stablehlo.while(%c = %x) : tensor<3xf32>
    cond {
      %l = stablehlo.slice %c [0:1] : (tensor<3xf32>) -> tensor<1xf32>
      %s = stablehlo.reshape %l : (tensor<1xf32>) -> tensor<f32>
      %k = stablehlo.constant dense<100.0> : tensor<f32>
      %p = stablehlo.compare LT, %s, %k : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %d = stablehlo.add %c, %c : tensor<3xf32>
      stablehlo.return %d : tensor<3xf32>
    }
  %1 = stablehlo.multiply %y, %y : tensor<f32>
  return %0, %1 : tensor<3xf32>, tensor<f32>
}"""
LOOPS_MESSAGE = """\
`@main` has no gradient: how often a loop runs is known at run time only, and a gradient needs what each round made
  text:2:8
    %0 = stablehlo.while(%c = %x) : tensor<3xf32>
         ^^^^^^^^^^^^^^^
  Forward mode works: `jax.jvp`, `jax.jacfwd`. Or give it a gradient of its own: `fn.with_vjp(rule)`."""


def gradient(text, result=0):
    return jax.grad(lambda x, *others: km.hlo_call(text, x, *others)[result].sum())


@pytest.mark.parametrize("around", [lambda f: f, jax.jit, jax.checkpoint])
def test_unknown_custom_calls_are_listed_with_their_lines(around):
    function = around(lambda x: km.hlo_call(UNKNOWN, x)[0].sum())
    for transform in (jax.grad(function), lambda x: jax.jvp(function, (x,), (x,))):
        with pytest.raises(PreflightError) as error:
            transform(X)
        assert str(error.value) == UNKNOWN_MESSAGE


def test_what_does_not_vary_may_be_unknown():
    def loss(y, x):
        return (km.hlo_call(UNKNOWN, x)[0] * y).sum()

    jaxpr = jax.make_jaxpr(jax.grad(loss))(X, X)
    assert "hlo_call" in str(jaxpr)


def test_what_has_no_form_is_listed_with_what_would_help():
    reason = (
        "it draws numbers that each platform chooses anew at every run, so no other form of it "
        "gives the same; `rng_bit_generator` takes a state"
    )
    for what, advice, transform in (
        (
            "differentiated",
            UNKNOWN_MESSAGE.rsplit("\n", maxsplit=1)[-1],
            lambda: gradient(DRAWN)(1.0),
        ),
        (
            "batched",
            BATCHING_ADVICE,
            lambda: jax.vmap(lambda x: km.hlo_call(DRAWN, x))(X),
        ),
    ):
        with pytest.raises(PreflightError) as error:
            transform()
        lines = str(error.value).split("\n")
        assert lines[0] == f"`@main` cannot be {what}: `stablehlo.rng`: {reason} (and 1 more)"
        assert [line for line in lines if "text:" in line] == ["  text:3:8", "  text:4:8"]
        assert lines[-1] == advice


def test_what_has_no_form_can_be_batched_in_a_loop():
    function = km.Session().load(DRAWN).with_batching("sequential")
    assert [rows.shape for rows in jax.vmap(function)(X)] == [(3, 3), (3, 3)]


@pytest.mark.parametrize(
    "around",
    [
        lambda f: f,
        jax.jit,
        lambda f: lambda x, y: jax.vmap(f, (0, None))(x[None], y),
    ],
)
def test_a_loop_of_unknown_length_has_no_gradient_and_is_shown(around):
    with pytest.raises(PreflightError) as error:
        around(gradient(LOOPS))(X, np.float32(2))
    assert str(error.value) == LOOPS_MESSAGE


def test_such_a_loop_has_everything_else():
    y = np.float32(2)
    results, tangents = jax.jvp(lambda x: km.hlo_call(LOOPS, x, y), (X,), (X,))
    assert_close(tangents[0], results[0])
    assert_close(jax.jacfwd(lambda x: km.hlo_call(LOOPS, x, y)[0])(X), 128 * np.eye(3, dtype="f"))
    # Backwards through what the loop does not touch.
    assert gradient(LOOPS, 1)(X, y).tolist() == [0, 0, 0]
    other = jax.grad(lambda y: km.hlo_call(LOOPS, X, y)[1] * km.hlo_call(LOOPS, X, y)[0][0])(y)
    assert_close(other, np.float32(128 * 4))
    rows = jax.vmap(lambda x: km.hlo_call(LOOPS, x, y))(np.stack([X, 2 * X]))[0]
    assert rows.tolist() == [[128] * 3, [128] * 3]


def test_a_loop_that_counts_has_a_gradient():
    text = jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, x)).lower(X).as_text()
    assert "stablehlo.while" in text
    assert gradient(text)(2 * X).tolist() == [32.0] * 3


def test_programs_that_are_not_text_name_what_blocks(tmp_path):
    exported = jax.export.export(
        jax.jit(lambda x: lax.while_loop(lambda c: c[0] < 100, lambda c: c * 2, x))
    )(X)
    path = tmp_path / "program.mlir"
    path.write_bytes(exported.mlir_module_serialized)
    with pytest.raises(PreflightError) as error:
        jax.grad(lambda x: km.hlo_call(path, x)[0].sum())(X)
    assert str(error.value) == "\n".join(
        line for line in LOOPS_MESSAGE.split("\n") if line.startswith(("`", "  Forward"))
    )
