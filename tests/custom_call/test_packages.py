"""Handlers that installed packages bring: listed, wanted, chosen."""

import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.errors import CustomCallError
from tests.cells import run

X = np.arange(3, dtype=np.float32)


@pytest.fixture
def registry() -> Iterator[CustomCallRegistry]:
    made = CustomCallRegistry()
    yield made
    made.reset()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a package where Python finds it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def do(name: str, source: str, *targets: str) -> None:
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = "".join(f"{target} = {module}:offer\n" for target in targets)
        (info / "entry_points.txt").write_text(f"[kernel_magics.custom_calls]\n{lines}")

    yield do
    for path in Path(tmp_path).glob("*.py"):
        sys.modules.pop(path.stem, None)


TIMES = """
def times(x):
    return FACTOR * x

def offer():
    return {"handler": times, "contract": "(f32[n]) -> f32[n]"}
"""


def times(factor: int) -> str:
    return TIMES.replace("FACTOR", str(factor))


def test_offers_are_listed_without_an_import_and_loaded_when_wanted(install, registry):
    install("lab-times", times(2), "pkg.times")
    (offer,) = registry.offers
    assert (offer.target, offer.package, offer.version) == ("pkg.times", "lab-times", "1.2")
    assert offer.place == "lab_times:offer"
    assert "lab_times" not in sys.modules
    found = jax.jit(lambda x: registry.call("pkg.times", x))(X)
    np.testing.assert_array_equal(found, 2 * X)
    assert "lab_times" in sys.modules


def test_which_of_several_serves_is_the_users_choice(install, registry):
    install("a-times", times(2), "pkg.times")
    install("b-times", times(3), "pkg.times")
    assert [offer.package for offer in registry.offers] == ["a-times", "b-times"]
    function = jax.jit(lambda x: registry.call("pkg.times", x))
    np.testing.assert_array_equal(function(X), 2 * X)
    registry.prefer({"pkg.times": "b-times"})
    np.testing.assert_array_equal(function(X), 3 * X)
    with pytest.raises(CustomCallError) as error:
        registry.prefer({"pkg.times": "c-times"})
    assert str(error.value) == (
        "The package `c-times` offers no custom call `pkg.times`; did you mean `b-times`?\n"
        "  offered by: a-times, b-times\n"
        "  `km.custom_calls.offers` lists what installed packages offer."
    )


def test_what_the_user_registers_comes_first_and_what_he_takes_away_stays_away(install, registry):
    install("lab-times", times(2), "pkg.times")
    registry.register("pkg.times", handler=lambda x: x + 1, contract="(f32[n]) -> f32[n]")  # fmt: skip
    np.testing.assert_array_equal(registry.call("pkg.times", X), X + 1)
    registry.unregister("pkg.times")
    with pytest.raises(CustomCallError):
        registry.registration("pkg.times")
    registry.reset()
    np.testing.assert_array_equal(registry.call("pkg.times", X), 2 * X)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "raise ImportError('libcuda is missing')",
            (
                "The package `lab-bad` offers the custom call `bad`, and fails: ImportError: libcuda is "
                "missing\n  entry point: lab_bad:offer\n"
                "  Update or remove the package, or register a handler of your own."
            ),
        ),
        (
            "offer = 3",
            (
                "The package `lab-bad` offers the custom call `bad`, and does not say how it is "
                "registered\n  entry point: lab_bad:offer\n  given: 3\n"
                "  A mapping of keywords of `km.custom_calls.register` is wanted."
            ),
        ),
    ],
    ids=["fails", "says nothing"],
)
def test_packages_that_fail_are_named(install, registry, source, words):
    install("lab-bad", source, "bad")
    with pytest.raises(CustomCallError) as error:
        registry.call("bad", X)
    assert str(error.value) == words


def test_cells_want_them_too(install, shell):
    install("lab-times", times(2), "pkg.times")
    km.custom_calls.reset()
    run(shell, """%%hlo twice
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @pkg.times(%x) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}""")  # fmt: skip
    np.testing.assert_array_equal(shell.user_ns["twice"](X)[0], 2 * X)
    km.custom_calls.reset()
