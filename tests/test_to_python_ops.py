"""Each op of StableHLO and CHLO as Python source gives what the replayed op gives."""

import jax
import numpy as np
import pytest

from kernel_magics.call.program import read_program
from kernel_magics.call.python.writer import to_python
from kernel_magics.ir.source import Source
from tests.replay.make_ops_table import SAMPLES
from tests.replay.programs import replayed

# Source of 64 bits turns them on for all: the fixture turns them off again.
pytestmark = pytest.mark.usefixtures("x64")


@pytest.mark.parametrize("name", SAMPLES)
def test_source_gives_the_values_of_the_op(name):
    sample = SAMPLES[name]()
    source = to_python(read_program(Source(sample.text), "main"))
    assert max(map(len, source.splitlines())) <= 100
    namespace: dict = {}
    exec(compile(source, name, "exec"), namespace)  # noqa: S102 - it is ours
    found, expected = namespace["main"](*sample.args), replayed(sample.text)(*sample.args)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)


def test_batches_of_random_states_are_right_in_the_source_too():
    sample = SAMPLES["stablehlo.rng_bit_generator"]()
    source = to_python(read_program(Source(sample.text), "main"))
    namespace: dict = {}
    exec(compile(source, "source", "exec"), namespace)  # noqa: S102 - it is ours
    keys = np.stack([sample.args[0], sample.args[0] + 5])
    rows = [namespace["main"](key) for key in keys]
    for batch, *alone in zip(jax.vmap(namespace["main"])(keys), *rows, strict=True):
        np.testing.assert_array_equal(batch, np.stack(alone))
