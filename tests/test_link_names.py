"""Names of every kind stay apart when they clash, and all that refers to them follows."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.ir.context import new_context
from kernel_magics.ir.link import Target, link
from kernel_magics.ir.source import Source
from kernel_magics.ir.unit import read_unit


def quoted(name: str) -> str:
    """A symbol as MLIR takes any name: `@"…"`, all but letters and digits as bytes."""
    plain = (chr(b) if chr(b).isalnum() and b < 128 else f"\\{b:02X}" for b in name.encode())
    return f'@"{"".join(plain)}"'


def chain(names: list[str], start: int) -> str:
    """A function for each name, which returns its number plus what the next one returns.

    Each names the next in its attributes too, at some depth.
    """
    lines: list[str] = []
    for number, (name, following) in enumerate(pairwise([*names, None]), start):
        lines += [f"func.func {quoted(name)}() -> tensor<i32> attributes {{"]
        refs = quoted(following) if following is not None else "unit"
        lines += [f"  test.refs = [{refs}, {{at = {refs}}}]}} {{"]
        lines += [f"  %0 = stablehlo.constant dense<{number}> : tensor<i32>"]
        if following is None:
            lines += ["  return %0 : tensor<i32>\n}"]
            continue
        lines += [f"  %1 = call {quoted(following)}() : () -> tensor<i32>"]
        lines += ["  %2 = stablehlo.add %0, %1 : tensor<i32>\n  return %2 : tensor<i32>\n}"]
    return "\n".join(lines)


def expected(units: list[tuple[list[str], int, km.LinkReport]]) -> dict:
    """Name in the linked module to the number of the function, and the name that it refers to."""
    found = {}
    for names, start, report in units:
        new = [report[name].new_name for name in names]
        for number, (name, following) in enumerate(pairwise([*new, None]), start):
            found[name] = (number, following)
    return found


def said(text: str) -> dict:
    """What the functions of a module say: number, and the one name that each refers to."""
    module = ir.Module.parse(text, new_context())
    assert module.operation.verify()
    found = {}
    for view in module.body.operations:
        refs, entry = view.attributes["test.refs"], view.regions[0].blocks[0]
        ops = [op.operation for op in entry.operations]
        callees = [op.attributes["callee"].value for op in ops if op.name == "func.call"]
        named = [r.value for r in (refs[0], refs[1]["at"]) if isinstance(r, ir.FlatSymbolRefAttr)]
        assert set(named) == set(callees)
        number = ir.DenseIntElementsAttr(ops[0].attributes["value"])[0]
        found[view.attributes["sym_name"].value] = (number, callees[0] if callees else None)
    assert len(found) == len(module.body.operations)
    return found


def linked_thrice(session: km.Session, names: list[str]) -> list[km.LinkReport]:
    """The same names three times, forwards and backwards, with other numbers each time."""
    units = []
    for round_number in range(3):
        order = names[::-1] if round_number == 1 else names
        start = 1 + round_number * len(names)
        report = session.define(chain(order, start), name=f"unit {round_number}")
        units.append((order, start, report))
    assert said(session.module_text()) == expected(units)
    return [report for _, _, report in units]


def values(session: km.Session, report: km.LinkReport, old: str) -> int:
    """What a function of the linked module itself returns."""
    (value,) = km.hlo_call(session.module_text(), func_name=report[old].new_name)
    return int(value)


GENERATED = ["f", "f_0", "f_1a2b", "f_1a2b_0", "f_", "f__", "f_0_0", "_f", "f$0", "f.1"]
QUOTED = ["a b", "a.b c", "@", "@a", "a@b", "a::b", "\\", "\\22", '"', 'say "a"', "a\nb", "\t", "'"]
QUOTED += ["{}", "<x>", "a, @b", "1", "-", "%0", "//", "\0", "\x7f"]
UTF8 = [
    "größe",
    "λ",
    "学习率",
    "😀",
    "\u00e9",
    "e\u0301",
    "\u200b",
    "ß",
    "ẞ",
    "\u202eabc",
    "\ufb01",
]
LONG = [letter * 190 for letter in "ab"] + ["a" * 189, "a" * 189 + "b", "é" * 95]


@pytest.mark.parametrize(
    "names", [GENERATED, QUOTED, UTF8, LONG], ids=["generated", "quoted", "utf8", "long"]
)
def test_names_clash_and_all_references_follow(session, names):
    reports = linked_thrice(session, names)
    assert reports[0].renamed == {}
    assert set(reports[1].renamed) == set(names)
    count = len(names)
    assert values(session, reports[0], names[0]) == sum(range(1, count + 1))
    assert values(session, reports[1], names[-1]) == sum(range(1 + count, 2 * count + 1))
    assert values(session, reports[2], names[0]) == sum(range(1 + 2 * count, 3 * count + 1))


def test_names_that_the_linker_would_make_are_taken_already(session):
    text = chain(["f", "g"], 1)
    tag = Source(text).tag
    suffixes = [tag[:length] for length in range(4, 65, 4)]
    taken = ["f", "g", *(f"{name}_{suffix}" for name in "fg" for suffix in suffixes)]
    taken += [f"f_{tag}_{number}" for number in range(3)]
    first = session.define(chain(taken, 100), name="first")
    second = session.define(text, name="second")
    assert second.renamed == {"f": f"f_{tag}_3", "g": f"g_{tag}_0"}
    assert said(session.module_text()) == expected([(taken, 100, first), (["f", "g"], 1, second)])
    assert values(session, second, "f") == 3


def test_names_that_the_linker_would_make_stand_in_the_same_unit():
    context = new_context()
    module = ir.Module.parse("module {}", context)
    target = Target(module, ir.SymbolTable(module.operation))
    tag = "1a2b3c4d" * 8
    chains = [["f"], ["f", "f_1a2b", "f_1a2b_1a2b"], ["f_1a2b", "f", "f_1a2b3c4d"]]
    units = []
    for number, names in enumerate(chains):
        unit = read_unit(Source(chain(names, 10 * number)), context)
        report = link(unit.module, unit.index, target, unit=str(number), tag=tag)
        units.append((names, 10 * number, report))
    assert units[1][2].renamed == {"f": "f_1a2b3c4d"}
    assert set(units[2][2].renamed) == {"f", "f_1a2b", "f_1a2b3c4d"}
    assert said(str(module)) == expected(units)


MESHES = """sdy.mesh {0} = <["x"={1}]>
func.func {2}(%x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<{0}, [{{"x"}}]>}}) -> tensor<8xf32> {{
  %0 = stablehlo.composite "a.b" %x {{decomposition = {3}}} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @t(%0) {{called_computations = [{3}], sdy.sharding = #sdy.sharding_per_value<[<{0}, [{{"x"}}]>]>}} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}}
func.func private {3}(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = stablehlo.constant dense<{1}.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""


@pytest.mark.parametrize("name", [*QUOTED, *UTF8, LONG[0]])
def test_names_in_shardings_and_composites_follow(session, name):
    parts = [quoted(name + end) for end in ("mesh", "main", "impl")]
    reports = [session.define(MESHES.format(parts[0], n, *parts[1:])) for n in (2, 4)]
    module = ir.Module.parse(session.module_text(), new_context())
    assert module.operation.verify()
    symbols = ir.SymbolTable(module.operation)
    for report, size in zip(reports, (2, 4), strict=True):
        mesh, main, impl = (report[name + end].new_name for end in ("mesh", "main", "impl"))
        assert f'"x"={size}' in str(symbols[mesh])
        ops = [view.operation for view in symbols[main].regions[0].blocks[0].operations]
        assert ops[0].attributes["decomposition"].value == impl
        assert ops[1].attributes["called_computations"][0].value == impl
        wanted = f"#sdy.sharding<{_printed(mesh, module.context)}, "
        assert str(symbols[main].attributes["arg_attrs"]).startswith(f"[{{sdy.sharding = {wanted}")
        assert f"<{_printed(mesh, module.context)}, " in str(ops[1].attributes["sdy.sharding"])
        assert f"dense<{size}.0" in str(symbols[impl])


def _printed(name: str, context: ir.Context) -> str:
    return str(ir.FlatSymbolRefAttr.get(name, context))


def test_new_name_of_one_may_be_the_old_name_of_another(session):
    text = chain(["f", "g", "h"], 1)
    tag = Source(text).tag[:4]
    names = ["f", f"f_{tag}", "g"]
    first = session.define(chain(names, 50), name="first")
    second = session.define(text, name="second")
    third = session.define(chain([f"g_{tag}", f"f_{tag}", "f", "h"], 80), name="third")
    units = [(names, 50, first), (["f", "g", "h"], 1, second)]
    units += [([f"g_{tag}", f"f_{tag}", "f", "h"], 80, third)]
    assert said(session.module_text()) == expected(units)
    assert values(session, third, f"g_{tag}") == 80 + 81 + 82 + 83


def test_five_thousand_symbols_clash_twice(session):
    names = [f"layer_{number}" for number in range(5000)]
    units = []
    for start in (0, 10_000, 20_000):
        report = session.define(chain(names, start), name=f"from {start}")
        units.append((names, start, report))
        assert len(report.renamed) == (5000 if start else 0)
    assert said(session.module_text()) == expected(units)


letters = st.text(st.sampled_from('f_01a.$@" \\é:\n'), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(letters, min_size=1, max_size=5, unique=True), min_size=2, max_size=4))
def test_any_names_stay_apart(lists):
    session = km.Session()
    units = []
    for number, names in enumerate(lists):
        report = session.define(chain(names, 100 * number), name=str(number))
        units.append((names, 100 * number, report))
    assert said(session.module_text()) == expected(units)


def test_names_do_not_depend_on_the_hash_seed():
    texts = [chain(names, 100 * n) for n, names in enumerate((GENERATED, QUOTED, UTF8, LONG) * 2)]
    program = (
        "import kernel_magics as km\n"
        f"for text in {texts!r}:\n    print(km.session.define(text))\n"
        "print(km.session.module_text())"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert b"renamed" in printed[0]


def test_quoted_names_are_called_by_their_name(session):
    session.define(chain(["a b", 'say "é"'], 5), name="unit")
    assert np.asarray(session.functions["a b"]()[0]) == 11
    assert np.asarray(session.functions['say "é"']()[0]) == 6


@pytest.mark.parametrize("names", [QUOTED, UTF8, LONG], ids=["quoted", "utf8", "long"])
def test_names_survive_saving(session, tmp_path, names):
    linked_thrice(session, names)
    before = session.module_text()
    session.save(tmp_path / "s.mlir.bc")
    session.restore(tmp_path / "s.mlir.bc")
    assert session.module_text() == before
    assert set(session.functions) >= set(names)
