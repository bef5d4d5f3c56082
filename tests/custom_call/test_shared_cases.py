"""Faults that others have met with custom calls, as the corpus tells them."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import PreflightError
from tests.corpus.conftest import ROOT
from tests.custom_call import compilers

X = np.ones(2, np.float32)
_numbers = itertools.count()

TWO_HANDLERS = """
import sys, numpy as np, jax, jax.numpy as jnp
import kernel_magics as km
if {is_started}:
    print((jnp.ones(2) + 1).tolist())
for symbol in ("LabDouble", "LabDouble", "LabTriple"):
    km.custom_calls.register("lab_double", library={library!r}, symbol=symbol, contract="(f32[n]) -> f32[n]")
print((jnp.ones(2) + 1).tolist())
print(np.asarray(km.hlo_call(open({program!r}).read(), np.ones(2, "f4"))[0]).tolist())
km.custom_calls.register("lab_double", library={library!r}, symbol="LabDouble")
print(np.asarray(km.hlo_call(open({program!r}).read(), np.ones(2, "f4"))[0]).tolist())
"""


@pytest.fixture(scope="module")
def cases() -> Path:
    if not ROOT.is_dir():
        pytest.skip(f"no corpus at {ROOT}; KERNEL_MAGICS_CORPUS names another place")
    return ROOT / "cases"


@pytest.fixture(scope="module")
def lab(cases, tmp_path_factory) -> Path:
    """The library of the cases: doubles, triples, fails, and has a plain function."""
    made = tmp_path_factory.mktemp("lab") / "liblab.so"
    command = [compilers.needs("g++"), "-std=c++17", "-O1", "-w", "-shared", "-fPIC"]
    command += ["-I", jax.ffi.include_dir(), str(cases / "F01_lab.cc"), "-o", str(made)]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def program(cases):
    """The text of a case, with a target of its own: what XLA was given stays for the process."""
    target = f"lab_double{next(_numbers)}"
    return target, lambda name: (cases / name).read_text().replace("lab_double", target)


def test_a_target_that_is_registered_after_the_first_call(registered, program, lab):
    target, read = program
    registered.register("lab_other", handler=lambda x: x)
    with pytest.raises(PreflightError) as caught:
        km.hlo_call(read("F01_a.mlir"), X)
    assert f"`{target}` on the plugin `cpu`" in str(caught.value)
    assert "Registered: `lab_other`." in str(caught.value)
    registered.register(target, library=lab, symbol="LabDouble", platform="cuda", trial=False)
    with pytest.raises(PreflightError, match=f"`{target}` on the plugin `cpu`"):
        km.hlo_call(read("F01_a.mlir"), X)
    registered.register(target, library=lab, symbol="LabDouble")
    np.testing.assert_array_equal(km.hlo_call(read("F01_a.mlir"), X)[0], [2, 2])


@pytest.mark.parametrize("is_started", [False, True])
def test_two_handlers_of_one_name_leave_the_backend_whole(cases, lab, is_started):
    code = TWO_HANDLERS.format(
        library=str(lab), program=str(cases / "F02_a.mlir"), is_started=is_started
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()[is_started:]
    # The second one replaces the first, and the first comes back.
    assert lines == ["[2.0, 2.0]", "[3.0, 3.0]", "[2.0, 2.0]"]


@pytest.mark.parametrize("name", ["F04_a.mlir", "F04_b.mlir"])
def test_a_text_that_asks_for_the_untyped_form(registered, program, lab, name):
    target, read = program
    registered.register(target, library=lab, symbol="LabDouble")
    with pytest.raises(PreflightError) as caught:
        km.hlo_call(read(name), X)
    assert f"`{target}` is registered as a handler of the typed FFI" in str(caught.value)
    assert "Write `api_version = 4 : i32`" in str(caught.value)


def test_what_a_handler_says_comes_out_and_plain_functions_are_refused(registered, program, lab):
    target, read = program
    with pytest.raises(km.KernelMagicsError, match="lab_plain"):
        registered.register(target, library=lab, symbol="lab_plain")
    with pytest.raises(km.KernelMagicsError, match="did you mean `LabDouble`"):
        registered.register(target, library=lab, symbol="LabDoubel")
    registered.register(target, library=lab, symbol="LabFails")
    with pytest.raises(km.KernelMagicsError, match="lab says no"):
        km.load(read("F01_a.mlir"))(X)[0].block_until_ready()
