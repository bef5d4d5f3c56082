"""Results, times and memory of several plugins, side by side."""

import re

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.errors import PluginError, SignatureError, UsageError
from kernel_magics.plugin.comparison import Comparison, PluginRun
from kernel_magics.plugin.difference import Difference
from tests.plugin.conftest import PATIENCE_S, REAL, library

SCALE = """func.func @main(%x: tensor<4x3xf32>, %n: tensor<i32>, %b: tensor<2xi1>) -> tensor<4x3xf32> {
  %0 = stablehlo.exponential %x : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}"""
DYNAMIC = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}"""


@pytest.fixture
def plugins(kernel_plugins):
    kernel_plugins.load("cpu4", devices=4)
    return kernel_plugins


def test_a_function_is_compared_on_all_that_is_loaded(plugins):
    for name in REAL:
        library(name)
        plugins.load(name, timeout_s=PATIENCE_S)
    km.session.reset()
    found = plugins.compare(km.load(SCALE), runs=3)
    assert {run.plugin for run in found.runs} == {"cpu", "cpu4", *REAL}
    assert found.reference == "cpu"
    assert found["cpu"].difference is None
    for run in found.runs:
        assert run.error == ""
        assert run.compile_time_s > 0
        assert len(run.run_times_s) == 3
        assert run.run_time_s in run.run_times_s
        assert run.memory_bytes >= 2 * 48
        np.testing.assert_allclose(run.results[0], found["cpu"].results[0], rtol=1e-5)
    assert found["cpu4"].difference.is_zero
    assert found.what == "@main of unit 1"
    assert found.inputs == "f32[4,3], i32[], bool[2], made from seed 0"
    assert plugins.active == "cpu"


def test_the_same_seed_gives_the_same_and_another_another(plugins):
    function = km.load(SCALE)
    results = [plugins.compare(function, on=["cpu"], runs=1, seed=seed) for seed in (1, 1, 2)]
    arrays = [found["cpu"].results[0] for found in results]
    np.testing.assert_array_equal(arrays[0], arrays[1])
    assert not np.array_equal(arrays[0], arrays[2])


def test_any_function_of_jax_is_compared_on_arguments_that_are_given(plugins):
    def work(x, y):
        return {"sum": x + y["y"], "nan": jnp.log(x - 2)}

    x = plugins.move(np.arange(3.0, dtype=np.float32), "cpu4")
    found = plugins.compare(work, x, {"y": jnp.ones(3)}, on=["cpu4", "cpu"], runs=2)
    assert found.what == "work"
    assert found.inputs == "f32[3], f32[3]"
    assert (found["cpu"].nan_count, found["cpu"].infinite_count) == (2, 1)
    assert found["cpu"].difference.is_zero
    assert plugins.where(x) == "cpu4"


def test_a_plugin_that_fails_has_its_error_and_stops_no_other(plugins):
    library("xla_cpu_pjrt")
    plugins.load("xla_cpu_pjrt", timeout_s=PATIENCE_S)

    def absent(x):
        return jax.ffi.ffi_call("kernel_magics_absent", jax.ShapeDtypeStruct((3,), x.dtype))(x)

    found = plugins.compare(absent, np.ones(3, np.float32), on=["xla_cpu_pjrt", "cpu"])
    assert "kernel_magics_absent" in found["xla_cpu_pjrt"].error
    assert "kernel_magics_absent" in found["cpu"].error
    assert found.reference == ""
    lines = repr(found).split("\n")
    assert lines[0] == "absent on f32[3]"
    assert re.fullmatch(r"xla_cpu_pjrt +failed", lines[2])
    assert lines[4].startswith("xla_cpu_pjrt: JaxRuntimeError: ")


def test_what_is_wrong_with_the_function_itself_is_raised_as_it_is(plugins):
    def wrong(x):
        raise ZeroDivisionError(x.shape)

    with pytest.raises(ZeroDivisionError):
        plugins.compare(wrong, np.ones(3))
    with pytest.raises(SignatureError, match="^`@main` takes 3 arguments, 1 was given"):
        plugins.compare(km.load(SCALE), np.ones(3))


def test_arguments_of_dynamic_shapes_must_be_given(plugins):
    function = km.load(DYNAMIC)
    with pytest.raises(SignatureError) as error:
        plugins.compare(function)
    assert str(error.value) == (
        "No arguments can be made up for `@main`\n"
        "  its dimensions are known only when it is called: @main(x: f32[?]) -> (f32[?])\n"
        "  Give arguments: `km.plugins.compare(function, x, …)`."
    )
    assert plugins.compare(function, np.ones(3, np.float32), runs=1)["cpu"].error == ""


def test_plugins_that_are_not_loaded_and_no_runs_are_refused(plugins):
    with pytest.raises(PluginError, match="^There is no plugin `nope`"):
        plugins.compare(km.load(SCALE), on=["cpu", "nope"])
    with pytest.raises(UsageError) as error:
        plugins.compare(km.load(SCALE), runs=0)
    assert str(error.value) == (
        "A comparison cannot have 0 runs\n"
        "  expected: one or more, after the first, which is not measured\n"
        "  `runs=20` is what is done without this."
    )


TABLE = Comparison(
    "@main",
    "f32[3]",
    [
        PluginRun("cpu", "", 0.05, 10e-6, (10e-6,), 24),
        PluginRun(
            "<b>evil\u202e&",
            "",
            0.5,
            40e-6,
            (40e-6,),
            None,
            Difference(0.25, 0.5, 1234, "result 0 [1]: 1.5, not 1.25", 2),
            1,
        ),
        PluginRun("gpu", "RuntimeError: <script>alert(1)</script>"),
    ],
)

TEXT = """\
@main on f32[3]; differences from cpu
plugin           compile  run    memory  largest difference                                        NaN  Inf
cpu              50 ms    10 µs  24 B    compared to                                               0    0    ████
<b>evil\\u202e&  500 ms   40 µs          0.25 abs, 0.5 rel, 1,234 ULP, 2 NaN or Inf on one side  1    0    ████████████████
gpu              failed
gpu: RuntimeError: <script>alert(1)</script>
<b>evil\\u202e&: result 0 [1]: 1.5, not 1.25"""


def test_a_comparison_is_a_table_in_text():
    assert [re.sub(" +", " ", line) for line in repr(TABLE).split("\n")] == [
        re.sub(" +", " ", line) for line in TEXT.split("\n")
    ]


def test_a_comparison_is_a_page_in_which_nothing_runs():
    import xml.etree.ElementTree as ET

    page = TABLE._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert "\u202e" not in page
    root = ET.fromstring(TABLE.to_svg())  # noqa: S314 - our own
    bars = [float(bar.get("width")) for bar in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert bars[0] == pytest.approx(bars[1] / 4, rel=0.01)
    assert bars[2] == 0
    assert {element.tag.split("}")[1] for element in root.iter()} == {
        "svg",
        "title",
        "text",
        "rect",
    }


def test_a_row_is_found_by_its_plugin():
    assert TABLE["gpu"].error
    with pytest.raises(KeyError):
        TABLE["nope"]
