"""How a program says that its values lie over devices, and whether a call can keep to that."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import jax
from jax.extend.mlir import ir

from kernel_magics.call.program import Program, parsed
from kernel_magics.errors import PreflightError
from kernel_magics.ir.checks_places import SHARDING, sharding_texts
from kernel_magics.ir.diagnostics import SHOWN, position
from kernel_magics.ir.source import Source

_AXIS_SIZE = re.compile(r"=\s*(\d+)")
_TILES = re.compile(r"devices=\[(\d+(?:,\d+)*)\]")
_PARTITIONS = "mhlo.num_partitions"


@dataclass(frozen=True, slots=True)
class Layout:
    """A mesh of devices, or a sharding that names as many."""

    device_count: int
    excerpt: str
    """Where it stands; empty where the program is not text."""


def ensure_fits_here(program: Program) -> None:
    """Refuses a program with layouts of its own where `shard_map` has laid all values out.

    Raises:
        PreflightError: Shows where they stand.
    """
    manual = jax.sharding.get_abstract_mesh().manual_axes
    found = _layouts(program) if manual else ()
    if found:
        raise PreflightError(
            f"`@{program.entry}` says how its values lie over devices, and `shard_map` has laid "
            f"them out along {', '.join(map(repr, manual))}",
            where=_shown(found),
            advice="Call it outside of `jax.shard_map`, or remove its annotations.",
        )


def ensure_fits(program: Program, module: ir.Module) -> None:
    """Refuses a program whose layouts are for more or fewer devices than a module is.

    On one device they say nothing, unless the program is written for several as a whole.

    Raises:
        PreflightError: Shows where they stand.
    """
    count = _partitions(module)
    found = [each for each in _layouts(program) if each.device_count != count]
    if found and (count > 1 or _partitions(parsed(program.source).index.module) > 1):
        raise PreflightError(
            f"`@{program.entry}` lays its values out over {found[0].device_count} devices, and "
            f"the call is for {count}",
            where=_shown(found),
            advice="Give it arguments that are sharded over as many devices as it says, or "
            "remove its annotations.",
        )


def _shown(layouts: list[Layout] | tuple[Layout, ...]) -> list[str]:
    places = [place for place in dict.fromkeys(each.excerpt for each in layouts) if place]
    hidden = [f"… and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
    return places[:SHOWN] + hidden


def _partitions(module: ir.Module) -> int:
    attributes = module.operation.attributes
    found = attributes[_PARTITIONS] if _PARTITIONS in attributes else None  # noqa: SIM401 - has no `get`
    return found.value if isinstance(found, ir.IntegerAttr) else 1


@lru_cache(maxsize=1024)
def _layouts(program: Program) -> tuple[Layout, ...]:
    """The layouts over several devices that an entry uses, those of its bindings included."""
    index = parsed(program.source).index
    used = index.reachable([program.entry])
    found: list[Layout] = []
    for top in index.ops:
        if top.name not in used:
            continue
        if top.kind == "sdy.mesh":
            sizes = map(int, _AXIS_SIZE.findall(str(top.operation.attributes["mesh"])))
            found.append(Layout(math.prod(sizes), _excerpt(program.source, top.location)))
        elif SHARDING in top.annotations:
            found += _tiled(program.source, top.operation)
    for binding in program.bindings:
        found += _layouts(binding.program) if binding.name in used else ()
    return tuple(each for each in found if each.device_count > 1)


def _tiled(source: Source, operation: ir.Operation) -> Iterator[Layout]:
    for text, location in sharding_texts(operation):
        for tiles in _TILES.findall(text):
            count = math.prod(map(int, tiles.split(",")))
            yield Layout(count, _excerpt(source, location))


def _excerpt(source: Source, location: ir.Location) -> str:
    at = position(location, source)
    return source.excerpt(*at) if at else ""
