import jax
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp

from kernel_magics.errors import PrecisionError, SignatureError
from kernel_magics.ir.arguments import check_arguments, check_callable
from kernel_magics.ir.signature import read_signature
from kernel_magics.ir.types import element_dtype, mlir_text

DTYPES = {
    "i1": "bool", "i2": "int2", "i4": "int4", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "ui2": "uint2", "ui4": "uint4", "ui8": "uint8", "ui16": "uint16",
    "ui32": "uint32", "ui64": "uint64", "bf16": "bfloat16", "f16": "float16", "f32": "float32",
    "f64": "float64", "f8E3M4": "float8_e3m4", "f8E4M3": "float8_e4m3",
    "f8E4M3FN": "float8_e4m3fn", "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn", "complex<f32>": "complex64", "complex<f64>": "complex128",
}  # fmt: skip


def signature_of(read, text, name="main"):
    unit = read(text)
    return read_signature(unit.index.by_name[name], unit.source), unit.source


def aval(dtype, *shape):
    return jax.core.ShapedArray(shape, np.dtype(dtype))


@pytest.mark.parametrize(("element", "name"), DTYPES.items())
def test_every_dtype_goes_there_and_back(element, name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    assert element_dtype(element) == dtype
    assert mlir_text(aval(dtype, 2, 3)) == f"tensor<2x3x{element}>"


def test_no_dtype_of_jax_is_forgotten():
    scalars = {
        np.dtype(getattr(jnp, name))
        for name in dir(jnp)
        if name.startswith(("int", "uint", "float", "bfloat", "complex")) and name[-1].isalnum()
        and isinstance(getattr(jnp, name), type(jnp.float32)) and any(map(str.isdigit, name))
    }  # fmt: skip
    for dtype in scalars - {np.dtype(ml_dtypes.int1), np.dtype(ml_dtypes.uint1)}:
        element = mlir_text(aval(dtype))[len("tensor<") : -1]
        assert element_dtype(element) == dtype


@pytest.mark.parametrize("element", ["index", "tf32", "si8", "i7", "!stablehlo.token"])
def test_types_that_jax_lacks_have_no_dtype(element):
    assert element_dtype(element) is None


def test_signature_reads_like_jax_with_the_names_of_the_text(read):
    text = """func.func @main(%x: tensor<?x3xf32>, %k: tensor<i1>) -> (tensor<2xui8>, tensor<f64>) {
  %0 = stablehlo.constant dense<1> : tensor<2xui8>
  %1 = stablehlo.constant dense<1.0> : tensor<f64>
  return %0, %1 : tensor<2xui8>, tensor<f64>
}"""
    signature, _ = signature_of(read, text)
    assert str(signature) == "@main(x: f32[?,3], k: bool[]) -> (u8[2], f64[])"
    assert signature.is_dynamic
    assert signature.arguments[1].position == (1, 38)


def test_wrong_count_says_wanted_and_given(read):
    text = "func.func @scale(%x: tensor<3xf32>, %k: tensor<f32>) { return }"
    signature, source = signature_of(read, text, "scale")
    with pytest.raises(SignatureError) as error:
        check_arguments(signature, [aval("f4", 3), aval("f4"), aval("i4")], source)
    assert str(error.value) == (
        "`@scale` takes 2 arguments, 3 were given\n"
        "  text:1:11\n"
        "    func.func @scale(%x: tensor<3xf32>, %k: tensor<f32>) { return }\n"
        "              ^^^^^^\n"
        "  wanted: x: f32[3], k: f32[]\n"
        "  given: f32[3], f32[], i32[]\n"
        "  Give as many as it takes, or choose another function."
    )


def test_wrong_type_names_index_name_wanted_and_given(read):
    text = "func.func @main(%p: tensor<3xf32>, %q: tensor<3xf32>) { return }"
    signature, source = signature_of(read, text)
    with pytest.raises(SignatureError) as error:
        check_arguments(signature, [aval("f4", 3), aval("i4", 4)], source)
    assert str(error.value) == (
        "`@main` takes f32[3] as argument 1, i32[4] was given\n"
        "  text:1:36\n"
        "    func.func @main(%p: tensor<3xf32>, %q: tensor<3xf32>) { return }\n"
        "                                       ^^ f32[3] wanted\n"
        "  argument 1 (`%q`): `tensor<3xf32>` wanted, `tensor<4xi32>` given (other dtype and shape)\n"
        "  Give an array of that shape and dtype; `jnp.asarray(x, dtype)` converts."
    )


@pytest.mark.parametrize(
    ("wanted", "given", "fits"),
    [
        ("3xf32", aval("f4", 3), True),
        ("?xf32", aval("f4", 3), True),
        ("?x?xf32", aval("f4", 3), False),
        ("f32", aval("f4"), True),
        ("f32", aval("f4", 1), False),
        ("0x2xi8", aval("i1", 0, 2), True),
    ],
)
def test_shapes_fit_or_not(read, wanted, given, fits):
    signature, source = signature_of(read, f"func.func @main(%x: tensor<{wanted}>) {{ return }}")
    if fits:
        check_arguments(signature, [given], source)
    else:
        with pytest.raises(SignatureError, match="argument 0"):
            check_arguments(signature, [given], source)


def test_symbolic_dimensions_are_refused(read):
    signature, source = signature_of(read, "func.func @main(%x: tensor<?xf32>) { return }")
    dimension = jax.export.symbolic_shape("n")
    with pytest.raises(SignatureError):
        check_arguments(signature, [jax.core.ShapedArray(dimension, np.dtype("f4"))], source)


def test_types_that_are_no_tensors_cannot_be_called(read):
    text = "func.func @main(%x: memref<3xf32>, %y: tensor<3xindex>) { return }"
    signature, source = signature_of(read, text)
    with pytest.raises(SignatureError) as error:
        check_callable(signature, source)
    assert "argument 0 (`x: memref<3xf32>`) is `memref<3xf32>`" in str(error.value)
    assert "argument 1" in str(error.value)


def test_64_bits_need_x64(read):
    text = """func.func @main(%x: tensor<3xf64>) -> tensor<i64> {
  %0 = stablehlo.constant dense<1> : tensor<i64>
  return %0 : tensor<i64>
}"""
    signature, source = signature_of(read, text)
    with pytest.raises(PrecisionError) as error:
        check_callable(signature, source)
    message = str(error.value)
    assert "`jax_enable_x64` is off" in message
    assert "argument 0 (`x: f64[3]`) is `tensor<3xf64>`" in message
    assert "result 0 is `tensor<i64>`" in message
    with jax.enable_x64(True):
        check_callable(signature, source)
