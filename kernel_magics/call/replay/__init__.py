"""StableHLO, CHLO and MHLO programs op by op as `jax.lax`, one file for each family of ops."""
