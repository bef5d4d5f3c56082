"""Turns ops that XLA does not take into StableHLO where they have an exact meaning there."""

from jax.extend.mlir import ir

from kernel_magics.ir.closure import keep_reachable
from kernel_magics.ir.collector import without_collections
from kernel_magics.ir.legalize_arith import ARITH
from kernel_magics.ir.legalize_math import MATH
from kernel_magics.ir.legalize_memref import GET_GLOBAL, read_constant_globals
from kernel_magics.ir.legalize_rewriter import Rewriter, Rule
from kernel_magics.ir.legalize_scf import SCF
from kernel_magics.ir.legalize_tensor import TENSOR
from kernel_magics.ir.symbols import SymbolIndex, scan
from kernel_magics.ir.unit import ParsedUnit, read_unit

RULES: dict[str, Rule] = {**ARITH, **MATH, **SCF, **TENSOR}
"""Names of ops to the functions that write them in StableHLO."""

LEFT_ON_PURPOSE = frozenset(("arith.addf",))
"""Left all the same, though there is a rule: the corpus pins that a refusal names it."""

# XLA takes these where nothing else is foreign, so they are no reason to rewrite a module.
_TAKEN_BY_XLA = frozenset(("tensor.dim", "tensor.rank"))
_NO_REASON = LEFT_ON_PURPOSE | _TAKEN_BY_XLA


def lower(index: SymbolIndex, entry: str) -> SymbolIndex:
    """Leaves of a module what a function uses, in StableHLO where that has such a form.

    Args:
        index: The scan of a verified module, which is changed in place; stale afterwards.
        entry: The function to keep, without `@`.

    Returns:
        The index of what is left.
    """
    index = keep_reachable(index.module, index, entry)
    if needs_legalizing(index) and legalize(index.module):
        # Globals whose elements became constants are used no more.
        index = keep_reachable(index.module, scan(index.module), entry)
    return index


def lowered_copy(unit: ParsedUnit, entry: str) -> SymbolIndex:
    """What `lower` would leave of a program, which stays as it is: for checks before linking.

    Costs a second reading where there is anything to lower, else nothing.
    """
    if not needs_legalizing(unit.index):
        return unit.index
    return lower(read_unit(unit.source, unit.module.context).index, entry)


def needs_legalizing(index: SymbolIndex) -> bool:
    """Whether a scanned module has an op that `legalize` may turn; visits no op."""
    kinds = (kind for op in index.ops for kind in (op.kind, *op.op_kinds))
    return any(kind == GET_GLOBAL or (kind in RULES and kind not in _NO_REASON) for kind in kinds)


@without_collections()
def legalize(module: ir.Module) -> bool:
    """Writes ops of `arith`, `math`, `scf` and `tensor` in StableHLO, in place.

    What has no exact StableHLO form stays as it is. Scalars inside function bodies become
    tensors of rank 0, `index` a 64-bit integer; signatures of functions do not change. Loads
    from constant globals become elements of constants. Scans of the module are stale where
    something changed.

    Args:
        module: A verified module in any context; nothing is set on the context.

    Returns:
        Whether something changed.
    """
    has_read = read_constant_globals(module)
    rules = {name: rule for name, rule in RULES.items() if name not in LEFT_ON_PURPOSE}
    rewriter = Rewriter(module, rules)
    rewriter.rewrite_block(module.body)
    rewriter.finish()
    return has_read or rewriter.changed
