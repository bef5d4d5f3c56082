"""Python functions called from compiled programs, on every plugin: `callback`, `debug_print`.

One target serves them all: each call carries the number of its function. A number is taken out
again when the last trace and the last compiled program that carries it are gone.
"""

import itertools
import string
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import jax
import numpy as np
from jax.core import ShapedArray

from kernel_magics.call.serving import INTERNAL
from kernel_magics.custom_call.attributes import Attributes
from kernel_magics.custom_call.calling import bind_with_vjp
from kernel_magics.custom_call.primitive import Call
from kernel_magics.custom_call.python_handler import python_handler
from kernel_magics.custom_call.registration import VmapMethod
from kernel_magics.custom_call.registry import CustomCallRegistry, custom_calls
from kernel_magics.errors import UsageError

_TARGET = INTERNAL + "callback"
_EFFECT = INTERNAL + "effect"
"""The same code, for calls that must happen."""


class _Carried:
    """A function that programs carry."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.number = next(_numbers)
        _carried[self.number] = self


_numbers = itertools.count(1)
_carried: WeakValueDictionary[int, _Carried] = WeakValueDictionary()
_by_function: WeakValueDictionary[int, _Carried] = WeakValueDictionary()


def _carry(function: Callable[..., Any]) -> _Carried:
    """The same for the same function, as long as somebody carries it."""
    known = _by_function.get(id(function))
    if known is None or known.function is not function:
        known = _by_function[id(function)] = _Carried(function)
    return known


def _dispatch(*args: np.ndarray, number: np.int64) -> Any:
    carried = _carried.get(int(number))
    if carried is None:
        raise LookupError("the function of this callback is gone: it was of another process")
    return carried.function(*args)


_handler = python_handler(_dispatch, name="km.callback")


def callback(
    function: Callable[..., Any],
    result_shapes: Any,
    *args: Any,
    vmap_method: VmapMethod | None = None,
    has_side_effect: bool = False,
    registry: CustomCallRegistry | None = None,
) -> Any:
    """Calls a Python function from within a compiled program, on every plugin.

    As `jax.pure_callback`, which works on jaxlib's own clients alone.

    Args:
        function: Takes an array of NumPy for each array of `args`, in trees as they are there;
            gives arrays as `result_shapes` says. JAX must not be called from within.
        result_shapes: A `jax.ShapeDtypeStruct`, or a tree of them; `()` for nothing.
        *args: Arrays, or trees of them.
        vmap_method: How a batch of calls becomes one: as in `jax.ffi.ffi_call`.
        has_side_effect: Whether it must be called even if nobody uses its results.
        registry: Who knows the handlers; `km.custom_calls` by default.

    Returns:
        Arrays as `result_shapes` says.

    Raises:
        SignatureError: When it runs, as XLA's error with the traceback: the results are others.
    """
    leaves, tree = jax.tree.flatten(args)
    wanted, out_tree = jax.tree.flatten(result_shapes)
    results = tuple(
        ShapedArray(tuple(r.shape), jax.dtypes.canonicalize_dtype(r.dtype)) for r in wanted
    )
    is_plain = tree == jax.tree.structure((0,) * len(leaves))
    flat = function if is_plain else _with_trees(function, tree)
    serving = (registry or custom_calls).serving
    needs_call = has_side_effect or not results
    target = _EFFECT if needs_call else _TARGET
    serving.install(target, _handler, has_side_effect=needs_call)
    carried = _carry(flat)
    call = Call(
        serving,
        target,
        Attributes({"number": np.int64(carried.number)}),
        results,
        vmap_method=vmap_method or ("sequential" if needs_call else None),
        has_side_effect=needs_call,
        keep=carried,
    )
    found = bind_with_vjp(call, None, [jax.numpy.asarray(leaf) for leaf in leaves], None)
    return jax.tree.unflatten(out_tree, found)


def debug_print(
    text: str, *args: Any, registry: CustomCallRegistry | None = None, **named: Any
) -> None:
    """Prints values from within a compiled program, on every plugin.

    As `jax.debug.print`, which works on jaxlib's own clients alone. The order of several is not
    promised; `jax.effects_barrier()` waits for them.

    Args:
        text: A format as `str.format` takes it.
        *args: Arrays for its `{}`.
        registry: Who knows the handlers; `km.custom_calls` by default.
        **named: Arrays for its `{name}`.

    Raises:
        UsageError: The format does not fit the values.
    """
    _check_format(text, args, named)
    names = tuple(named)
    callback(_printer(text, len(args), names), (), *args, *named.values(), registry=registry)


class _Printer:
    """Prints by a format."""

    def __init__(self, text: str, count: int, names: tuple[str, ...]) -> None:
        self._text, self._count, self._names = text, count, names

    def __call__(self, *values: np.ndarray) -> None:
        # Formats such as `{:.3f}` are for numbers, not for arrays without dimensions.
        plain = [value[()] for value in values]
        named = dict(zip(self._names, plain[self._count :], strict=True))
        print(self._text.format(*plain[: self._count], **named))  # noqa: T201 - what it is for


# Equal ones are one, so that a program with it is compiled once.
_printer = lru_cache(maxsize=1024)(_Printer)


def _check_format(text: str, args: Sequence[Any], named: dict[str, Any]) -> None:
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]
        heads = [field.split(".", 1)[0].split("[", 1)[0] for field in fields]
        places = [int(head) for head in heads if head.isdigit()]
        needed = max([heads.count(""), *(place + 1 for place in places)])
        missing = [h for h in heads if h and not h.isdigit() and h not in named]
        problem = f"it has no value for `{{{missing[0]}}}`" if missing else ""
        if needed != len(args) and not problem:
            problem = f"it takes {needed} values, and {len(args)} are given"
    except ValueError as error:
        problem = str(error)
    if problem:
        raise UsageError(
            f"The format {text!r} cannot be printed: {problem}",
            advice="Give a value for each `{}`, and braces that are meant as such twice.",
        )


def _with_trees(function: Callable[..., Any], tree: Any) -> Callable[..., Any]:
    key = (id(function), tree)
    known = _trees.get(key)
    if known is None or known.function is not function:
        known = _trees[key] = _Treed(function, tree)
    return known


class _Treed:
    """A function of trees as one of their leaves."""

    def __init__(self, function: Callable[..., Any], tree: Any) -> None:
        self.function = function
        self._tree = tree

    def __call__(self, *leaves: np.ndarray) -> list[Any]:
        return jax.tree.leaves(self.function(*jax.tree.unflatten(self._tree, leaves)))


_trees: WeakValueDictionary[Any, _Treed] = WeakValueDictionary()
