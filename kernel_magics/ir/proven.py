"""What is proven: forms of programs with known values, which compiled to just those values.

The table is written by `tests/corpus/make_proven_forms.py`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jax.extend.mlir import ir

from kernel_magics.ir.forms import CALCULATIONS, CARRIERS
from kernel_magics.ir.problems import Doubt, Scope, custom_call
from kernel_magics.ir.symbols import TopLevelOp
from kernel_magics.ir.targets import is_registered

MOST_ELEMENTS = 1 << 31
"""Elements of one value, as many as a 32-bit index counts."""


@dataclass(frozen=True, slots=True)
class Proven:
    """The table."""

    forms: Mapping[str, frozenset[str]]
    """Kind to the element types that it was seen with, on any of its values.

    Not to sets of them: XLA takes a converted value, an index and the like each by itself. All
    pairs of a `convert` and of a `bitcast_convert` were tried, and `checks_forms` has the few
    that end the process.
    """
    refused: Mapping[str, frozenset[str]]
    """Kind to the element types which MLIR's verifier does not let it have."""
    bodies: Mapping[str, frozenset[str]]
    """Kind to the kinds in its function of scalars."""
    targets: frozenset[str]
    """Custom-call targets."""
    annotations: frozenset[str]
    """Attributes of other dialects."""
    highest_rank: int


@cache
def proven() -> Proven:
    """The table that comes with the package."""
    return from_json(files("kernel_magics.ir").joinpath("proven_forms.json").read_text())


def from_json(text: str) -> Proven:
    """The table as the script writes it."""
    table = json.loads(text)
    return Proven(
        {kind: frozenset(es.split()) for kind, es in table["forms"].items()},
        {kind: frozenset(es.split()) for kind, es in table["refused"].items()},
        {kind: frozenset(kinds.split()) for kind, kinds in table["bodies"].items()},
        frozenset(table["targets"]),
        frozenset(table["annotations"]),
        table["highest_rank"],
    )


def unproven(scope: Scope, table: Proven) -> Iterator[Doubt]:
    """What an entry uses and the table does not hold."""
    yield from _forms(scope, table)
    yield from _calculations(scope, table)
    yield from _values(scope, table)
    for op in scope.ops:
        yield from _others(op, table)
    module = scope.index.module.operation
    for name in module.attributes:
        if "." in name and name not in table.annotations:
            yield Doubt("unproven-attribute", f"the module attribute `{name}`", module.location)


def _others(op: TopLevelOp, table: Proven) -> Iterator[Doubt]:
    """Functions of scalars, attributes of other dialects, custom calls that are not registered."""
    if not op.is_function:
        yield Doubt("unproven-form", f"`{op.kind}`", op.location)
    for around, inside in op.bodies.items():
        known = table.bodies.get(around, ())
        for kind, location in inside.items():
            if kind not in known:
                yield Doubt("unproven-body", f"`{kind}` inside of `{around}`", location)
    for name, location in op.annotations.items():
        if name not in table.annotations:
            yield Doubt("unproven-attribute", f"the attribute `{name}`", location)
    for target in op.custom_calls:
        if target not in table.targets and not is_registered(target):
            yield Doubt("unproven-target", f"the custom call `{target}`", custom_call(op, target))


def _forms(scope: Scope, table: Proven) -> Iterator[Doubt]:
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for form, _, location in scope.read_forms:
        kind, elements = form
        if kind in CARRIERS:
            continue
        proven_elements = table.forms.get(kind)
        if form in seen or (proven_elements is not None and proven_elements.issuperset(elements)):
            continue
        seen.add(form)
        yield Doubt("unproven-form", form_text(kind, elements), location)


def _calculations(scope: Scope, table: Proven) -> Iterator[Doubt]:
    """Ops whose types the scan does not read, on types that they could have."""
    for kind in sorted(CALCULATIONS.intersection(scope.kinds)):
        none: frozenset[str] = frozenset()
        strange = scope.elements - table.forms.get(kind, none) - table.refused.get(kind, none)
        found = scope.find_form(kind, strange.intersection) if strange else None
        if found is not None:
            elements = scope.types.elements(found.results.types)
            yield Doubt("unproven-form", form_text(kind, elements), found.location)


def _values(scope: Scope, table: Proven) -> Iterator[Doubt]:
    """Element types, ranks and sizes beyond all that is proven."""
    known = {element for elements in table.forms.values() for element in elements}
    groups = [(types, location) for _, types, location in scope.read_forms]
    seen: set[ir.Type] = set()
    for types, location in (*groups, *scope.signatures):
        for kind in types:
            if kind in seen:
                continue
            seen.add(kind)
            value = scope.types.read(kind)
            is_strange = not known.issuperset(value.elements)
            if is_strange or value.rank > table.highest_rank or value.element_count > MOST_ELEMENTS:
                yield Doubt("unproven-value", f"values of `{value.text}`", location)


def form_text(kind: str, elements: tuple[str, ...]) -> str:
    """A form in words, such as "`stablehlo.add` on `i4`"."""
    on = ", ".join(f"`{element}`" for element in elements)
    return f"`{kind}` on {on}" if on else f"`{kind}`"
