"""`%hlo plugins`, `%hlo use`, `%%hlo --on`, and what a profile prefers."""

import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import PluginError, UsageError
from kernel_magics.plugin.info import PluginTable
from tests.cells import DOUBLE, X, refused, run


@pytest.fixture
def plugins(kernel_plugins):
    kernel_plugins.load("cpu4", devices=4)
    return kernel_plugins


@pytest.mark.usefixtures("plugins")
def test_plugins_are_listed(shell):
    table, _ = run(shell, "%hlo plugins")
    assert isinstance(table, PluginTable)
    assert [(row.name, row.state) for row in table][:1] == [("cpu", "in use")]
    assert table["cpu4"].state == "loaded"
    assert repr(table).split("\n")[0].startswith("plugin  ")
    assert "<td>cpu4</td>" in table._repr_html_()


def test_use_sends_all_that_follows_there(plugins, shell):
    view, _ = run(shell, "%hlo use cpu4")
    assert repr(view) == "plugin `cpu4` is in use: 4 × cpu"
    value, _ = run(shell, "import jax.numpy as jnp\njnp.arange(3) + 1")
    assert plugins.where(value) == "cpu4"
    cell, captured = run(shell, f"%%hlo double\n{DOUBLE}")
    assert "compiled for cpu4 in" in repr(cell) + captured.stdout
    assert plugins.where(shell.user_ns["double"](X)) == "cpu4"
    view, _ = run(shell, "%hlo use cpu4 --device 2")
    assert repr(view) == "plugin `cpu4` is in use: 4 × cpu, device 2"
    run(shell, "%hlo use cpu")
    assert plugins.where(shell.user_ns["double"](X)) == "cpu"


def test_a_cell_runs_on_a_plugin_of_its_own(plugins, shell):
    cell, captured = run(shell, f"%%hlo double --on cpu4\n{DOUBLE}")
    assert "compiled for cpu4 in" in repr(cell) + captured.stdout
    assert plugins.active == "cpu"
    double = shell.user_ns["double"]
    found = double(X)
    assert plugins.where(found) == "cpu4"
    np.testing.assert_array_equal(found[0], X * 2)
    assert plugins.where(double(plugins.move(X, "cpu4"))) == "cpu4"
    with pytest.raises(km.KernelMagicsError, match="is bound to `cpu:0`, and `cpu4:0` is in use"):
        double(plugins.move(X, "cpu"))
    run(shell, f"%%hlo double\n{DOUBLE}")
    assert plugins.where(shell.user_ns["double"](X)) == "cpu"


def test_a_cell_whose_plugin_was_forgotten_says_so(plugins, shell):
    run(shell, f"%%hlo double --on cpu4\n{DOUBLE}")
    plugins.forget("cpu4")
    double = shell.user_ns["double"]
    with pytest.raises(km.KernelMagicsError) as error:
        double(X)
    assert str(error.value) == (
        "`@main` is to run on `cpu4:0`, which was forgotten\n"
        "  It was defined with `--on`, or given a `device`.\n"
        "  Load the plugin again and run the cell again, or set `device = None`."
    )
    plugins.load("cpu4", devices=2)
    run(shell, f"%%hlo double --on cpu4\n{DOUBLE}")
    assert plugins.where(shell.user_ns["double"](X)) == "cpu4"


def test_a_cell_for_a_plugin_that_is_not_loaded_changes_nothing(plugins, shell):
    message = refused(shell, f"%%hlo double --on nope\n{DOUBLE}", PluginError)
    assert message.startswith("There is no plugin `nope`\n  known: `cpu` (loaded), ")
    assert refused(shell, "%hlo use nope", PluginError).startswith("There is no plugin `nope`")
    assert refused(shell, "%hlo use", UsageError).startswith("`%hlo use`: ")
    assert plugins.active == "cpu"


def test_the_first_plugin_that_works_of_the_settings_is_used(kernel_plugins, shell, capsys):
    kernel_plugins.load("cpu4", devices=4)
    capsys.readouterr()
    _, captured = run(shell, '%config KernelMagics.plugins = ["nosuch", "cpu4", "cpu"]')
    assert captured.stdout.strip() == (
        "plugin `cpu4` is in use; `nosuch` is not: there is no such plugin"
    )
    assert kernel_plugins.active == "cpu4"
    run(shell, "%config KernelMagics.plugins = []")
    kernel_plugins.use(None)


def test_the_environment_comes_before_the_settings(kernel_plugins, shell, monkeypatch):
    monkeypatch.setenv("KERNEL_MAGICS_PLUGINS", "cuda, cpu")
    _, captured = run(shell, "%reload_ext kernel_magics")
    assert captured.stdout.strip() == (
        "plugin `cpu` is in use; `cuda` is not: there is no such plugin"
    )
    monkeypatch.setenv("KERNEL_MAGICS_PLUGINS", "rocm")
    _, captured = run(shell, "%reload_ext kernel_magics")
    assert captured.stdout.strip() == (
        "no preferred plugin works; `rocm` is not: there is no such plugin"
    )
    kernel_plugins.use(None)


@pytest.mark.usefixtures("kernel_plugins")
def test_a_broken_environment_is_told_where_the_extension_is_loaded(shell, monkeypatch):
    monkeypatch.setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "nowhere:/nosuch.so")
    _, captured = run(shell, "%reload_ext kernel_magics")
    assert captured.stdout.strip() == "plugin nowhere: broken (there is no such file)"
