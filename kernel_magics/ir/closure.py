"""The part of a module that one function needs: itself and all that it uses."""

from jax.extend.mlir import ir

from kernel_magics.ir.symbols import SymbolIndex, scan


def keep_reachable(module: ir.Module, index: SymbolIndex, entry: str) -> SymbolIndex:
    """Erases every symbol of `module` that `entry` does not use; ops without a symbol stay.

    Args:
        module: Changed in place.
        index: The scan of `module`; stale afterwards where something was erased.
        entry: The function to keep, without `@`.

    Returns:
        The index of what is left.
    """
    kept = index.reachable([entry])
    erased = [op for op in index.ops if op.name is not None and op.name not in kept]
    for op in erased:
        op.operation.erase()
    return scan(module) if erased else index
