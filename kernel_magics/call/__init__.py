"""A linked function as a JAX function."""
