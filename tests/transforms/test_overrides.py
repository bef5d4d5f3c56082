"""Derivatives and batches that the user gives: by MLIR, by JAX, by a method's name."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.errors import SignatureError, UsageError
from tests.transforms.programs import assert_close

F = """func.func @f(%x: tensor<3xf32>, %n: tensor<i32>) -> (tensor<3xf32>, tensor<i32>) {
  %0 = stablehlo.sine %x : tensor<3xf32>
  return %0, %n : tensor<3xf32>, tensor<i32>
}"""
# Twice the true derivative, so that it is seen to be used.
RULE = """func.func @rule(%x: tensor<3xf32>, %n: tensor<i32>, %t: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.cosine %x : tensor<3xf32>
  %1 = stablehlo.multiply %0, %t : tensor<3xf32>
  %2 = stablehlo.add %1, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}"""
ROWS = """func.func @rows(%x: tensor<?x3xf32>, %n: tensor<?xi32>) -> (tensor<?x3xf32>, tensor<?xi32>) {
  %0 = stablehlo.sine %x : tensor<?x3xf32>
  %1 = stablehlo.add %0, %0 : tensor<?x3xf32>
  return %1, %n : tensor<?x3xf32>, tensor<?xi32>
}"""
UNKNOWN = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @nobody.knows(%x) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
X = np.arange(3, dtype=np.float32)
N = np.int32(1)


def in_jax(x, _, t):
    return 2 * jnp.cos(x) * t


@pytest.fixture
def f():
    return km.Session().load(F)


@pytest.fixture(params=["mlir", "jax"])
def rule(request):
    return km.Session().load(RULE) if request.param == "mlir" else in_jax


@pytest.mark.parametrize("method", ["with_vjp", "with_jvp"])
def test_a_rule_is_the_gradient_everywhere(f, rule, method):
    function = getattr(f, method)(rule)
    assert_close(function(X, N), f(X, N))
    expected = 2 * jnp.cos(X)
    gradient = jax.grad(lambda x: function(x, N)[0].sum())
    for found in (
        gradient(X),
        jax.jit(gradient)(X),
        jax.vmap(gradient)(X[None])[0],
        jax.grad(lambda x: jax.vmap(function, (0, None))(x, N)[0].sum())(X[None])[0],
        jax.grad(jax.checkpoint(lambda x: function(x, N)[0].sum()))(X),
    ):
        assert_close(found, expected)
    # Of the rule itself JAX finds the derivative.
    second = jax.jacrev(gradient)(X)
    assert_close(jnp.diag(second), -2 * jnp.sin(X))


def test_a_rule_for_tangents_works_forwards(f, rule):
    function = f.with_jvp(rule)
    results, tangents = jax.jvp(lambda x: function(x, N), (X,), (X,))
    assert_close(results, f(X, N))
    assert_close(tangents[0], 2 * jnp.cos(X) * X)
    assert tangents[1].dtype == jax.dtypes.float0


def test_a_gradient_alone_has_no_forward_mode(f, rule):
    function = f.with_vjp(rule)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda x: function(x, N)[0], (X,), (X,))


def test_the_function_itself_stays_as_it_is(f, rule):
    f.with_vjp(rule), f.with_jvp(rule), f.with_batching("sequential")
    assert_close(jax.grad(lambda x: f(x, N)[0].sum())(X), jnp.cos(X))


def test_the_rule_given_last_holds(f, rule):
    function = f.with_vjp(lambda x, n, t: t).with_jvp(rule)
    assert_close(jax.grad(lambda x: function(x, N)[0].sum())(X), 2 * jnp.cos(X))
    function = f.with_jvp(rule).with_vjp(lambda x, n, t: t)
    assert_close(jax.grad(lambda x: function(x, N)[0].sum())(X), np.ones(3, np.float32))


def test_a_rule_makes_an_unknown_custom_call_differentiable():
    function = km.Session().load(UNKNOWN).with_vjp(lambda _, t: 5 * t)
    # Nobody serves the call, and a gradient does not need its result.
    found = jax.jit(jax.grad(lambda x: function(x)[0].sum()))(X)
    assert found.tolist() == [5, 5, 5]


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled"])
def test_a_method_calls_the_original_for_each_row(f, method):
    function = f.with_batching(method)
    rows = np.stack([X, 2 * X])
    for axes in ((0, None), (0, 0)):
        n = N if axes[1] is None else np.int32([1, 2])
        found, expected = (jax.vmap(g, axes)(rows, n) for g in (function, f))
        assert_close(found, expected)
    jaxpr = str(jax.make_jaxpr(jax.vmap(lambda x: function(x, N)))(rows))
    assert "hlo_call" in jaxpr
    assert "scan" in jaxpr
    nested = jax.vmap(jax.vmap(lambda x: function(x, N)[0]))(rows[None])
    assert_close(nested[0], jnp.sin(rows))
    # A method is for calls; their derivatives are JAX's own.
    batch = jax.grad(lambda x: jax.vmap(lambda x: function(x, N)[0])(x).sum())
    assert_close(batch(rows), jnp.cos(rows))


@pytest.mark.parametrize("kind", ["mlir", "jax"])
def test_a_function_of_all_rows(f, kind):
    rows = np.stack([X, 2 * X])
    rule = km.Session().load(ROWS) if kind == "mlir" else (lambda x, n: (2 * jnp.sin(x), n))
    function = f.with_batching(rule)
    found = jax.jit(jax.vmap(function, (0, None)))(rows, N)
    assert_close(found, (2 * jnp.sin(rows), np.int32([1, 1])))
    assert_close(jax.vmap(function, (1, None))(rows.T, N), found)
    assert_close(function(X, N), f(X, N))


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("broadcast_all", [(2, 3), (2, 3)]),
        ("expand_dims", [(2, 3), (1, 3)]),
        ("legacy_vectorized", [(2, 3), (3,)]),
    ],
)
def test_a_method_of_jax_ffi_is_that_of_the_custom_calls_inside(method, shapes):
    text = """func.func private @inner(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.custom_call @nobody.knows(%x, %y) {api_version = 4 : i32} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }
    func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
      %0 = call @inner(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %1 = stablehlo.sine %0 : tensor<3xf32>
      return %1 : tensor<3xf32>
    }"""
    function = km.Session().load(text)
    rows = np.stack([X, 2 * X])

    def batched(f):
        return jax.make_jaxpr(jax.vmap(f, (0, None)))(rows, X)

    assert "scan" in str(batched(function))
    jaxpr = batched(function.with_batching(method))
    assert "scan" not in str(jaxpr)
    (call,) = calls_in(jaxpr.jaxpr)
    assert [atom.aval.shape for atom in call.invars] == shapes
    assert call.outvars[0].aval.shape == (2, 3)


def calls_in(jaxpr):
    for equation in jaxpr.eqns:
        if equation.primitive.name == "ffi_call":
            yield equation
        for inner in jax.extend.core.jaxprs_in_params(equation.params):
            yield from calls_in(getattr(inner, "jaxpr", inner))


def test_rules_together(f, rule):
    function = f.with_vjp(rule).with_batching("sequential")
    rows = np.stack([X, 2 * X])
    assert "hlo_call" in str(jax.make_jaxpr(jax.vmap(lambda x: function(x, N)))(rows))
    found = jax.grad(lambda x: jax.vmap(function, (0, None))(x, N)[0].sum())(rows)
    assert_close(found, 2 * jnp.cos(rows))


def test_what_is_no_rule_is_refused(f):
    with pytest.raises(UsageError) as error:
        f.with_vjp(RULE)
    assert str(error.value) == (
        "A `str` is no rule for `with_vjp`\n"
        "  wanted: an MLIR function such as `km.load` gives, or a JAX function\n"
        "  Load a text with `km.load` first."
    )
    with pytest.raises(UsageError) as error:
        f.with_batching("vectorized")
    assert str(error.value) == (
        "'vectorized' is no way to batch a function of MLIR\n"
        "  wanted: 'sequential', 'sequential_unrolled', 'broadcast_all', 'expand_dims', "
        "'legacy_vectorized', or a function\n"
        "  Give a method of `jax.ffi`, or a function that takes a whole batch."
    )


@pytest.mark.parametrize(("method", "word"), [("with_vjp", "cotangents"), ("with_jvp", "tangents")])
def test_an_mlir_rule_of_another_type_is_refused_at_once(f, method, word):
    with pytest.raises(SignatureError) as error:
        getattr(f, method)(f)
    assert str(error.value) == (
        f"`@f` is no rule for `{method}` of `@f`\n"
        "  wanted: (f32[3], i32[], f32[3]) -> (f32[3])\n"
        "  given: (f32[3], i32[]) -> (f32[3], i32[])\n"
        f"  It takes the arguments, then {word}, and gives {word}; integers and booleans have "
        "none."
    )


def test_a_jax_rule_that_gives_something_else_is_refused(f):
    with pytest.raises(SignatureError) as error:
        jax.grad(lambda x: f.with_vjp(lambda x, n, t: (x, t))(x, N)[0].sum())(X)
    assert str(error.value) == (
        "The rule that `with_vjp` took for `@f` gives something else\n"
        "  wanted: a cotangent for each argument of float type: f32[3]\n"
        "  given: f32[3], f32[3]\n"
        "  Let the rule give these, in this order."
    )
    with pytest.raises(SignatureError) as error:
        jax.jvp(lambda x: f.with_jvp(lambda x, n, t: t[:2])(x, N)[0], (X,), (X,))
    assert str(error.value) == (
        "The rule that `with_jvp` took for `@f` gives something else\n"
        "  wanted: a tangent for each result of float type: f32[3]\n"
        "  given: f32[2]\n"
        "  Let the rule give these, in this order."
    )
    with pytest.raises(SignatureError) as error:
        jax.vmap(f.with_batching(lambda x, n: x[0]), (0, None))(X[None], N)
    assert str(error.value) == (
        "The rule that `with_batching` took for `@f` gives something else\n"
        "  wanted: each result with a leading dimension for the rows: f32[1,3], i32[1]\n"
        "  given: f32[3]\n"
        "  Let the rule give these, in this order."
    )
