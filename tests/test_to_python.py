"""Programs as Python source: it reads well, runs by itself, and gives the same values."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.call.program import read_program
from kernel_magics.call.python.writer import to_python
from kernel_magics.errors import PreflightError
from kernel_magics.ir.source import Source

SCALE = """
func.func private @twice(%value: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %value, %value : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @scale(%x: tensor<3xf32>, %lambda: tensor<f32>) -> tensor<3xf32> {
  %half = stablehlo.constant dense<0.5> : tensor<3xf32>
  %0 = stablehlo.broadcast_in_dim %lambda, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<3xf32>
  %2 = stablehlo.subtract %1, %half : tensor<3xf32>
  %3 = func.call @twice(%2) : (tensor<3xf32>) -> tensor<3xf32>
  return %3 : tensor<3xf32>
}"""

SCALE_AS_PYTHON = '''"""`@scale` as JAX, written by Kernel Magics."""

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp


@jax.jit
def twice(value):
    """(value: f32[3]) -> (f32[3])."""
    return value + value


@jax.jit
def scale(x, lambda_):
    """(x: f32[3], lambda_: f32[]) -> (f32[3])."""
    return (twice(x * lax.full((3,), lambda_) - 0.5),)
'''


@pytest.fixture(autouse=True)
def _precision():
    """Source of 64 bits turns them on for all."""
    before = jax.config.read("jax_enable_x64")
    yield
    jax.config.update("jax_enable_x64", before)


def written(text, entry="main"):
    return to_python(read_program(Source(text), entry))


def run(source, entry="main"):
    namespace = {}
    exec(compile(source, "source", "exec"), namespace)  # noqa: S102 - it is ours
    return namespace[entry]


def exported(function, *args):
    return jax.jit(function).lower(*args).as_text()


def assert_same(function, *args):
    """Source has the values of the program; gives the source."""
    text = exported(function, *args)
    source = written(text)
    flat = jax.tree.leaves(args)
    found, expected = run(source)(*flat), km.hlo_call(text, *flat)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)
    return source


X = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)


def test_functions_and_arguments_have_the_names_of_the_text():
    assert written(SCALE, "scale") == SCALE_AS_PYTHON
    assert km.load(SCALE, func_name="scale").to_python() == SCALE_AS_PYTHON


def test_it_runs_where_there_is_nothing_but_jax(tmp_path):
    path = tmp_path / "source.py"
    path.write_text(written(SCALE, "scale"))
    program = (
        "from source import scale; print(scale(jax.numpy.arange(3.0), 2.0)[0].tolist())\n"
        "assert 'kernel_magics' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, jax\nsys.path.insert(0, '.')\n{program}"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[-1.0, 3.0, 7.0]\n"


def loops(x):
    def step(carry, row):
        total, count = carry
        return (jnp.tanh(total + row), count + 1), total * 2

    (total, count), rows = lax.scan(step, (x[0], 0), x)
    end = lax.while_loop(lambda c: c.sum() < 100.0, lambda c: c * 2 + 1, x)
    chosen = lax.switch(jnp.int32(x[0, 0] > 0), [jnp.sin, jnp.cos, jnp.tan], x)
    return total, count, rows, end, chosen


FUNCTIONS = {
    "loops": loops,
    "softmax": jax.nn.softmax,
    "sort": lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1), lax.top_k(x, 2)),
    "indexing": lambda x: x.at[jnp.array([0, 2])].add(x[1] ** 2)[jnp.array([3, 3, 0])],
    "windows": lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 2), "SAME"),
    "convolution": lambda x: jax.scipy.signal.convolve(x, x[:2, :2]),
    "decompositions": lambda x: (jnp.linalg.cholesky(x @ x.T + jnp.eye(4)), jnp.linalg.qr(x.T)),
    "eigenvalues": lambda x: jnp.linalg.eigh(x @ x.T)[0],
    "random": lambda x: jax.random.normal(jax.random.key(3), x.shape) + x,
    "bits": lambda x: x.view(np.int32) >> 3,
    "argmax": lambda x: (jnp.argmax(x, 0), jnp.nanmin(x), jnp.isfinite(x)),
    "halves": lambda x: x.astype(jnp.bfloat16) * jnp.bfloat16(0.1) + 1,
    "complex": lambda x: jnp.abs(jnp.fft.fft(x) * (1 + 2j)),
    "constants": lambda x: (x + np.arange(20, dtype=np.float32).reshape(4, 5) / 7, jnp.arange(3)),
    "integers": lambda x: (
        x.astype(np.int8) // 3,
        x.astype(np.uint32) % 7,
        x.astype(np.int32) ** 5,
    ),
    "truths": lambda x: (x > 0) ^ (x < 1) | ~(x == 0) & (x != 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name):
    assert_same(FUNCTIONS[name], X)


def test_long_constants_are_bytes():
    table = np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32)
    source = assert_same(lambda x: x @ table.T, X)
    assert "import base64" in source
    assert max(map(len, source.splitlines())) <= 100


def layer(params, x):
    with jax.named_scope("attention"):
        q, k, v = (jnp.einsum("btd,dhk->bhtk", x, params[n]) for n in "qkv")
        scores = jnp.einsum("bhqk,bhlk->bhql", q, k) / 4
        weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((8, 8), bool)), scores, -1e9))
        y = jnp.einsum("bhql,bhlk->bqhk", weights, v).reshape(x.shape)
    with jax.named_scope("mlp"):
        x = x + y @ params["o"]
        x = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return x + jax.nn.gelu(x @ params["w1"]) @ params["w2"]


def transformer(layers):
    normal = np.random.default_rng(0).standard_normal
    shapes = {**dict.fromkeys("qkv", (32, 2, 16)), "o": (32, 32), "w1": (32, 64), "w2": (64, 32)}
    params = [{n: normal(s).astype("f4") / 8 for n, s in shapes.items()} for _ in range(layers)]

    def function(params, x):
        for i, each in enumerate(params):
            with jax.named_scope(f"layer{i}"):
                x = layer(each, x)
        return x

    return function, params, normal((2, 8, 32)).astype("f4")


def test_a_transformer_reads_as_a_person_would_write_it():
    function, params, x = transformer(12)
    source = assert_same(function, params, x)
    lines = source.splitlines()
    assert len(lines) < 600
    assert max(map(len, lines)) <= 100
    with_scopes = written(jax.jit(function).lower(params, x).as_text(debug_info=True))
    assert "    # layer11/mlp\n" in with_scopes


def test_the_source_is_formatted():
    function, params, x = transformer(2)
    sources = [written(exported(f, X)) for f in FUNCTIONS.values()]
    sources.append(written(jax.jit(function).lower(params, x).as_text(debug_info=True)))
    for source in sources:
        done = subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=100", "-"],
            input=source, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout == source


def test_what_replay_refuses_is_refused_with_its_line():
    text = """
    func.func @main(%a: tensor<f32>) -> tensor<3xf32> {
      %n = stablehlo.constant dense<3> : tensor<1xi64>
      %0 = stablehlo.rng %a, %a, %n, distribution = UNIFORM
        : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    with pytest.raises(PreflightError) as error:
        written(text)
    assert str(error.value) == (
        "`@main` has no form in JAX: `stablehlo.rng`: it draws numbers that each platform chooses "
        "anew at every run, so no other form of it gives the same; `rng_bit_generator` takes a "
        "state\n"
        "  text:4:12\n"
        "    %0 = stablehlo.rng %a, %a, %n, distribution = UNIFORM\n"
        "         ^^^^^^^^^^^^^ it draws numbers that each platform chooses anew at every run, so no "
        "other form of it gives the same; `rng_bit_generator` takes a state\n"
        "  It runs as it is; what JAX cannot see through are the ops named here."
    )


def test_a_program_of_64_bits_says_so():
    text = SCALE.replace("f32", "f64")
    with jax.enable_x64(True):
        source = written(text, "scale")
        assert '# It works in 64 bits.\njax.config.update("jax_enable_x64", True)\n' in source
        lines = [line for line in source.splitlines() if "config.update" not in line]
        assert run("\n".join(lines), "scale")(np.arange(3.0), 2.0)[0].tolist() == [-1, 3, 7]


def test_what_has_no_derivative_has_none_in_the_source():
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.bitcast_convert %x : (tensor<3xf32>) -> tensor<3xi32>
      %1 = stablehlo.convert %0 : (tensor<3xi32>) -> tensor<3xf32>
      return %1 : tensor<3xf32>
    }"""
    main = run(written(text))
    x = np.array([0.5, -3, 7], np.float32)
    np.testing.assert_array_equal(main(x)[0], x.view(np.int32).astype(np.float32))
    with pytest.raises(NotImplementedError, match="The derivative is not known."):
        jax.grad(lambda x: main(x)[0].sum())(x)


def test_names_that_python_has_already_are_changed():
    text = """
    func.func private @jnp(%np: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.sine %np : tensor<f32>
      return %0 : tensor<f32>
    }
    func.func @"my-main.1"(%lax: tensor<f32>, %0: tensor<f32>) -> tensor<f32> {
      %1 = func.call @jnp(%lax) : (tensor<f32>) -> tensor<f32>
      %2 = stablehlo.add %1, %0 : tensor<f32>
      return %2 : tensor<f32>
    }"""
    source = written(text, "my-main.1")
    assert "def jnp_(np_):" in source
    assert "def my_main_1(lax_, x0):" in source
    assert run(source, "my_main_1")(np.float32(0), np.float32(2))[0] == 2
