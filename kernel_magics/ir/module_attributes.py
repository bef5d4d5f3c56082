"""Attributes of two modules become those of one: a rule for each, and errors for conflicts."""

from collections.abc import Mapping
from typing import Literal

from jax.extend.mlir import ir

from kernel_magics.errors import LinkError

Rule = Literal["count", "entry"]

RULES: Mapping[str, Rule] = {
    "mhlo.num_partitions": "count",
    "mhlo.num_replicas": "count",
    "mhlo.cross_program_prefetches": "entry",
    "mhlo.input_output_alias": "entry",
    "mhlo.is_dynamic": "entry",
    "mhlo.spmd_output_sharding": "entry",
    "mhlo.spmd_parameters_shardings": "entry",
    "mhlo.use_auto_spmd_partitioning": "entry",
    "mhlo.xla_entry_computation_parameter_layouts": "entry",
    "mhlo.xla_entry_computation_parameter_tiles": "entry",
    "mhlo.xla_entry_computation_result_layout": "entry",
    "mhlo.xla_entry_computation_result_tiles": "entry",
    "jax.uses_shape_polymorphism": "entry",
    "kernel_magics.units": "entry",
}
"""`count`: 1 says nothing, so the larger holds where one of two is 1. `entry`: speaks of how
the unit's own `@main` is run, which says nothing once that is called by another. Attributes
without a rule must be equal where both have them."""

_OWN = ("sym_name", "sym_visibility")

Attributes = Mapping[str, ir.Attribute]


def read_attributes(operation: ir.Operation) -> Attributes:
    """The attributes of a module op that say something about its content."""
    return {name: operation.attributes[name] for name in operation.attributes if name not in _OWN}


def merge_attributes(
    incoming: Attributes, present: Attributes, *, unit: str, widen: bool
) -> dict[str, ir.Attribute]:
    """What linking a module would add to the attributes of another; changes nothing.

    Args:
        incoming: The attributes of the module whose content will move.
        present: The attributes of the module that will hold it.
        unit: What to call the incoming module in an error.
        widen: Whether partition and replica counts of the target may grow; those of a
            program that JAX is lowering may not.

    Raises:
        LinkError: Both say something else.
    """
    added: dict[str, ir.Attribute] = {}
    for name, value in incoming.items():
        rule, there = RULES.get(name), present.get(name)
        if rule == "entry":
            continue
        if rule == "count":
            fits = _count_fits(value, there, widen=widen)
        else:
            fits = there is None or value == there
        if not fits:
            raise _conflict(name, value, there, unit)
        if there is None or (rule == "count" and _is_one(there)):
            added[name] = value
    return added


def _count_fits(value: ir.Attribute, present: ir.Attribute | None, *, widen: bool) -> bool:
    if _is_one(value):
        return True
    if present is None:
        return widen
    return value == present or (widen and _is_one(present))


def _is_one(count: ir.Attribute) -> bool:
    return str(count).startswith("1 ")


def _conflict(name: str, value: ir.Attribute, present: ir.Attribute | None, unit: str) -> LinkError:
    has = "has none, which means 1" if present is None else f"has `{present}`"
    return LinkError(
        f"The module attribute `{name}` of {unit} does not fit the module it is linked into",
        details=[f"{unit}: `{value}`", f"the module {has}"],
        advice="Give both programs the same value, or remove the attribute from one.",
    )
