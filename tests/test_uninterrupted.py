"""A Ctrl-C in the middle of steps that belong together waits for their end."""

import os
import signal
import threading

import pytest

from kernel_magics.interrupts import uninterrupted


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_comes_at_the_end():
    steps = []

    @uninterrupted()
    def work():
        press()
        steps.append("one")
        with uninterrupted():
            press()
            steps.append("two")
        steps.append("three")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["one", "two", "three"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_in_between_wins():
    @uninterrupted()
    def work():
        press()
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        work()


def test_other_threads_are_left_alone():
    found = []

    def work():
        with uninterrupted():
            found.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]


def test_a_definition_is_whole_when_it_was_interrupted(session, monkeypatch):
    from kernel_magics import linked_units

    def make_unit(*given, **named):
        press()
        return original(*given, **named)

    original = linked_units.make_unit
    monkeypatch.setattr(linked_units, "make_unit", make_unit)
    text = "func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    with pytest.raises(KeyboardInterrupt):
        session.define(text, name="unit")
    assert session.functions["f"](1.0)[0] == 1.0
    session.drop("unit")
    assert "func.func" not in session.module_text()
