"""The status bar is told which plugin is in use, and switches it."""

import pytest

from kernel_magics.plugin.manager import PluginManager
from kernel_magics.widgets import plugin_link
from kernel_magics.widgets.plugin_link import PluginLink


@pytest.fixture
def plugins():
    manager = PluginManager()
    yield manager
    manager.reset()


class FakeComm:
    """A comm whose other end is the test."""

    def __init__(self, **options):
        self.options, self.sent, self.is_closed = options, [], False

    def on_msg(self, listener):
        self.hear = listener

    def send(self, data):
        self.sent.append(data)

    def close(self):
        self.is_closed = True


@pytest.fixture
def link(plugins, monkeypatch):
    monkeypatch.setattr(plugin_link, "create_comm", FakeComm)
    plugins.load("cpu2", devices=2)
    return PluginLink(plugins)


def hear(link, data) -> dict:
    link._comm.hear({"content": {"data": data}})
    return link._comm.sent[-1]


def test_the_status_bar_is_told_and_switches(link, plugins):
    first = link._comm.options["data"]
    assert (first["active"], sorted(first["loaded"])) == ("cpu", ["cpu", "cpu2"])
    assert hear(link, {"use": "cpu2"})["active"] == "cpu2"
    assert plugins.active == "cpu2"
    plugins.use("cpu")
    link.refresh()
    assert link._comm.sent[-1]["active"] == "cpu"
    count = len(link._comm.sent)
    link.refresh()
    assert len(link._comm.sent) == count
    assert hear(link, {})["active"] == "cpu"
    link.close()
    assert link._comm.is_closed


def test_a_switch_that_is_refused_is_told_with_what_holds(link):
    state = hear(link, {"use": "nosuch"})
    assert state["active"] == "cpu"
    assert "nosuch" in state["problem"]
