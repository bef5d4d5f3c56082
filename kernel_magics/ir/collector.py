"""Python's cyclic collector, kept out of work that makes many objects and no cycles."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Generator[None]:
    """Holds the collector off while a module is read, linked or drawn; also a decorator.

    It would go through all objects of the process again and again, JAX's included: 8,000
    functions then took 1.6 times as long as eight times 1,000 do.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
