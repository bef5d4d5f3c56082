"""Whatever a user defines, defines again and drops, in any order, the module stays right."""

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.errors import LinkError
from kernel_magics.ir.context import new_context

KIND = "(tensor<2xi32>) -> tensor<2xi32>"
NAMES = ("f", "g", "h")

functions = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(st.integers(0, 5), st.sampled_from((None, *NAMES))),
    min_size=1,
    max_size=3,
)
steps = st.lists(
    st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), functions)), min_size=1, max_size=8
)


def program(defined: dict[str, tuple[int, str | None]]) -> str:
    """Each function adds its number and calls another, which may be declared only."""
    called = {callee for _, callee in defined.values() if callee is not None}
    lines = [f"func.func private @{name}{KIND}" for name in sorted(called - set(defined))]
    for name, (number, callee) in defined.items():
        lines += [
            f"func.func @{name}(%x: tensor<2xi32>) -> tensor<2xi32> {{",
            f"  %c = stablehlo.constant dense<{number}> : tensor<2xi32>",
            "  %0 = stablehlo.add %x, %c : tensor<2xi32>",
            f"  %1 = call @{callee}(%0) : {KIND}" if callee else "",
            f"  return %{1 if callee else 0} : tensor<2xi32>",
            "}",
        ]
    return "\n".join(lines)


def expected(defined: dict[str, tuple[int, str | None]], name: str) -> int | None:
    """What a function of a program that needs no other adds; None where that is not told."""
    total, seen = 0, set()
    while name is not None:
        if name in seen or name not in defined:
            return None
        seen.add(name)
        number, name = defined[name]
        total += number
    return total


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
@example(
    [
        ("a", {"f": (0, None), "g": (0, None)}),
        ("c", {"f": (0, "g")}),
        ("c", {"f": (0, None), "g": (0, None)}),
    ]
)
def test_any_sequence_of_definitions_and_drops_leaves_a_right_module(sequence):
    session = km.Session()
    held: dict[str, dict] = {}
    for unit, defined in sequence:
        before = session.module_text(), list(session.units)
        try:
            if defined is not None:
                session.define(program(defined), name=unit)
                held[unit] = defined
            elif unit in session.units:
                session.drop(unit, force=True)
                del held[unit]
        except LinkError:
            assert (session.module_text(), list(session.units)) == before
        check(session, held)
    for unit in list(session.units):
        session.drop(unit, force=True)
    assert session.module_text().strip() == "module {\n}"


def check(session: km.Session, held: dict[str, dict]) -> None:
    module = ir.Module.parse(session.module_text(), new_context())
    module.operation.verify()
    symbols = {view.operation.attributes["sym_name"].value for view in module.body.operations}
    units = session.units.values()
    retired = session._linked.retired
    for unit in [*units, *retired]:
        assert unit.merged_names <= symbols
        assert set(unit.report.bound.values()) <= symbols
    assert symbols == set().union(*(unit.merged_names for unit in [*units, *retired]))
    for unit, defined in held.items():
        for name, function in session.units[unit].functions.items():
            wanted = expected(defined, name)
            if wanted is not None:
                np.testing.assert_array_equal(function(np.zeros(2, np.int32))[0], wanted)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_restored_sessions_are_equal(tmp_path_factory, sequence):
    session = km.Session()
    for unit, defined in sequence:
        try:
            if defined is not None:
                session.define(program(defined), name=unit)
        except LinkError:
            continue
    path = tmp_path_factory.mktemp("saved") / "session.mlir.bc"
    graph = session.graph().to_json()
    session.save(path)
    session.restore(path)
    assert session.graph().to_json() == graph
