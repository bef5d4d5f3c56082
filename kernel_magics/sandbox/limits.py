"""A limit on the memory that this process may take from here on."""

import contextlib
from collections.abc import Generator
from pathlib import Path


@contextlib.contextmanager
def memory_limit(more_bytes: int | None) -> Generator[None]:
    """Lets this process take so much address space more, while in the `with` block.

    Where the system cannot tell or limit it, nothing is limited.
    """
    limit = _address_space_limit(more_bytes)
    if limit is None:
        yield
        return
    import resource  # noqa: PLC0415 - not on every platform

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    ceilings = [value for value in (soft, hard, limit) if value != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(ceilings), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space_limit(more_bytes: int | None) -> int | None:
    if more_bytes is None:
        return None
    try:
        import resource  # noqa: PLC0415 - not on every platform

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return pages * resource.getpagesize() + more_bytes
    except (ImportError, OSError):
        return None
