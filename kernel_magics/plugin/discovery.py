"""All plugins that are on offer, whoever offers them."""

import os
from collections.abc import Iterable

from kernel_magics.plugin.environment import VARIABLE, environment_plugins
from kernel_magics.plugin.found import Found
from kernel_magics.plugin.installed import installed_plugins


def discover(paths: Iterable[str] | None = None) -> list[Found]:
    """Finds plugins without importing, loading or starting any of them.

    The environment comes first, for JAX takes from there what several offer under one name;
    others of the name get a number.

    Args:
        paths: Where packages are looked for; `sys.path` by default.
    """
    offered = [*environment_plugins(os.environ.get(VARIABLE, "")), *installed_plugins(paths)]
    named: dict[str, Found] = {}
    for found in offered:
        name, number = found.name, 2
        while name in named:
            name, number = f"{found.name}_{number}", number + 1
        named[name] = Found(
            name, found.source, found.version, found.path, found.module, found.options, found.fault
        )
    return list(named.values())
