"""Handlers of custom calls are called in the child first."""

import shutil
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kernel_magics.errors import SandboxError
from kernel_magics.sandbox.arrays import read_arrays
from kernel_magics.sandbox.handlers import HandlerCall
from kernel_magics.sandbox.process import Answer, Refusal
from tests.sandbox.processes import PATIENCE_S

X = np.arange(6, dtype=np.float32).reshape(2, 3)
KIND = jax.ShapeDtypeStruct(X.shape, X.dtype)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to build handlers with")
    path = tmp_path_factory.mktemp("handlers") / "handlers.so"
    source = Path(__file__).with_name("handlers.c")
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-I",
        jax.ffi.include_dir(),
        str(source),
        "-o",
        str(path),
    ]
    subprocess.run(command, check=True)
    return path


@pytest.fixture
def call(shared, library):
    def do(symbol, *arguments, results=(KIND,), timeout_s=PATIENCE_S, path=library, **attributes):
        trial = HandlerCall(path, symbol, arguments or (X,), results, attributes)
        return shared.request("call_handler", *trial.message(), timeout_s=timeout_s)

    return do


def test_results_come_back_and_the_child_is_not_used_again(shared, call):
    found = call("scale", k=np.float32(3))
    assert isinstance(found, Answer)
    (result,) = read_arrays(found.head["results"], found.blobs)
    np.testing.assert_array_equal(result, 3 * X)
    assert shared.pid is None
    # The same name again, for another function: it is a fresh process.
    assert isinstance(call("refuse"), Refusal)


def test_attributes_are_those_that_jax_takes(call):
    attributes = {"k": np.float32(2), "n": 3, "s": "text", "b": True, "a": np.arange(3)}
    found = call("scale", jnp.asarray(X), **attributes)
    assert isinstance(found, Answer)
    np.testing.assert_array_equal(read_arrays(found.head["results"], found.blobs)[0], 2 * X)


@pytest.mark.parametrize(
    ("symbol", "type_name", "words"),
    [
        ("refuse", "JaxRuntimeError", "only on Sundays"),
        ("nosuch", "AttributeError", "undefined symbol: nosuch"),
    ],
)
def test_what_the_handler_or_its_library_refuses_is_an_answer(call, symbol, type_name, words):
    found = call(symbol)
    assert isinstance(found, Refusal)
    assert found.type_name == type_name
    assert words in found.text


def test_libraries_that_are_none_are_refused(call, tmp_path):
    found = call("f", path=tmp_path / "nosuch.so")
    assert isinstance(found, Refusal)
    assert found.type_name == "OSError"
    assert "nosuch.so: cannot open shared object file" in found.text
    text = tmp_path / "text.so"
    text.write_text("no library")
    found = call("f", path=text)
    assert isinstance(found, Refusal)
    assert "invalid ELF header" in found.text or "file too short" in found.text


@pytest.mark.parametrize("symbol", ["fault", "add"])
def test_handlers_that_crash_end_the_child_alone(call, symbol):
    with pytest.raises(SandboxError) as error:
        call(symbol)
    assert (error.value.kind, error.value.signal) == ("call_handler", "SIGSEGV")
    assert error.value.what.startswith("Calling the handler ended the child process: SIGSEGV")
    assert isinstance(call("scale"), Answer)


def test_handlers_that_hang_are_ended_in_time(call):
    with pytest.raises(SandboxError) as error:
        call("hang", timeout_s=3)
    assert error.value.is_timeout
    assert isinstance(call("scale"), Answer)
