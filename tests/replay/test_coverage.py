"""Which ops of the dialects have a rule, and why the others have none."""

import pytest
from jax.extend.mlir.dialects import chlo, stablehlo

from kernel_magics.call.replay.rules import RULES, find_rule

WITHOUT = {
    "stablehlo.collective_broadcast": "JAX has no collective of that form",
    "stablehlo.collective_reduce": "JAX has no collective of that form",
    "stablehlo.cross-replica-sum": "joins replicas, of which JAX's programs have one",
    "stablehlo.infeed": "JAX has no infeed",
    "stablehlo.outfeed": "JAX has no outfeed",
    "stablehlo.recv": "JAX has no such transfer",
    "stablehlo.return": "ends a block",
    "stablehlo.send": "JAX has no such transfer",
    "stablehlo.torch_index_select": "XLA does not take it",
    "stablehlo.uniform_dequantize": "jaxlib has no quantised types",
    "stablehlo.uniform_quantize": "jaxlib has no quantised types",
    "chlo._asin_acos_kernel": "internal to the lowering of CHLO",
}


def names(dialect):
    classes = [value for value in vars(dialect).values() if isinstance(value, type)]
    return {c.OPERATION_NAME for c in classes if hasattr(c, "OPERATION_NAME")}


@pytest.mark.parametrize("dialect", [stablehlo, chlo])
def test_every_op_has_a_rule_or_a_reason(dialect):
    prefix = dialect.__name__.rpartition(".")[2]
    missing = {name for name in names(dialect) if find_rule(name) is None}
    known = {name for name in WITHOUT if name.startswith(f"{prefix}.")}
    assert missing <= known
    assert len(names(dialect)) - len(missing) >= (105 if prefix == "stablehlo" else 45)


def test_no_rule_is_there_twice():
    assert find_rule("stablehlo.add") is find_rule("mhlo.add") is RULES["add"]
    assert find_rule("other.add") is None
