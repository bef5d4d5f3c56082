"""Python functions as handlers: arrays of NumPy in, arrays out, without a compiler.

It runs in whichever thread XLA calls from. JAX must not be called from within: its operations might
wait for that very thread, so they are refused.
"""

import ctypes
import math
import traceback
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.custom_call.abi import (
    ARRAY,
    DICTIONARY,
    SCALAR,
    STRING,
    Array,
    Attributes,
    Buffer,
    ByteSpan,
    CallFrame,
    HandlerFunction,
    Scalar,
    answer_metadata,
    create_error,
)
from kernel_magics.custom_call.dtypes import numpy_dtype
from kernel_magics.custom_call.handler import Handler
from kernel_magics.errors import CustomCallError

_NOT_SHOWN = (str(Path(__file__).parents[1]), str(Path(jax.__file__).parent))
"""Where the frames of a traceback lie that say nothing to who wrote a handler."""

ArrayFunction = Callable[..., Any]
"""Takes an array for each argument, and attributes by keyword; gives the results."""


def python_handler(function: ArrayFunction, *, name: str = "") -> Handler:
    """A Python function as the handler of a target.

    Args:
        function: Gives an array, or a sequence of as many as the call has results; None where
            it has none.
        name: For people; the function's own where left out.
    """
    shown = name or getattr(function, "__qualname__", repr(function))

    def entry(address: int) -> int | None:
        return _run(CallFrame.from_address(address), function, shown)

    return _handler(entry, function, shown, "python")


def frame_handler(function: Callable[[Any], None], name: str) -> Handler:
    """A Python function that is given the `CallFrame` itself."""

    def entry(address: int) -> int | None:
        frame = CallFrame.from_address(address)
        if answer_metadata(frame):
            return None
        return _guarded(frame, name, lambda: function(frame))

    return _handler(entry, function, name, "python")


def cfunc_handler(function: Any) -> Handler:
    """A numba `cfunc` that takes the address of a call frame, as the handler of a target.

    Raises:
        CustomCallError: Its signature is another than `uintp(uintp)` or the like.
    """
    code = getattr(function, "ctypes", None)
    wanted = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_size_t, ctypes.c_int64, ctypes.c_uint64)
    kinds = (getattr(code, "restype", None), *getattr(code, "argtypes", ()))
    if len(kinds) != 2 or any(kind not in wanted for kind in kinds):  # noqa: PLR2004 - in and out
        raise CustomCallError(
            f"`{_name(function)}` cannot be the handler of a custom call",
            details=["wanted: `intp(intp)`, the address of a call frame to that of an error or 0"],
            advice='Declare it as `@numba.cfunc("intp(intp)")`.',
        )
    name = _name(function)
    return Handler(
        name, "cfunc", int(function.address), ("cfunc", id(function)), "numba", function, function
    )


def is_cfunc(value: Any) -> bool:
    """Whether a value is what `numba.cfunc` makes; numba need not be installed."""
    return isinstance(getattr(value, "address", None), int) and hasattr(value, "native_name")


def arguments_of(frame: Any) -> list[np.ndarray]:
    """The arguments of a call; they stay valid after it."""
    found = frame.arguments
    return [_argument(found.values[i]) for i in range(found.size)]


def results_of(frame: Any) -> list[np.ndarray]:
    """Where the results of a call are wanted: XLA's own memory, while the call runs."""
    found = frame.results
    return [_result(found.values[i]) for i in range(found.size)]


def attributes_of(found: Any) -> dict[str, Any]:
    """The attributes of a call: NumPy scalars and arrays, strings, dictionaries of these."""
    named: dict[str, Any] = {}
    for i in range(found.size):
        span = ByteSpan.from_address(found.names[i])
        named[_text(span)] = _attribute(found.types[i], found.values[i])
    return named


