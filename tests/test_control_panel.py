"""The control panel shows what the kernel has, does what its buttons say, and refuses in words."""

import threading

import pytest

import kernel_magics as km
from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.errors import PluginError
from kernel_magics.plugin.comparison import Comparison, PluginRun
from kernel_magics.plugin.difference import Difference
from kernel_magics.plugin.manager import PluginManager
from kernel_magics.widgets.control_panel import ControlPanel
from kernel_magics.widgets.panel_compare import compare_view
from kernel_magics.widgets.working import Working

PATIENCE_S = 60
CALLS = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @panel_double(%x) {api_version = 4 : i32, backend_config = {}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
DOUBLE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.fixture
def plugins():
    manager = PluginManager()
    yield manager
    manager.reset()


@pytest.fixture
def calls():
    registry = CustomCallRegistry()
    yield registry
    registry.reset()


@pytest.fixture
def panel(session, plugins, calls, monkeypatch):
    panel = ControlPanel(session, plugins, calls)
    panel.replies = []
    monkeypatch.setattr(panel, "send", lambda content, *_: panel.replies.append(content))
    yield panel
    panel.close()


def ask(panel, kind, **fields) -> dict:
    """Sends a command; gives the reply to it."""
    panel._receive(None, {"kind": kind, "id": "1", **fields}, None)
    return panel.replies[-1]


def becomes(panel, claim) -> None:
    """Waits until the panel shows something."""
    is_so = threading.Event()

    def look(_=None):
        if claim(panel.view):
            is_so.set()

    panel.observe(look, names="view")
    look()
    assert is_so.wait(PATIENCE_S), panel.view
    panel.unobserve(look, names="view")


def row(panel, name) -> dict:
    return next(row for row in panel.view["plugins"] if row["name"] == name)


def test_what_a_cell_loads_and_uses_shows_in_the_panel(panel, plugins):
    plugins.load("cpu2", devices=2)
    assert row(panel, "cpu2")["state"] == "loaded"
    assert row(panel, "cpu2")["actions"] == ["use", "forget"]
    assert row(panel, "cpu2")["devices"].startswith("2 × ")
    plugins.use("cpu2")
    assert row(panel, "cpu2")["state"] == "in use"
    assert row(panel, "cpu2")["actions"] == []
    assert row(panel, "cpu")["actions"] == ["use"]
    assert panel.view["notes"][0] == "new work runs on cpu2"


def test_buttons_use_and_forget(panel, plugins):
    plugins.load("cpu2", devices=2)
    reply = ask(panel, "plugin", action="use", name="cpu2")
    assert reply == {"kind": "done", "id": "1", "words": "new work runs on cpu2"}
    assert plugins.active == "cpu2"
    assert ask(panel, "plugin", action="use", name="cpu")["kind"] == "done"
    assert ask(panel, "plugin", action="forget", name="cpu2")["kind"] == "done"
    assert row(panel, "cpu2")["state"] == "forgotten"


def test_what_is_refused_says_why_and_changes_nothing(panel, plugins):
    plugins.load("cpu2", devices=2)
    before = panel.view
    reply = ask(panel, "plugin", action="use", name="nosuch")
    assert reply["kind"] == "refused"
    assert "nosuch" in reply["message"]
    assert reply["advice"]
    assert panel.view == before


def test_work_that_takes_long_is_done_in_a_thread_and_tells_what_it_came_to(panel, monkeypatch):
    may_end = threading.Event()

    def load(name, *_):
        may_end.wait(PATIENCE_S)
        raise PluginError(f"Plugin `{name}` does not work", details=["why"], advice="Do this.")

    panel._actions._plugins.load("cpu2", devices=2)
    monkeypatch.setattr(panel._actions._plugins, "load", load)
    assert ask(panel, "plugin", action="load", name="cpu2")["words"] == "loading"
    becomes(panel, lambda view: any(row["waiting"] for row in view["plugins"]))
    assert row(panel, "cpu2")["state"] == "probing"
    assert row(panel, "cpu2")["actions"] == []
    again = ask(panel, "plugin", action="load", name="cpu2")
    assert again["message"] == "That is being done"
    may_end.set()
    becomes(panel, lambda view: view["failure"] is not None)
    assert panel.view["failure"] == {
        "message": "Plugin `cpu2` does not work",
        "detail": "why",
        "advice": "Do this.",
    }
    becomes(panel, lambda view: not any(row["waiting"] for row in view["plugins"]))
    ask(panel, "refresh")
    assert panel.view["failure"] is None


def test_targets_of_the_session_are_covered_or_missing(panel, session, calls, plugins):
    plugins.load("cpu2", devices=2)
    session.define(CALLS, name="unit")
    panel.refresh()
    (covered,) = panel.view["coverage"]
    assert (covered["target"], covered["called_in"]) == ("panel_double", "@main")
    place = panel.view["covered"].index("cpu")
    assert covered["cells"][place] == "missing"
    assert panel.view["missing"].startswith("`panel_double` has no handler on cpu")
    calls.register("panel_double", fallback=lambda x: 2 * x)
    panel.refresh()
    assert panel.view["coverage"][0]["cells"][place] == "fallback"
    calls.register("panel_double", handler=lambda x: 2 * x, contract="(x: f32[n]) -> f32[n]")
    panel.refresh()
    assert panel.view["coverage"][0]["cells"][place] == "served"
    assert panel.view["missing"] == ""
    (shown,) = panel.view["calls"]
    assert (shown["target"], shown["contract"]) == ("panel_double", "(x: f32[n]) -> f32[n]")
    assert ask(panel, "unregister", target="panel_double")["kind"] == "done"
    assert panel.view["calls"] == []
    assert ask(panel, "unregister", target="panel_double")["kind"] == "refused"


def test_a_library_that_is_not_there_is_refused_with_its_path(panel, tmp_path):
    path = str(tmp_path / "nosuch.so")
    fields = {"target": "f", "library": path, "symbol": "", "plugins": [], "is_tried": True}
    reply = ask(panel, "register", **fields)
    assert reply["kind"] == "refused"
    assert "nosuch.so" in reply["message"] + reply["detail"]
    assert panel.view["calls"] == []


def test_a_function_is_compared_on_plugins(panel, session, plugins):
    plugins.load("cpu2", devices=2)
    session.define(DOUBLE, name="double")
    panel.refresh()
    assert "double" in panel.view["functions"]
    assert ask(panel, "compare", function="double", plugins=["cpu", "cpu2"])["kind"] == "done"
    becomes(panel, lambda view: view["comparisons"] and not view["comparing"])
    (found,) = panel.view["comparisons"]
    assert [run["plugin"] for run in found["rows"]] == ["cpu", "cpu2"]
    assert found["rows"][1]["result"] == "equal"
    assert found["summary"].startswith("fastest: ")
    assert ask(panel, "compare", function="gone", plugins=["cpu"])["kind"] == "refused"
    assert ask(panel, "compare", function="double", plugins=[])["kind"] == "refused"


def test_results_are_weighed():
    runs = [
        PluginRun("a", run_time_s=2e-3, run_times_s=(2e-3,) * 5),
        PluginRun("b", run_time_s=1e-3, run_times_s=(1e-3,) * 5, difference=Difference(1e-3, 1e-3, 8)),
        PluginRun("c", run_time_s=4e-3, difference=Difference(unlike=3), nan_count=3),
        PluginRun("d", error="no device"),
    ]  # fmt: skip
    view = compare_view(Comparison("f", "f32[2]", runs))
    assert [(r["result"], r["weight"]) for r in view["rows"]] == [
        ("finite", ""),
        ("differs", "warn"),
        ("3 NaN or Inf on one side", "bad"),
        ("", "bad"),
    ]
    assert [r["share"] for r in view["rows"]] == [0.5, 0.25, 1.0, 0.0]
    assert [r["is_fastest"] for r in view["rows"]] == [False, True, False, False]
    assert view["rows"][3]["problem"] == "no device"
    assert view["summary"] == "fastest: b, 100 % ahead of a (runs spread by 0 %)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "explode"}, "the kernel knows no command 'explode': reload the page"),
        ({"kind": "plugin"}, "the command `plugin` needs 'action': reload the page"),
        (
            {"kind": "compare", "function": "f", "plugins": [1]},
            "the command `compare` needs 'plugins': reload the page",
        ),
    ],
)
def test_a_command_of_another_version_is_refused(panel, content, message):
    panel._receive(None, {"id": "7", **content}, None)
    assert panel.replies[-1]["kind"] == "refused"
    assert panel.replies[-1]["message"] == f"ValueError: {message}"


