"""What a child is told when it starts, so that it is like the kernel."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

# They count before the first use of a device, and may not exist in every JAX.
_CONFIG = ("jax_platforms", "jax_num_cpu_devices")

_VARIABLES = ("XLA_", "JAX_", "LIBTPU_", "PJRT_")
"""Of the environment: what is read when devices are first used."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a child was started with; where that is not so any more, another one is started."""

    workers: Mapping[str, str]
    """The function that does the work, as `module:name`, for each kind of request."""
    config: Mapping[str, Any]
    """Values of `jax.config`."""
    environment: Mapping[str, str]
    """For comparison alone: a child inherits the whole environment."""

    def argument(self) -> str:
        """The argument of the child's program."""
        told = {"parent": os.getpid(), "path": import_path()}
        return json.dumps({**told, "workers": dict(self.workers), "config": dict(self.config)})


def current_options(workers: Mapping[str, str]) -> Options:
    """What a child that is started now is to be told."""
    config = {name: getattr(jax.config, name, None) for name in _CONFIG}
    return Options(
        workers,
        {name: value for name, value in config.items() if value is not None},
        {name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)},
    )


def import_path() -> list[str]:
    """Where modules are looked for, as here.

    The working directory of a notebook, an empty entry, comes last: it was added after Python
    had started, and a file `random.py` there must not stand in for the library's.
    """
    found = [entry for entry in sys.path if entry]
    try:
        return [*found, str(Path.cwd())] if "" in sys.path else found
    except FileNotFoundError:
        return found