def fill(results: Sequence[np.ndarray], given: Any, name: str) -> None:
    """Writes what a function gave where XLA wants it.

    Raises:
        TypeError: It is another number of arrays, or of other shapes or kinds.
    """
    if given is None and not results:
        return
    arrays = list(given) if isinstance(given, list | tuple) else [given]
    if len(arrays) != len(results):
        raise TypeError(
            f"{name} gave {len(arrays)} arrays, and the call has {len(results)} results"
        )
    for i, (to, value) in enumerate(zip(results, arrays, strict=True)):
        array = np.asarray(value)
        if array.shape != to.shape or not np.can_cast(array.dtype, to.dtype, "same_kind"):
            raise TypeError(
                f"{name} gave {array.dtype}{list(array.shape)} as result {i}, "
                f"and {to.dtype}{list(to.shape)} is wanted"
            )
        to[...] = array


def _handler(
    entry: Callable[[int], int | None], function: Callable[..., Any], name: str, kind: Any
) -> Handler:
    callback = HandlerFunction(entry)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    identity: Hashable = (kind, id(function))
    return Handler(name, kind, address, identity, _origin(function), (callback, function), function)


def _run(frame: Any, function: ArrayFunction, name: str) -> int | None:
    if answer_metadata(frame):
        return None

    def work() -> None:
        given = function(*arguments_of(frame), **attributes_of(frame.attributes))
        fill(results_of(frame), given, name)

    return _guarded(frame, name, work)


def _guarded(frame: Any, name: str, work: Callable[[], None]) -> int | None:
    """Does the work; an exception becomes an error of XLA's, with its text and traceback."""
    try:
        with private_ffi.refusing_jax(_no_jax):
            work()
    except BaseException as error:  # noqa: BLE001 - nothing may leave through C
        text = f"{name} failed: {_told(error)}"
        return create_error(frame, text, "INTERNAL")
    return None


def _told(error: BaseException) -> str:
    """An exception's type and text, and the frames of it that are neither ours nor JAX's."""
    # JAX appends a note on its own frames.
    text = str(error).split("\n--------------------\n", 1)[0]
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_NOT_SHOWN)
    ]
    shown = "".join(traceback.format_list(frames)).rstrip()
    return f"{said}\n{shown}" if shown else said


def _no_jax(operation: str) -> CustomCallError:
    return CustomCallError(
        f"A handler called JAX (`{operation}`), which can wait for the handler for ever",
        advice="Compute with NumPy in it, or before and after the call with JAX.",
    )


def _argument(address: int) -> np.ndarray:
    """A copy: a function may keep what it is given for longer than XLA does."""
    buffer = Buffer.from_address(address)
    dtype, shape = numpy_dtype(buffer.dtype), _shape(buffer)
    memory = ctypes.string_at(buffer.data, math.prod(shape) * dtype.itemsize)
    return np.frombuffer(memory, dtype).reshape(shape)


def _result(address: int) -> np.ndarray:
    buffer = Buffer.from_address(address)
    dtype, shape = numpy_dtype(buffer.dtype), _shape(buffer)
    size = math.prod(shape) * dtype.itemsize
    memory: Any = (ctypes.c_char * size).from_address(buffer.data) if size else bytearray()
    return np.frombuffer(memory, dtype).reshape(shape)


def _shape(buffer: Any) -> tuple[int, ...]:
    return tuple(buffer.dims[: buffer.rank]) if buffer.rank else ()


def _attribute(kind: int, address: int) -> Any:
    if kind == STRING:
        return _text(ByteSpan.from_address(address))
    if kind == SCALAR:
        scalar = Scalar.from_address(address)
        dtype = numpy_dtype(scalar.dtype)
        return np.frombuffer(ctypes.string_at(scalar.value, dtype.itemsize), dtype)[0]
    if kind == ARRAY:
        array = Array.from_address(address)
        dtype = numpy_dtype(array.dtype)
        return np.frombuffer(ctypes.string_at(array.data, array.size * dtype.itemsize), dtype)
    if kind == DICTIONARY:
        return attributes_of(Attributes.from_address(address))
    raise TypeError(f"an attribute of kind {kind} is of a later version of XLA's FFI")


def _text(span: Any) -> str:
    return ctypes.string_at(span.start, span.size).decode(errors="replace") if span.size else ""


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", function))


def _origin(function: Any) -> str:
    return str(getattr(function, "__module__", "") or "python")
