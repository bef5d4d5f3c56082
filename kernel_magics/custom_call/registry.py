"""The registry of this kernel: which code serves which target, on which plugin."""

from collections.abc import Callable, Iterable
from typing import Any

from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.registration import Contract, Registration, Supports, VmapMethod


class CustomCallRegistry:
    """Targets and who serves them. Reads take no lock: each target's registration is one value."""

    def __init__(self) -> None:
        self._registrations: dict[str, Registration] = {}

    def register(  # noqa: PLR0913 - each says one thing that a target may have
        self,
        target: str,
        *,
        library: Any = None,
        symbol: str | None = None,
        handler: Handler | Callable[..., Any] | Any = None,
        plugins: str | Iterable[str] | None = None,
        platform: str = "cpu",
        contract: Contract | None = None,
        fallback: Callable[..., Any] | None = None,
        supports: Supports | None = None,
        vmap_method: VmapMethod | None = None,
        vjp: Callable[..., Any] | None = None,
        has_side_effect: bool = False,
        trial: bool = True,
    ) -> Registration:
        """Says who serves a target, from now on, in functions compiled before, too.

        Args:
            target: The custom call's name in the IR.
            library: A path, a name given to `register_library`, or a `Library`.
            symbol: The handler in it; `target` where left out.
            handler: Instead of a library: a Python function, a numba `cfunc`, a capsule as
                `jax.ffi.pycapsule` makes it, or a `Handler`.
            plugins: Where it serves; everywhere by default.
            platform: Whose memory it reads: `cpu`, `cuda`, `rocm`.
            contract: What it takes and gives.
            fallback: What stands in for it where it does not serve: a JAX function or an
                `HloFunction`.
            supports: May say no to a plugin, avals and attributes; the fallback is used then.
            vmap_method: How a batch of calls becomes one: as in `jax.ffi.ffi_call`.
            vjp: The derivative: `vjp(arguments, results, cotangents, **attributes)`. Without
                it the derivative is that of the fallback.
            has_side_effect: Whether a call must happen even if nobody uses its results.
            trial: Whether it runs in a child process first.
        """
        raise NotImplementedError


custom_calls = CustomCallRegistry()
"""The registry of this kernel."""
