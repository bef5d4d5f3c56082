"""Dot products, convolutions, factorisations, transforms and random bits give XLA's values."""

import jax
import numpy as np
import pytest

from tests.replay.programs import assert_same, imported, one, replayed

RANDOM = np.random.default_rng(0)


def array(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("precision", ["DEFAULT", "HIGH", "HIGHEST"])
@pytest.mark.parametrize("result", ["f32", "f64"])
@pytest.mark.usefixtures("x64")
def test_dot_products_with_batches(precision, result):
    kinds = f"(tensor<2x4x3xf32>, tensor<5x3x2xf32>) -> tensor<2x4x5x{result}>"
    op = f"""stablehlo.dot_general %0, %1, batching_dims = [0] x [2],
      contracting_dims = [2] x [1], precision = [{precision}, DEFAULT] : {kinds}"""
    text = one(op, "tensor<2x4x3xf32>", "tensor<5x3x2xf32>", result=f"tensor<2x4x5x{result}>")
    assert_same(text, array(2, 4, 3), array(5, 3, 2), rtol=1e-5)
    jaxpr = str(jax.make_jaxpr(replayed(text))(array(2, 4, 3), array(5, 3, 2)))
    assert ("Precision.HIGH" in jaxpr) == (precision != "DEFAULT")


def test_integer_and_half_products():
    kinds = "(tensor<4x3xi8>, tensor<3x5xi8>) -> tensor<4x5xi32>"
    op = f"stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : {kinds}"
    text = one(op, "tensor<4x3xi8>", "tensor<3x5xi8>", result="tensor<4x5xi32>")
    assert_same(
        text, RANDOM.integers(-99, 99, (4, 3), np.int8), RANDOM.integers(-99, 99, (3, 5), np.int8)
    )
    kinds = "(tensor<3xbf16>, tensor<3x5xbf16>) -> tensor<5xbf16>"
    text = one(
        f"stablehlo.dot %0, %1 : {kinds}",
        "tensor<3xbf16>",
        "tensor<3x5xbf16>",
        result="tensor<5xbf16>",
    )
    bf16 = jax.numpy.bfloat16
    assert_same(text, array(3, dtype=bf16), array(3, 5, dtype=bf16), rtol=1e-2)


CONV = """func.func @main(%x: tensor<{x}xf32>, %k: tensor<{k}xf32>) -> tensor<{r}xf32> {{
  %r = stablehlo.convolution(%x, %k) dim_numbers = {dims}, window = {{{window}}}
    {{feature_group_count = {features} : i64, batch_group_count = {batches} : i64}}
    : (tensor<{x}xf32>, tensor<{k}xf32>) -> tensor<{r}xf32>
  return %r : tensor<{r}xf32>
}}"""

CONVS = [
    ("2x7x8x3", "3x2x3x4", "2x4x4x4", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
     "stride = [2, 2], pad = [[1, 1], [0, 1]]", 1, 1),
    ("2x4x7x8", "6x2x3x2", "2x6x9x7", "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]",
     "pad = [[2, 2], [0, 0]], reverse = [1, 0]", 2, 1),
    ("4x5x3", "3x2x6", "9x6x2", "[b, 0, f]x[i, 0, o]->[0, f, b]",
     "pad = [[1, 0]], lhs_dilate = [2], reverse = [true]", 1, 2),
    ("7x8x3x2", "3x2x4x3", "5x4x2x4", "[0, 1, f, b]x[0, 1, o, i]->[0, 1, b, f]",
     "pad = [[1, 1], [-1, -1]], rhs_dilate = [2, 2]", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("form", CONVS)
def test_convolutions(form):
    names = ("x", "k", "r", "dims", "window", "features", "batches")
    text = CONV.format(**dict(zip(names, form, strict=True)))
    x, k = ([int(n) for n in shape.split("x")] for shape in form[:2])
    assert_same(text, array(*x), array(*k), rtol=1e-5)


@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("dtype", ["f32", "complex<f32>"])
def test_cholesky_factors(lower, dtype):
    kind = f"tensor<2x4x4x{dtype}>"
    x = array(2, 4, 4, dtype=np.complex64 if "complex" in dtype else np.float32)
    x = x @ x.conj().transpose(0, 2, 1) + 4 * np.eye(4, dtype=x.dtype)
    # The other triangle is not looked at.
    x = x + (np.triu if lower == "true" else np.tril)(
        np.full((4, 4), 9, x.dtype), 1 if lower == "true" else -1
    )
    text = one(f"stablehlo.cholesky %0, lower = {lower} : {kind}", kind, result=kind)
    factor = np.asarray(replayed(text)(x)[0])
    full = (
        factor @ factor.conj().transpose(0, 2, 1)
        if lower == "true"
        else factor.conj().transpose(0, 2, 1) @ factor
    )
    triangle = np.tril if lower == "true" else np.triu
    np.testing.assert_allclose(triangle(full), triangle(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("unit", ["true", "false"])
def test_triangular_systems(left, lower, transpose, unit):
    kind = "tensor<3x3xcomplex<f32>>"
    op = f"""\"stablehlo.triangular_solve"(%0, %1) {{left_side = {left}, lower = {lower},
      transpose_a = #stablehlo<transpose {transpose}>, unit_diagonal = {unit}}} : ({kind}, {kind}) -> {kind}"""
    a = array(3, 3, dtype=np.complex64) + 3 * np.eye(3, dtype=np.complex64)
    assert_same(one(op, kind, kind, result=kind), a, array(3, 3, dtype=np.complex64), rtol=1e-4)


@pytest.mark.parametrize(
    ("word", "source", "result"),
    [("FFT", "2x8xcomplex<f32>", "2x8xcomplex<f32>"), ("IFFT", "2x8xcomplex<f32>", "2x8xcomplex<f32>"),
     ("RFFT", "2x8xf32", "2x5xcomplex<f32>"), ("IRFFT", "2x5xcomplex<f32>", "2x8xf32")],
)  # fmt: skip
def test_fourier_transforms(word, source, result):
    types = f"(tensor<{source}>) -> tensor<{result}>"
    text = one(
        f"stablehlo.fft %0, type = {word}, length = [8] : {types}",
        f"tensor<{source}>",
        result=f"tensor<{result}>",
    )
    shape = [2, 5] if word == "IRFFT" else [2, 8]
    x = array(*shape, dtype=np.float32 if word == "RFFT" else np.complex64)
    assert_same(text, x, rtol=1e-5)


@pytest.mark.parametrize("algorithm", ["DEFAULT", "THREE_FRY", "PHILOX"])
@pytest.mark.parametrize("dtype", ["ui32", "ui8", "ui64"])
@pytest.mark.usefixtures("x64")
def test_random_bits(algorithm, dtype):
    text = f"""
    func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5x{dtype}>) {{
      %a, %b = stablehlo.rng_bit_generator %s, algorithm = {algorithm}
        : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5x{dtype}>)
      return %a, %b : tensor<2xui64>, tensor<3x5x{dtype}>
    }}"""
    assert_same(text, np.array([3, 2**60], np.uint64))


@pytest.mark.usefixtures("x64")
def test_random_bits_of_signed_integers_are_those_of_unsigned_ones():
    texts = [
        f"""
        func.func @main(%s: tensor<2xui64>) -> tensor<6x{dtype}> {{
          %a, %b = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY
            : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6x{dtype}>)
          return %b : tensor<6x{dtype}>
        }}"""
        for dtype in ("i32", "ui32")
    ]
    signed, unsigned = (replayed(text)(np.array([3, 4], np.uint64))[0] for text in texts)
    assert signed.dtype == np.int32
    np.testing.assert_array_equal(np.asarray(signed).view(np.uint32), unsigned)


def test_batch_normalisation():
    text = """
    func.func @main(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %g: tensor<4x3x2xf32>)
        -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>) {
      %y, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.01 : f32, feature_index = 1 : i64}
        : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      %i = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {epsilon = 0.5 : f32, feature_index = 1 : i64}
        : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
      %a, %b, %c = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {epsilon = 0.01 : f32, feature_index = 1 : i64}
        : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3x2xf32>)
        -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      return %y, %v, %i, %a, %b : tensor<4x3x2xf32>, tensor<3xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>
    }"""
    assert_same(text, array(4, 3, 2), array(3), array(3), array(4, 3, 2), rtol=1e-4)


@pytest.mark.parametrize("function", ["cholesky", "solve", "qr", "svd", "eigh", "inv", "det"])
def test_factorisations_of_lapack(function):
    x = array(4, 4)
    x = x @ x.T + 4 * np.eye(4, dtype=np.float32)
    arguments = (x, array(4)) if function == "solve" else (x,)
    call = getattr(jax.numpy.linalg, function)
    found = imported(call, *arguments)(*arguments)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(call(*arguments)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
