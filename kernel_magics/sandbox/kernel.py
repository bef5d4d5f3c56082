"""The sandbox of this process: one for all who need one."""

import atexit
import os

from kernel_magics.sandbox.process import Sandbox

_SANDBOX = Sandbox()

atexit.register(_SANDBOX.end)
if hasattr(os, "register_at_fork"):
    # Else the copy holds the pipe open, and the child outlives the kernel.
    os.register_at_fork(after_in_child=_SANDBOX.forget_if_copied)


def kernel_sandbox() -> Sandbox:
    """The sandbox that all trials of this kernel share; its child is started when needed."""
    return _SANDBOX


def end() -> None:
    """Ends the child of this kernel, if there is one; a later trial starts another."""
    _SANDBOX.end()
