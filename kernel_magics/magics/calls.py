"""`%hlo calls`: the targets of custom calls, what packages offer, what builds take."""

from collections.abc import Iterator
from typing import Any

from kernel_magics.custom_call.cache import kernel_cache
from kernel_magics.custom_call.registry import CustomCallRegistry, custom_calls
from kernel_magics.magics.display import TextView

_MIB = 1 << 20


def show_calls(_: Any) -> TextView:
    """The targets that are registered, and what else there is."""
    return TextView("\n".join(_lines(custom_calls)))


def _lines(registry: CustomCallRegistry) -> Iterator[str]:
    yield repr(registry.table())
    known = registry.serving.now.registrations
    for offer in registry.offers:
        if offer.target not in known:
            yield f"{offer.target}: offered by the package {offer.package} {offer.version}"
    for name, library in registry.libraries.named.items():
        yield f"library {name}: {library.path}"
    cache = kernel_cache()
    size, limit = cache.size_bytes() / _MIB, cache.limit_bytes / _MIB
    yield f"builds: {size:,.0f} of {limit:,.0f} MiB in {cache.folder}"
