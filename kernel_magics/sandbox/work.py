"""Which function does the work of each kind of request, and how it is called.

Functions stand here by name: those of higher layers are imported when first asked for.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from kernel_magics.sandbox.limits import memory_limit
from kernel_magics.sandbox.messages import Message

Worker = Callable[[Mapping[str, Any], Sequence[bytes]], tuple[Mapping[str, Any], Sequence[bytes]]]
"""Takes head and blobs of the request, gives head and blobs of the answer."""

WORKERS: Mapping[str, str] = {
    "parse": "kernel_magics.ir.sandboxed:parse_program",
    "convert": "kernel_magics.ir.hlo_convert:convert_content",
    "compile": "kernel_magics.call.sandboxed:compile_program",
    "run": "kernel_magics.call.sandboxed:run_program",
    "call_handler": "kernel_magics.custom_call.trial_child:call_handler",
    "probe_plugin": "kernel_magics.sandbox.plugins:probe_plugin",
}

LEAVES_TRACES = frozenset({"call_handler", "probe_plugin"})
"""Kinds that load what cannot be unloaded: the child is ended after them."""

# A plugin's trial starts what it needs itself.
_NEEDS_BACKEND = frozenset({"compile", "run", "call_handler"})

MEMORY = "memory_bytes"
"""The key of the memory limit in the head of a request."""

_MAX_TEXT = 1 << 20


def perform(workers: Mapping[str, str], request: Message) -> Message:
    """Does the work of a request; an exception in it becomes a `refusal`."""
    try:
        module, _, name = workers[request.kind].partition(":")
        worker: Worker = getattr(importlib.import_module(module), name)
        if request.kind in _NEEDS_BACKEND:
            # As in the kernel; and its threads are not what the limit is for.
            jax.devices()
        with memory_limit(request.head.get(MEMORY)):
            head, blobs = worker(request.head, request.blobs)
        return Message("answer", head, tuple(blobs))
    except BaseException as error:  # noqa: BLE001 - sent to the kernel
        return refusal(error)


def refusal(error: BaseException) -> Message:
    """The message that tells of an exception."""
    return Message("refusal", {"type": type(error).__name__, "text": str(error)[:_MAX_TEXT]})
