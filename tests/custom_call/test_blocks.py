"""Named blocks: composites in the program, calls of a handler where one serves."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import kernel_magics as km
from kernel_magics.custom_call.block import block
from kernel_magics.errors import SignatureError, UsageError
from tests.custom_call.places import device

X = np.arange(1, 5, dtype=np.float32)
_numbers = itertools.count()


@pytest.fixture
def name() -> str:
    return f"test.block{next(_numbers)}"


def norm(x, *, eps=1e-6):
    return x / jnp.sqrt((x * x).mean() + eps)


def sevens(x, **_):
    return np.full_like(x, 7)


def test_a_block_is_a_composite_and_computes_its_fallback(registered, at):
    rms = block("rms_norm", norm, registry=registered)
    x = jax.device_put(X, at(registered))
    function = jax.jit(lambda x: 2 * rms(x, eps=1e-5))
    np.testing.assert_allclose(function(x), 2 * norm(X, eps=1e-5), rtol=1e-6)
    text = function.lower(x).as_text()
    assert 'stablehlo.composite "block.rms_norm"' in text
    assert "composite_attributes = {eps = 1.000000e-05 : f64}" in text
    np.testing.assert_allclose(rms(x), norm(X), rtol=1e-6)
    assert repr(rms) == "<block `rms_norm`>"


def test_a_handler_that_is_registered_later_is_used_from_then_on(calls, name, at):
    x = jax.device_put(X, at(calls))
    function = jax.jit(lambda x: block(name, norm, registry=calls)(x))
    np.testing.assert_allclose(function(x), norm(X), rtol=1e-6)
    calls.register(name, handler=sevens)
    np.testing.assert_array_equal(function(x), np.full(4, 7))
    assert f"stablehlo.custom_call @{name}" in function.lower(x).as_text()
    calls.unregister(name)
    np.testing.assert_allclose(function(x), norm(X), rtol=1e-6)


def test_one_mapping_says_which_target_serves_which_block(registered, name):
    function = jax.jit(lambda x: block(name, norm, registry=registered)(x))
    np.testing.assert_allclose(function(X), norm(X), rtol=1e-6)
    registered.serve({name: "test.sevens"})
    np.testing.assert_allclose(function(X), norm(X), rtol=1e-6)
    registered.register("test.sevens", handler=sevens)
    np.testing.assert_array_equal(function(X), np.full(4, 7))
    assert registered.table()["test.sevens"].blocks == (name,)
    registered.serve({name: name})
    np.testing.assert_allclose(function(X), norm(X), rtol=1e-6)


def test_each_plugin_has_what_serves_it(registered, name):
    cpu, zml = device("cpu", registered), device("zml", registered)
    registered.register(name, handler=sevens, plugins="zml")
    function = jax.jit(block(name, norm, registry=registered))
    np.testing.assert_allclose(function(jax.device_put(X, cpu)), norm(X), rtol=1e-6)
    np.testing.assert_array_equal(function(jax.device_put(X, zml)), np.full(4, 7))


def test_supports_decides_by_types(registered, name):
    registered.register(name, handler=sevens, supports=lambda plugin, avals, _: avals[0].ndim == 1)
    function = block(name, norm, registry=registered)
    np.testing.assert_array_equal(function(X), np.full(4, 7))
    np.testing.assert_allclose(function(X[None]), norm(X)[None], rtol=1e-6)


def test_contracts_type_blocks(registered, name):
    registered.register(name, handler=sevens, contract="(f32[n], eps: f32 = 1e-6) -> f32[n]")
    function = block(name, norm, registry=registered)
    np.testing.assert_array_equal(function(X), np.full(4, 7))
    with pytest.raises(SignatureError, match=f"^Custom call `{name}`: argument 1 is "):
        function(X[None])


def test_trees_go_in_and_come_out(registered, name):
    def both(pair, *, k):
        return {"sum": pair["a"] + k * pair["b"][0], "same": pair["a"]}

    function = block(name, both, registry=registered)
    found = jax.jit(lambda x: function({"a": x, "b": (x,)}, k=2))(X)
    np.testing.assert_array_equal(found["sum"], 3 * X)
    registered.register(name, handler=lambda a, b, *, k: (a, a + k * b))
    found = jax.jit(lambda x: function({"a": x, "b": (x,)}, k=2))(X)
    # Leaves of a tree are in the order of their names.
    np.testing.assert_array_equal(found["same"], X)
    np.testing.assert_array_equal(found["sum"], 3 * X)


def test_derivatives_are_those_of_the_fallback_or_of_a_rule(registered, name):
    function = block(name, norm, registry=registered)
    wanted = jax.grad(lambda x: (norm(x) ** 2).sum() + norm(x)[0])(X)
    gradient = jax.grad(lambda x: (function(x) ** 2).sum() + function(x)[0])
    np.testing.assert_allclose(gradient(X), wanted, rtol=1e-5, atol=1e-5)
    check_grads(function, (X,), order=2, rtol=1e-2, atol=1e-2)
    registered.register(
        name, handler=lambda x, **_: x, vjp=lambda given, results, cotangents, **_: cotangents
    )
    np.testing.assert_array_equal(jax.grad(lambda x: function(x).sum())(X), np.ones(4))


def test_batches_are_those_of_the_fallback_or_of_the_declared_method(registered, name):
    function = block(name, norm, registry=registered)
    batch = np.stack([X, 2 * X + 1])
    wanted = jax.vmap(norm)(batch)
    np.testing.assert_allclose(jax.vmap(function)(batch), wanted, rtol=1e-6)
    shapes = []

    def noted(x, **_):
        shapes.append(x.shape)
        return np.full_like(x, 7)

    registered.register(name, handler=noted, vmap_method="broadcast_all")
    np.testing.assert_array_equal(jax.vmap(function)(batch), np.full((2, 4), 7))
    assert shapes == [(2, 4)]
    registered.unregister(name)
    registered.register(name, fallback=norm, vmap_method="expand_dims")
    np.testing.assert_allclose(jax.vmap(function)(batch), wanted, rtol=1e-6)


COMPOSITE = """func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {{ return %x : tensor<4xf32> }}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.composite "{name}" %x {{composite_attributes = {{k = 1.5 : f32}}, decomposition = @same}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""


def test_composites_of_a_program_are_blocks(registered, name, at):
    x = jax.device_put(X, at(registered))
    function = km.load(COMPOSITE.format(name=name))
    np.testing.assert_array_equal(function(x)[0], X)
    registered.register(name, handler=lambda x, *, k: k * x)
    np.testing.assert_array_equal(function(x)[0], 1.5 * X)
    registered.unregister(name)
    np.testing.assert_array_equal(function(x)[0], X)


def test_blocks_stand_in_the_graph_as_such(registered, name):
    function = jax.jit(lambda x: 2 * block(name, norm, registry=registered)(x))
    graph = km.load(function.lower(X).as_text()).graph()
    names = {node.id: node.author_name for node in graph.nodes}
    (edge,) = [edge for edge in graph.edges if edge.kind == "composite"]
    assert names[edge.caller] == "main"
    assert names[edge.callee].startswith(name)
    registered.register(name, handler=sevens)
    graph = km.load(function.lower(X).as_text()).graph()
    assert [node.author_name for node in graph.nodes if node.kind == "custom_call"] == [name]


def test_an_export_keeps_the_block(registered, name):
    registered.register(name, handler=sevens)
    exported = jax.export.export(jax.jit(block(name, norm, registry=registered)))(jnp.asarray(X))
    assert f'stablehlo.composite "{name}"' in exported.mlir_module()
    np.testing.assert_allclose(exported.call(X), norm(X), rtol=1e-6)


def test_names_and_values_that_cannot_be(registered, name):
    with pytest.raises(UsageError) as caught:
        block("a b", norm)
    assert (
        str(caught.value)
        == """'a b' cannot be the name of a block
  wanted: words of letters, digits and `_`, with dots between
  Choose a name such as `rms_norm` or `mine.rms_norm`."""
    )
    with pytest.raises(SignatureError, match=f"^The attribute `k` of `{name}` cannot be object"):
        block(name, norm, registry=registered)(X, k=object())
    with pytest.raises(
        Exception, match="uses a value that is being traced and is not its argument"
    ):
        jax.jit(lambda x: block(name, lambda y: x + y, registry=registered)(x))(X)
