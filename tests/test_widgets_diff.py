"""Texts of a unit compared: earlier ones, as written, as printed, in the module."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernel_magics as km
from kernel_magics.session_changes import MOST_VERSIONS, SessionChanges
from kernel_magics.widgets.answers import Answers
from kernel_magics.widgets.diff import Diffs
from kernel_magics.widgets.diff_runs import diff_runs
from kernel_magics.widgets.subject import subject_of

FIRST = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @helper(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @helper(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
SECOND = FIRST.replace("stablehlo.add", "stablehlo.multiply")
lines = st.lists(st.sampled_from(["}", "return", "a", "b", "c", "d"]), max_size=40)


def diffs_of(thing) -> Diffs:
    subject = subject_of(thing)
    return Diffs(Answers(subject.snapshot(), subject.printed))


def cut(texts, run, side):
    return texts[run[side] : run[side] + run[f"{side}_count"]]


@given(lines, lines)
def test_runs_put_together_are_both_texts(left, right):
    runs = diff_runs(left, right)
    assert [line for run in runs for line in cut(left, run, "left")] == left
    assert [line for run in runs for line in cut(right, run, "right")] == right
    for run in runs:
        assert run["left_count"] or run["right_count"]
        if run["kind"] == "same":
            assert cut(left, run, "left") == cut(right, run, "right")
    assert all(one["kind"] != other["kind"] for one, other in pairwise(runs))


def test_a_moved_line_leaves_the_others_the_same():
    (before, changed, after) = diff_runs(["a", "b", "c", "}"], ["a", "x", "c", "}"])
    assert (before["left_count"], after["left_count"]) == (1, 2)
    assert (changed["left"], changed["left_count"], changed["right_count"]) == (1, 1, 1)


def test_changed_lines_are_paired_with_what_is_like_them():
    left = ["  return %0 : tensor<8xf32>"]
    right = ["  %1 = stablehlo.negate %0 : tensor<8xf32>", "  return %1 : tensor<8xf32>"]
    (run,) = diff_runs(left, right)
    assert run["pairs"] == [0, 1]


def test_texts_of_equal_lines_without_an_anchor_take_no_time():
    left = ["}", "return"] * 40_000
    right = ["return", "return", "}"] * 30_000
    runs = diff_runs(left, right)
    assert sum(run["left_count"] for run in runs) == len(left)


def test_a_unit_against_the_module_shows_what_linking_renamed(session):
    session.define(FIRST, name="first")
    session.define(SECOND, name="second")
    diffs = diffs_of(session)
    assert [unit["unit"] for unit in diffs.versions()["units"]] == [0, 1]
    new_name = session.units["second"].report["helper"].new_name
    found = diffs.diff(1, "printed", "merged")
    changed = [run for run in found["runs"] if run["kind"] == "changed"]
    assert found["changes"] == len(changed) == 2
    left = diffs.lines(1, "printed", 0, 500)
    right = diffs.lines(1, "merged", 0, 500)
    pairs = [
        (left["lines"][run["left"] + n].strip(), right["lines"][run["right"] + n].strip())
        for run in changed
        for n in range(run["left_count"])
    ]
    assert (
        "%0 = call @helper(%arg0) : (tensor<3xf32>) -> tensor<3xf32>",
        f"%0 = call @{new_name}(%arg0) : (tensor<3xf32>) -> tensor<3xf32>",
    ) in pairs
    merged = session.module_text().split("\n")
    assert [merged[number - 1] for number in right["numbers"]] == right["lines"]


def test_versions_of_a_replaced_unit_are_compared(session):
    for body in (FIRST, SECOND, FIRST.replace("add", "subtract")):
        session.define(body, name="unit")
    diffs = diffs_of(session)
    (unit,) = diffs.versions()["units"]
    assert [version["key"] for version in unit["versions"]] == [
        "1",
        "2",
        "written",
        "printed",
        "merged",
    ]
    found = diffs.diff(0, "1", "written")
    (changed,) = [run for run in found["runs"] if run["kind"] == "changed"]
    assert diffs.lines(0, "1", changed["left"], 1)["lines"] == [
        "  %0 = stablehlo.add %x, %x : tensor<3xf32>"
    ]
    assert diffs.lines(0, "written", changed["right"], 1)["lines"] == [
        "  %0 = stablehlo.subtract %x, %x : tensor<3xf32>"
    ]


def test_the_same_text_again_is_no_version(session):
    session.define(FIRST, name="unit")
    session.define(FIRST, name="unit")
    assert session.earlier_texts("unit") == ()


def test_a_dropped_unit_leaves_no_versions(session):
    session.define(FIRST, name="unit")
    session.define(SECOND, name="unit")
    assert session.earlier_texts("unit") == (FIRST,)
    session.drop("unit")
    assert session.earlier_texts("unit") == ()


def test_few_versions_are_kept():
    changes = SessionChanges()
    for number in range(MOST_VERSIONS + 5):
        changes.keep("unit", f"text {number}")
    kept = changes.earlier("unit")
    assert len(kept) == MOST_VERSIONS
    assert kept[0] == "text 5"
    changes.undo("unit")
    assert changes.earlier("unit")[-1] == f"text {MOST_VERSIONS + 3}"


def test_texts_of_all_units_are_kept_up_to_a_size():
    changes = SessionChanges()
    for number in range(5):
        changes.keep(f"unit {number}", "x" * 3_000_000)
    assert [bool(changes.earlier(f"unit {n}")) for n in range(5)] == [False] * 3 + [True] * 2


@pytest.mark.parametrize(("unit", "version"), [(7, "written"), (0, "1"), (0, "nonsense")])
def test_what_is_not_there_is_said(session, unit, version):
    session.define(FIRST, name="unit")
    with pytest.raises(LookupError, match="the (module|unit) has no such"):
        diffs_of(session).lines(unit, version, 0, 1)


def test_a_function_alone_is_compared_with_its_print(session):
    function = session.load(FIRST, name="unit")
    for thing in (function, km.HloFunction(function.program)):
        diffs = diffs_of(thing)
        (unit,) = diffs.versions()["units"]
        assert [version["key"] for version in unit["versions"]] == ["written", "printed"]
        assert diffs.diff(0, "written", "printed")["changes"] > 0
        assert diffs.saved() == []
