"""MLIR in, one linked module out. Knows no tracing, no IPython, no widget."""
