"""Models that JAX exports: imported again, they are transformed as the originals are."""

import jax
import numpy as np
import optax
import pytest
from jax import numpy as jnp

import kernel_magics as km
from tests.transforms.models import MODELS
from tests.transforms.programs import assert_close

STEPS = 50


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    """A loss, the same by way of a portable artifact, its parameters and its data."""
    loss, parameters, data = MODELS[request.param]
    exported = jax.export.export(jax.jit(loss))(parameters, data)
    program = km.Session().load(exported.mlir_module_serialized)

    def imported(parameters, data):
        (result,) = program(*jax.tree.leaves(parameters), data)
        return result

    return loss, imported, parameters, data


def test_values_are_those_of_the_original(model):
    loss, imported, parameters, data = model
    assert_close(imported(parameters, data), jax.jit(loss)(parameters, data), rtol=1e-6)


@pytest.mark.parametrize("arguments", [0, 1, (0, 1)])
def test_gradients_are_those_of_the_original(model, arguments):
    loss, imported, parameters, data = model
    found, expected = (
        jax.jit(jax.value_and_grad(f, arguments))(parameters, data) for f in (imported, loss)
    )
    assert_close(found, expected, rtol=1e-5)


def test_batched_gradients_are_those_of_the_original(model):
    loss, imported, parameters, data = model
    rows = np.stack([data, data[::-1], 0.5 * data])
    found, expected = (
        jax.jit(jax.vmap(jax.grad(f), (None, 0)))(parameters, rows) for f in (imported, loss)
    )
    assert_close(found, expected, rtol=1e-5)

    def total(f):
        return lambda p: jax.vmap(f, (None, 0))(p, rows).sum()

    found, expected = (jax.jit(jax.grad(total(f)))(parameters) for f in (imported, loss))
    assert_close(found, expected, rtol=1e-5)


def test_hessian_vector_products_are_those_of_the_original(model):
    loss, imported, parameters, data = model
    direction = jax.tree.map(lambda p: np.cos(3 * p).astype(np.float32), parameters)

    def forward_over_reverse(f):
        return jax.jvp(lambda p: jax.grad(f)(p, data), (parameters,), (direction,))[1]

    def reverse_over_reverse(f):
        def slope(p):
            products = jax.tree.map(jnp.vdot, jax.grad(f)(p, data), direction)
            return sum(jax.tree.leaves(products))

        return jax.grad(slope)(parameters)

    for product in (forward_over_reverse, reverse_over_reverse):
        found, expected = (jax.jit(product, static_argnums=0)(f) for f in (imported, loss))
        assert_close(found, expected, rtol=1e-4)


def test_training_has_the_same_curve(model):
    loss, imported, parameters, data = model
    optimizer = optax.adam(1e-2)

    def curve(f):
        @jax.jit
        def step(parameters, state):
            value, gradient = jax.value_and_grad(f)(parameters, data)
            updates, state = optimizer.update(gradient, state)
            return optax.apply_updates(parameters, updates), state, value

        trained, state, values = parameters, optimizer.init(parameters), []
        for _ in range(STEPS):
            trained, state, value = step(trained, state)
            values.append(float(value))
        return values

    found, expected = curve(imported), curve(loss)
    assert expected[-1] < expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
