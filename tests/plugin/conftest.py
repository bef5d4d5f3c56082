"""Managers of plugins, and real plugins for them."""

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

from kernel_magics.plugin.kernel import plugins
from kernel_magics.plugin.manager import PluginManager
from kernel_magics.sandbox.kernel import end

PATIENCE_S = 300.0

REAL = {
    "fastatomstruct_xla_cpu": ("fastatomstruct-xla-cpu", "fastatomstruct_xla_cpu/libpjrt_cpu.so"),
    "xla_cpu_pjrt": ("xla-cpu-pjrt", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
}


def library(name: str) -> Path:
    """The library of a real plugin, or the test is skipped."""
    package, place = REAL[name]
    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"the package {package}, a plugin to load, is not installed")
    return Path(str(found.locate_file(place)))


@pytest.fixture
def manager() -> Iterator[PluginManager]:
    """A manager of its own, and JAX as it was afterwards."""
    made = PluginManager()
    yield made
    made.reset()


@pytest.fixture
def kernel_plugins() -> Iterator[PluginManager]:
    """`km.plugins`, as a fresh kernel has it."""
    plugins.reset()
    yield plugins
    plugins.reset()


@pytest.fixture(scope="module", params=sorted(REAL))
def real(request) -> tuple[str, Path]:
    """Name and library of each real plugin."""
    return request.param, library(request.param)


@pytest.fixture(autouse=True)
def _jax_as_it_was() -> Iterator[None]:
    before = jax.config.jax_default_device
    yield
    assert jax.config.jax_default_device == before


@pytest.fixture(scope="module", autouse=True)
def _no_child_left() -> Iterator[None]:
    yield
    end()
