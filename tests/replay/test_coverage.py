"""Which ops of the dialects have a rule, and why the others have none."""

import jax
import pytest

from kernel_magics.call.replay.rules import RULES, find_rule
from tests.replay.make_ops_table import COLLECTIVES, SAMPLES, TABLE, WITHOUT, all_names, make_table

OLD_JAX = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)


@pytest.mark.parametrize("name", all_names())
def test_every_op_has_a_rule_and_a_sample_or_a_reason(name):
    if name in WITHOUT:
        assert find_rule(name) is None or name == "stablehlo.rng"
        assert name not in SAMPLES
    else:
        assert find_rule(name)
        assert (name in SAMPLES) != (name in COLLECTIVES)


def test_no_rule_is_there_twice():
    assert find_rule("stablehlo.add") is find_rule("mhlo.add") is RULES["add"]
    assert find_rule("other.add") is None


@pytest.mark.skipif(not OLD_JAX, reason="it is written with the older JAX")
def test_the_table_of_ops_is_current():
    assert TABLE.read_text() == make_table()
