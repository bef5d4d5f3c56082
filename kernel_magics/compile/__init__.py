"""Compiles, while the user may interrupt, and tells what they cost."""
