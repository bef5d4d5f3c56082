"""LAPACK's custom calls as the first thing that a process does, and `jnp.linalg` on plugins."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernel_magics as km
from tests.corpus.conftest import ROOT
from tests.custom_call.places import device

PATIENCE_S = 900
MATRIX = np.array([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]], np.float32)
CHOLESKY = """func.func @main(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {
    api_version = 4 : i32, backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]
  } : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  return %0#0 : tensor<3x3xf32>
}"""

FIRST_ON_A_PLUGIN = """
import numpy as np, jax, jax.numpy as jnp
import kernel_magics as km
km.plugins.load("first", {path!r}, options={{"cpu_device_count": 1}}, force=True)
km.plugins.use("first")
print(np.asarray(km.hlo_call({text!r}, np.float32([[4, 0, 0], [0, 9, 0], [0, 0, 16]]))[0]).diagonal())
print(np.asarray(jnp.linalg.eigh(np.eye(3, dtype="f4") * 4)[0]))
"""


def test_every_program_that_calls_lapack_is_right_as_the_first_of_its_process():
    if not ROOT.is_dir():
        pytest.skip(f"no corpus at {ROOT}; KERNEL_MAGICS_CORPUS names another place")
    script = Path(__file__).with_name("lapack_run.py")
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT / "conformance")],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    # Zero is its eigenvalue twice: the vectors to it are not unique, and LAPACK gives others.
    assert {line["id"] for line in lines if line["problem"]} <= {"cpu_eig_lapack_geev_156"}, lines
    assert len(lines) >= 24


def test_linear_algebra_works_on_every_plugin(registered, at):
    a = jax.device_put(MATRIX, at(registered))
    b = jax.device_put(MATRIX[0], at(registered))
    lower = jnp.linalg.cholesky(a)
    np.testing.assert_allclose(lower @ lower.T, MATRIX, atol=1e-5)
    np.testing.assert_allclose(
        jnp.linalg.solve(a, b), np.linalg.solve(MATRIX, MATRIX[0]), atol=1e-5
    )
    np.testing.assert_allclose(jnp.linalg.eigh(a)[0], np.linalg.eigh(MATRIX)[0], atol=1e-5)
    np.testing.assert_allclose(
        jnp.linalg.svd(a, compute_uv=False), np.linalg.svd(MATRIX, compute_uv=False), atol=1e-5
    )
    q, r = jnp.linalg.qr(a)
    np.testing.assert_allclose(q @ r, MATRIX, atol=1e-5)
    np.testing.assert_allclose(jnp.linalg.inv(a) @ a, np.eye(3), atol=1e-5)


def test_programs_that_call_lapack_work_on_every_plugin(registered, at):
    found = km.hlo_call(CHOLESKY, jax.device_put(MATRIX, at(registered)))[0]
    np.testing.assert_allclose(np.tril(found), np.linalg.cholesky(MATRIX), atol=1e-5)


def test_lapack_is_the_first_thing_on_a_plugin():
    from tests.custom_call.places import library

    path = library("zml")
    if path is None:
        pytest.skip("the package fastatomstruct-xla-cpu, a plugin to call, is not installed")
    done = subprocess.run(
        [sys.executable, "-c", FIRST_ON_A_PLUGIN.format(path=str(path), text=CHOLESKY)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.stdout.split("\n")[:2] == ["[2. 3. 4.]", "[4. 4. 4.]"], done.stderr[-2000:]
    assert done.returncode == 0


def test_handlers_of_jax_are_mirrored_once_for_a_plugin(registered):
    reached = registered.serving.clients.of(device("zml", registered).client)
    served = registered.serving.targets(device("zml").client)
    assert "lapack_sgesdd_ffi" in served
    assert not [target for target in served if "python" in target]
    assert reached.takes_handlers
