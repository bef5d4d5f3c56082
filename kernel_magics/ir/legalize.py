"""Turns ops that XLA does not take into StableHLO where they have an exact meaning there."""

from jax.extend.mlir import ir

from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.legalize_arith import ARITH
from kernel_magics.ir.legalize_math import MATH
from kernel_magics.ir.legalize_rewriter import Rewriter, Rule
from kernel_magics.ir.legalize_scf import SCF
from kernel_magics.ir.legalize_tensor import TENSOR
from kernel_magics.ir.symbols import SymbolIndex

RULES: dict[str, Rule] = {**ARITH, **MATH, **SCF, **TENSOR}
"""Names of ops to the functions that write them in StableHLO."""

LEFT_ON_PURPOSE = frozenset(("arith.addf",))
"""Ops with a rule that are left all the same: their refusal is documented behaviour."""

# XLA takes these where nothing else is foreign, so they are no reason to rewrite a module.
_TAKEN_BY_XLA = frozenset(("tensor.dim", "tensor.rank"))


def needs_legalizing(index: SymbolIndex) -> bool:
    """Whether a scanned module has an op that `legalize` may turn; visits no op."""
    return any(
        count and kind in RULES and kind not in LEFT_ON_PURPOSE and kind not in _TAKEN_BY_XLA
        for op in index.ops
        for kind, count in op.op_kinds.items()
    )


@without_collections()
def legalize(module: ir.Module) -> bool:
    """Writes ops of `arith`, `math`, `scf` and `tensor` in StableHLO, in place.

    What has no exact StableHLO form stays as it is. Scalars inside function bodies become
    tensors of rank 0, `index` a 64-bit integer; signatures of functions do not change. Scans
    of the module are stale where something changed.

    Args:
        module: A verified module in any context; nothing is set on the context.

    Returns:
        Whether something changed.
    """
    rules = {name: rule for name, rule in RULES.items() if name not in LEFT_ON_PURPOSE}
    rewriter = Rewriter(module, rules)
    rewriter.rewrite_block(module.body)
    rewriter.finish()
    return rewriter.changed
