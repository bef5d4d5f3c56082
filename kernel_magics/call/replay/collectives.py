"""Collectives under `jax.shard_map`: groups of devices become mesh axes."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import jax
import numpy as np
from jax import lax

from kernel_magics.call.replay.bodies import monoids
from kernel_magics.call.replay.operation import Blocked, Op, Run
from kernel_magics.errors import PreflightError

_ALL_REDUCE: dict[str, Run] = {"add": lax.psum, "maximum": lax.pmax, "minimum": lax.pmin}


def manual_axes(name: str) -> dict[str, int]:
    """The mesh axes that a trace runs under, to their sizes, in the order of the mesh.

    Raises:
        PreflightError: There are none.
    """
    mesh = jax.sharding.get_abstract_mesh()
    axes = {axis: mesh.shape[axis] for axis in mesh.axis_names if axis in mesh.manual_axes}
    if not axes:
        raise PreflightError(
            f"`{name}` speaks to other devices, and no mesh axis is bound here",
            advice="Call it inside `jax.shard_map` over as many devices as it is written for.",
        )
    return axes


def _axes_of(name: str, groups: np.ndarray) -> tuple[str, ...]:
    """The mesh axes along which the groups lie.

    Raises:
        PreflightError: No axis is bound, or the groups are no axes of the mesh.
    """
    axes = manual_axes(name)
    devices = np.arange(int(np.prod(list(axes.values())))).reshape(list(axes.values()))
    for count in range(len(axes) + 1):
        for chosen in combinations(range(len(axes)), count):
            rest = [i for i in range(len(axes)) if i not in chosen]
            size = int(np.prod([devices.shape[i] for i in chosen]))
            found = devices.transpose(*rest, *chosen).reshape(-1, size)
            if sorted(map(tuple, found.tolist())) == sorted(map(tuple, groups.tolist())):
                return tuple(list(axes)[i] for i in chosen)
    raise PreflightError(
        f"`{name}` joins devices {groups.tolist()}, which are no axes of the mesh {axes}",
        advice="Call it inside `jax.shard_map` over a mesh whose axes are these groups.",
    )


def _groups(op: Op) -> np.ndarray:
    attribute: Any = op.attribute("replica_groups")
    return np.asarray(attribute).astype(np.int64)


def _by_partition(op: Op) -> None:
    """Refuses groups of replicas where there is a second kind of devices."""
    if op.attribute("channel_handle") is None and op.attribute("channel_id") is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise Blocked("it joins replicas, of which JAX's own programs have one")


def _all_reduce(op: Op) -> Run:
    _by_partition(op)
    known, groups, name = monoids(op), _groups(op), op.name
    function = _ALL_REDUCE.get(known[0]) if known and len(set(known)) == 1 else None
    if function is None:
        raise Blocked("JAX reduces over devices by sum, maximum or minimum alone")

    def all_reduce(_: Any, *args: Any) -> Any:
        axes = _axes_of(name, groups)
        results = [function(x, axes) if axes else x for x in args]
        return results[0] if len(results) == 1 else results

    return all_reduce


def _all_gather(op: Op) -> Run:
    _by_partition(op)
    groups, name, dimension = _groups(op), op.name, op.number("all_gather_dim")

    def all_gather(*args: Any) -> Any:
        axes = _axes_of(name, groups)
        results = [lax.all_gather(x, axes, axis=dimension, tiled=True) if axes else x for x in args]
        return results[0] if len(results) == 1 else results

    return all_gather


def _reduce_scatter(op: Op) -> Run:
    _by_partition(op)
    groups, name, dimension = _groups(op), op.name, op.number("scatter_dimension")
    if monoids(op) != ["add"]:
        raise Blocked("JAX scatters sums over devices alone")

    def reduce_scatter(_: Any, x: Any) -> Any:
        axes = _axes_of(name, groups)
        return lax.psum_scatter(x, axes, scatter_dimension=dimension, tiled=True) if axes else x

    return reduce_scatter


def _all_to_all(op: Op) -> Run:
    _by_partition(op)
    groups, name = _groups(op), op.name
    split, joined = op.number("split_dimension"), op.number("concat_dimension")

    def all_to_all(*args: Any) -> Any:
        axes = _axes_of(name, groups)
        results = [lax.all_to_all(x, axes, split, joined, tiled=True) if axes else x for x in args]
        return results[0] if len(results) == 1 else results

    return all_to_all


def _collective_permute(op: Op) -> Run:
    _by_partition(op)
    attribute: Any = op.attribute("source_target_pairs")
    pairs = [(int(source), int(target)) for source, target in np.asarray(attribute)]
    name = op.name

    def collective_permute(x: Any) -> Any:
        return lax.ppermute(x, tuple(manual_axes(name)), pairs)

    return collective_permute


def _collective_broadcast(op: Op) -> Run:
    _by_partition(op)
    groups, name = _groups(op), op.name

    def collective_broadcast(x: Any) -> Any:
        axes = _axes_of(name, groups)
        return lax.index_in_dim(lax.all_gather(x, axes), 0, keepdims=False) if axes else x

    return collective_broadcast


def _partition_id(op: Op) -> Run:
    name = op.name

    def partition_id() -> Any:
        return lax.convert_element_type(lax.axis_index(tuple(manual_axes(name))), np.uint32)

    return partition_id


def _replica_id(op: Op) -> Run:
    del op
    # JAX's programs have one replica.
    return lambda: np.zeros((), np.uint32)


COLLECTIVES: dict[str, Callable[[Op], Run]] = {
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "collective_broadcast": _collective_broadcast,
    "collective_permute": _collective_permute,
    "partition_id": _partition_id,
    "replica_id": _replica_id,
    "reduce_scatter": _reduce_scatter,
}