def test_nothing_is_sent_where_nothing_has_changed(panel):
    sent = []
    panel.observe(sent.append, names="view")
    panel.refresh()
    ControlPanel.refresh_all()
    assert sent == []


def test_a_closed_panel_follows_nothing(session, plugins, calls):
    panel = ControlPanel(session, plugins, calls)
    panel.close()
    before = panel.view
    plugins.load("cpu2", devices=2)
    ControlPanel.refresh_all()
    assert panel.view == before


def test_terminals_and_saved_notebooks_show_the_tables(panel):
    bundle, _ = panel._repr_mimebundle_()
    assert bundle["text/plain"] == repr(panel)
    assert "no custom calls are registered" in repr(panel)
    assert "cpu" in repr(panel)


def test_km_control_panel_is_over_the_objects_of_the_kernel():
    panel = km.control_panel()
    assert isinstance(panel, km.ControlPanel)
    assert panel._actions._plugins is km.plugins
    panel.close()


def test_work_is_done_once_at_a_time_and_its_end_is_told():
    told, may_end, ended = [], threading.Event(), threading.Event()
    working = Working(lambda: told.append(dict(working.words())))
    assert working.begin("x", "trying it", lambda: (may_end.wait(PATIENCE_S), ended.set()))
    assert not working.begin("x", "trying it", lambda: None)
    assert list(working.words()) == ["x"]
    may_end.set()
    assert ended.wait(PATIENCE_S)


def test_panels_follow_each_cell_of_a_shell(shell):
    shell.run_cell("import kernel_magics as km; panel = km.control_panel()")
    shell.run_cell("%%hlo --no-compile --show nothing doubled\n" + DOUBLE)
    assert "doubled" in shell.user_ns["panel"].view["functions"]
    shell.user_ns["panel"].close()
