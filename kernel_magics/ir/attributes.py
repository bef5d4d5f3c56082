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
}
"""`count`: 1 says nothing, so the larger holds where one of two is 1. `entry`: speaks of how
the unit's own `@main` is run, which says nothing once that is called by another. Attributes
without a rule must be equal where both have them."""

_OWN = ("sym_name", "sym_visibility")


def merge(
    incoming: ir.Operation, target: ir.Operation, *, unit: str, widen: bool
) -> dict[str, ir.Attribute]:
    """What linking `incoming` would add to the attributes of `target`; changes nothing.

    Args:
        incoming: The module op whose content will move.
        target: The module op that will hold it.
        unit: What to call the incoming module in an error.
        widen: Whether partition and replica counts of the target may grow; those of a
            program that JAX is lowering may not.

    Raises:
        LinkError: Both say something else.
    """
    added: dict[str, ir.Attribute] = {}
    for name in incoming.attributes:
        if name in _OWN or RULES.get(name) == "entry":
            continue
        value = incoming.attributes[name]
        present = target.attributes[name] if name in target.attributes else None
        if RULES.get(name) == "count":
            if not _count_fits(value, present, widen=widen):
                raise _conflict(name, value, present, unit)
            if present is None or str(present).startswith("1 "):
                added[name] = value
        elif present is None:
            added[name] = value
        elif present != value:
            raise _conflict(name, value, present, unit)
    return added


def _count_fits(value: ir.Attribute, present: ir.Attribute | None, *, widen: bool) -> bool:
    one = str(value).startswith("1 ")
    if one or value == present:
        return True
    return widen and (present is None or str(present).startswith("1 "))


def _conflict(
    name: str, value: ir.Attribute, present: ir.Attribute | None, unit: str
) -> LinkError:
    has = "has none, which means 1" if present is None else f"has `{present}`"
    return LinkError(
        f"The module attribute `{name}` of {unit} does not fit the module it is linked into",
        details=[f"{unit}: `{value}`", f"the module {has}"],
        advice="Give both programs the same value, or remove the attribute from one.",
    )
