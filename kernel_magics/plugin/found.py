"""A plugin that somebody offers, before anything of it was loaded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernel_magics.sandbox.plugins import Option

_NO_NAME = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a plugin is, and who says so."""

    name: str
    source: str
    """Who offers it, in words."""
    version: str = ""
    path: Path | None = None
    """The library; None where only the package knows it."""
    module: str = ""
    """The module whose `initialize()` registers it with JAX; empty where there is none."""
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    fault: str = ""
    """What is seen to be wrong without loading it."""


def plugin_name(words: str) -> str:
    """A name that can be typed, such as `fastatomstruct_xla_cpu`."""
    return _NO_NAME.sub("_", words).strip("_").lower()
