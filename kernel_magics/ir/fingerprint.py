"""A module's digest: what it says, not how it is spelled."""

import hashlib

from jax.extend.mlir import ir


def digest(module: ir.Module) -> str:
    """The SHA-256 of a module in MLIR's canonical print, 64 hexadecimal digits.

    White space, comments, SSA names and locations do not count; symbol names, the order of
    functions and every attribute do. The same in every process for one version of jaxlib.
    """
    text = module.operation.get_asm(enable_debug_info=False, assume_verified=True)
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
