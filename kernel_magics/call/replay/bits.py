"""Numbers whose bits are taken apart and put together: JAX would say they do not change.

A function that a library writes with the bits of floats, such as a logarithm by its exponent,
has a derivative, and JAX takes that of a cast of bits for zero. Such a cast is refused where it
is differentiated, unless all that comes of it are truth values.
"""

from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.mlir import ir

from kernel_magics.call.replay.bodies import bare_name
from kernel_magics.call.replay.operation import Op, Run
from kernel_magics.errors import PreflightError


def bits_of_floats(op: Op) -> Run:
    """The bits of floats as integers, without a derivative where one would be wrong."""
    wanted: np.dtype = op.results[0].known

    def bits_of(x: Any) -> jax.Array:
        return lax.bitcast_convert_type(x, wanted)

    if not _comes_back(op.operation):
        return bits_of
    bits = jax.custom_jvp(bits_of)

    name, excerpt = op.name, op.callees.excerpt(op.operation)

    def refuse(_: Any, __: Any) -> Any:
        raise PreflightError(
            f"The derivative of `{name}` is not known: it takes the bits of floats for integers, "
            "of which floats are made again",
            where=[excerpt] if excerpt else [],
            advice="Give the function a derivative of its own, or export it with one.",
        )

    bits.defjvp(refuse)
    return bits


def _comes_back(cast: ir.Operation) -> bool:
    """Whether floats are made of the integers that a cast gives; true where that is not seen."""
    pending: list[Any] = list(cast.results)
    seen: set[Any] = set()
    while pending:
        value = pending.pop()
        for use in value.uses:
            user: ir.Operation = use.owner.operation
            name = bare_name(user)
            if name.endswith((".call", "return", "custom_call")) or len(user.regions):
                return True
            for result in user.results:
                element = str(getattr(result.type, "element_type", ""))
                if "f" in element:
                    return True
                if element != "i1" and result not in seen:
                    seen.add(result)
                    pending.append(result)
    return False
