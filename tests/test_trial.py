"""When a program is tried in a child first, and what a cell says of it."""

import jax
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.call import trial
from kernel_magics.errors import SandboxError, UsageError
from kernel_magics.sandbox.policy import Policy, policy, using
from kernel_magics.sandbox.process import Answer
from tests.cells import DOUBLE, refused, run

UNPROVEN = "func.func @main(%x: tensor<{0}xi4>) -> tensor<{0}xi4> {{ %0 = stablehlo.popcnt %x : tensor<{0}xi4>\n return %0 : tensor<{0}xi4> }}"


@pytest.fixture
def tried(monkeypatch):
    """Names of the entries that were tried, by a child that is well."""
    found = []

    def note(program, _avals, **_):
        found.append(program.entry)
        return Answer({}, (), 0.0)

    monkeypatch.setattr(trial, "try_compile", note)
    monkeypatch.setattr(trial, "_survived", trial.OrderedDict())
    return found


@pytest.fixture
def deadly(monkeypatch):
    """A child that dies of everything."""

    def die(program, _avals, **_):
        raise SandboxError(f"Trying `@{program.entry}` ended the child process: SIGSEGV")

    monkeypatch.setattr(trial, "try_compile", die)
    monkeypatch.setattr(trial, "_survived", trial.OrderedDict())


def test_what_is_proven_goes_straight_on(shell, tried):
    run(shell, "%%hlo double\n" + DOUBLE)
    assert tried == []


def test_what_is_unproven_is_tried_once_for_each_shape(shell, tried):
    view = run(shell, "%%hlo counted\n" + UNPROVEN.format(3))[0]
    assert tried == ["main"]
    assert "tried in a child process · compiled for cpu" in repr(view)
    shell.user_ns["counted"](np.zeros(3, "int4"))
    run(shell, "%%hlo again\n// the same\n" + UNPROVEN.format(3))
    assert tried == ["main"]
    run(shell, "%%hlo counted\n" + UNPROVEN.format(4))
    assert tried == ["main", "main"]


def test_the_user_can_say_when(shell, tried):
    run(shell, "%%hlo double --trial always\n" + DOUBLE)
    assert tried == ["main"]
    run(shell, "%%hlo counted --trial never\n" + UNPROVEN.format(5))
    assert tried == ["main"]
    run(shell, "%config KernelMagics.trial = 'never'")
    run(shell, "%%hlo counted\n" + UNPROVEN.format(6))
    assert tried == ["main"]
    run(shell, "%config KernelMagics.trial = 'auto'")
    run(shell, "%%hlo counted\n" + UNPROVEN.format(7))
    assert tried == ["main", "main"]
    assert policy() == Policy()


def test_calls_under_jit_are_tried_too(tried):
    text = UNPROVEN.format(8)
    jax.jit(lambda x: km.hlo_call(text, x)[0])(np.zeros(8, "int4"))
    assert tried == ["main"]
    with using(Policy("always")):
        km.hlo_call(DOUBLE, np.zeros(3, "f4"))
    assert tried == ["main", "main"]


@pytest.mark.usefixtures("deadly")
def test_a_cell_whose_trial_died_leaves_no_trace(shell):
    message = refused(shell, "%%hlo counted\n" + UNPROVEN.format(9), SandboxError)
    assert message.startswith("Trying `@main` ended the child process: SIGSEGV\n  cell:2:58")
    assert "not proven: `stablehlo.popcnt` on `i4`" in message
    run(shell, "%%hlo unit\n" + DOUBLE)
    refused(shell, "%%hlo unit\n" + UNPROVEN.format(9), SandboxError)
    np.testing.assert_array_equal(shell.user_ns["unit"](np.ones(3, "f4"))[0], [2, 2, 2])


@pytest.mark.parametrize("words", ["--timeout 0", "--timeout x", "--timeout inf", "--trial often"])
def test_bad_words_are_refused(shell, words):
    refused(shell, f"%%hlo unit {words}\n{DOUBLE}", UsageError)


def test_a_timeout_limits_the_trial(shell, monkeypatch):
    limits = []
    monkeypatch.setattr(
        trial, "try_compile", lambda *_, timeout_s: limits.append(timeout_s) or Answer({}, (), 0.0)
    )
    run(shell, "%%hlo counted --timeout 2.5\n" + UNPROVEN.format(10))
    assert limits == [2.5]
    assert policy().timeout_s == Policy().timeout_s


def test_bound_programs_are_part_of_the_trial(shell, tried):
    run(shell, "%%hlo --no-compile\n" + UNPROVEN.format(11).replace("@main", "@library"))
    declared = "func.func private @library(tensor<11xi4>) -> tensor<11xi4>\n"
    caller = "func.func @main(%x: tensor<11xi4>) -> tensor<11xi4> { %0 = call @library(%x) : (tensor<11xi4>) -> tensor<11xi4>\n return %0 : tensor<11xi4> }"
    run(shell, f"%%hlo app\n{declared}{caller}")
    assert tried == ["main"]
