"""Custom calls, as `jax.ffi` makes them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernel_magics.call.python.body import Body
from kernel_magics.call.python.layout import Code, call, group, keyword
from kernel_magics.call.python.literals import dtype_code
from kernel_magics.call.python.operand import Unwritten, written

_TYPED = 4
"""The calling convention where none is said."""

_LAPACK = """
# JAX registers the functions of LAPACK when it first lowers one of its own that needs them.
jax.jit(lax.linalg.cholesky).lower(np.eye(1, dtype=np.float32))
"""


def _custom_call(body: Body, equation: Any) -> None:
    params = equation.params
    target = params["target_name"]
    if target.startswith("lapack_"):
        body.module.prepare(_LAPACK)
    kinds = [
        call("jax.ShapeDtypeStruct", written(tuple(a.shape), "a shape"), dtype_code(a.dtype))
        for a in params["result_avals"]
    ]
    body.flush()
    name = body.names.number("foreign")
    function = call("jax.ffi.ffi_call", Code(f'"{target}"'), group(kinds, "[]"), **_options(params))
    body.statement(function, f"{name} = ")
    codes = [body.operand(v).code for v in equation.invars]
    body.give(equation, call(name, *codes, *_attributes(params)), is_sequence=True)


def _options(params: Any) -> dict[str, Code]:
    found = {"vmap_method": written(params["vmap_method"], "its `vmap_method`")}
    if params["has_side_effect"]:
        found["has_side_effect"] = Code("True")
    for name in ("input_layouts", "output_layouts"):
        if params.get(name) is not None:
            found[name] = _layouts(params[name])
    aliases = dict(params.get("input_output_aliases") or ())
    if aliases:
        found["input_output_aliases"] = Code(repr(aliases))
    version = params.get("custom_call_api_version", _TYPED)
    if version != _TYPED:
        found["custom_call_api_version"] = Code(str(version))
        found["legacy_backend_config"] = written(params["legacy_backend_config"], "its config")
    return found


def _layouts(layouts: Any) -> Code:
    # The parameters count from the dimension that changes fastest, the arguments from the slowest.
    found = [each if each is None else tuple(int(n) for n in reversed(each)) for each in layouts]
    return group([written(each, "a layout") for each in found], "[]")


def _attributes(params: Any) -> list[Code]:
    attributes: Any = params["attributes"]
    pairs = attributes.items() if isinstance(attributes, dict) else attributes
    return [keyword(name, _attribute(name, value)) for name, value in pairs]


def _attribute(name: str, value: Any) -> Code:
    plain = getattr(value, "val", value)
    if isinstance(plain, np.ndarray | np.generic | str | bool | int | float):
        return written(plain, f"its attribute `{name}`")
    raise Unwritten(f"its attribute `{name}` is {value!r}, which has no form as source")


FOREIGN: dict[str, Callable[[Body, Any], None]] = {"ffi_call": _custom_call}
"""Primitives to what writes them."""
