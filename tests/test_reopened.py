"""Saved views that ask whether a kernel holds their module."""

import pytest
from ipywidgets.widgets import widget

import kernel_magics as km
from kernel_magics.magics.reopened import TARGET, ReopenedViews
from tests.cells import DOUBLE


class FakeComms:
    """What a kernel offers for comms."""

    def __init__(self) -> None:
        self.targets = {}

    def register_target(self, name, opened):
        self.targets[name] = opened

    def unregister_target(self, name, opened):
        assert self.targets.pop(name) == opened


class FakeComm:
    def __init__(self) -> None:
        self.sent, self.is_closed = [], False

    def send(self, content):
        self.sent.append(content)

    def close(self):
        self.is_closed = True


class FakeShell:
    def __init__(self) -> None:
        self.kernel = type("Kernel", (), {})()
        self.kernel.comm_manager = FakeComms()


@pytest.fixture
def asked(session):
    """Asks as the front end does; what is answered."""
    shell = FakeShell()
    views = ReopenedViews(shell, session)
    views.listen()

    def ask(*digests):
        comm = FakeComm()
        message = {"content": {"data": {"digests": list(digests)}}}
        shell.kernel.comm_manager.targets[TARGET](comm, message)
        assert comm.is_closed
        (answer,) = comm.sent
        return answer["models"]

    yield ask
    views.end()
    assert shell.kernel.comm_manager.targets == {}


def test_a_module_that_is_held_has_a_widget_and_others_have_none(session, asked):
    session.define(DOUBLE, name="double")
    digest = km.inspect(session).view["digest"]
    assert asked("0" * 16) == {}
    models = asked("0" * 16, digest)
    assert list(models) == [digest]
    assert widget._instances[models[digest]].view["digest"] == digest
    assert asked(digest) == models


def test_the_same_module_in_another_session_has_the_same_digest(session):
    session.define(DOUBLE, name="double")
    other = km.Session()
    other.define(DOUBLE, name="double")
    assert km.inspect(other).view["digest"] == km.inspect(session).view["digest"]
    other.define(DOUBLE.replace("add", "multiply"), name="double")
    assert km.inspect(other).view["digest"] != km.inspect(session).view["digest"]


def test_a_module_that_changed_is_another_one(session, asked):
    session.define(DOUBLE, name="double")
    before = km.inspect(session).view["digest"]
    assert asked(before)
    session.define(DOUBLE.replace("@main", "@triple"), name="triple")
    assert asked(before) == {}
    assert asked(km.inspect(session).view["digest"])


@pytest.mark.parametrize("digests", [(), (7, None), ("",)])
def test_a_question_without_a_digest_has_an_empty_answer(session, asked, digests):
    session.define(DOUBLE, name="double")
    assert asked(*digests) == {}


def test_an_empty_session_holds_nothing(asked):
    assert asked("0" * 16) == {}


def test_a_terminal_is_not_asked(session):
    views = ReopenedViews(object(), session)  # type: ignore[arg-type]
    views.listen()
    views.end()
