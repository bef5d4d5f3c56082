"""Shared helpers of the test suite."""

import os

# Before JAX starts: sharded calls need several devices.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser
from IPython.core.interactiveshell import InteractiveShell
from IPython.testing.globalipapp import start_ipython
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.ir.context import new_context
from kernel_magics.ir.source import Source
from kernel_magics.ir.unit import ParsedUnit, read_unit


@pytest.fixture
def session() -> km.Session:
    return km.Session()


@pytest.fixture
def context() -> ir.Context:
    return new_context()


@pytest.fixture
def read(context) -> Callable[..., ParsedUnit]:
    """Reads a text into one context of the test."""

    def read_text(text: str, **place) -> ParsedUnit:
        return read_unit(Source(text, **place), context)

    return read_text


@pytest.fixture
def x64() -> Iterator[None]:
    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A shell with the extension and an empty session; leaves nothing behind."""
    shell = InteractiveShell.instance() if InteractiveShell.initialized() else start_ipython()
    assert shell is not None
    before = set(shell.user_ns)
    km.session.reset()
    shell.run_line_magic("load_ext", "kernel_magics")
    yield shell
    shell.run_line_magic("unload_ext", "kernel_magics")
    km.session.reset()
    for name in set(shell.user_ns) - before:
        del shell.user_ns[name]


@pytest.fixture
def check_ir() -> Callable[[Path, str], None]:
    """Matches printed IR against the CHECK lines of a case file."""

    def check(case: Path, printed: str) -> None:
        options = Options(match_filename=str(case))
        matcher = Matcher(options, FInput(case.name, printed), Parser.from_opts(options))
        assert matcher.run() == 0, f"{case} does not match:\n{printed}"

    return check
