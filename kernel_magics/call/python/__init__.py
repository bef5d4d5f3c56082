"""Programs written out as Python: source of `jax.lax` and `jax.numpy` that runs by itself."""
