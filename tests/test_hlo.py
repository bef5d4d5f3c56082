"""HLO text, serialized HLO modules and exported functions are programs like any other."""

import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import kernel_magics as km
from kernel_magics.errors import FormatError
from kernel_magics.ir import formats, hlo_proto
from kernel_magics.ir.hlo import conversion_notes
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source, read_source
from kernel_magics.ir.unit import read_unit
from tests.hlo_programs import ADD, X, read_proto


def loop(x):
    return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))


def square(x):
    return x @ x.T + 12 * jnp.eye(3)


PROGRAMS = {
    "fusions": lambda x: jnp.sum(jnp.sin(x) @ jnp.cos(x.T) + 1, 0),
    "while": loop,
    "scan": lambda x: jax.lax.scan(lambda c, y: (c + y, c * y), x[0], x),
    "conditional": lambda x: jax.lax.cond(x[0, 0] > 0, lambda: x.T @ x, lambda: x.T @ x * 2),
    "switch": lambda x: jax.lax.switch(x[0, 1].astype(int), [lambda: x, lambda: -x, lambda: x * 3]),
    "reduce": lambda x: (x.sum(0), x.max(), jnp.argmax(x, 1)),
    "reduce window": lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 2), (1, 1), "SAME"),
    "scatter": lambda x: x.at[jnp.array([0, 2])].add(1.0),
    "gather": lambda x: x[jnp.array([2, 0])][:, ::2],
    "sort": lambda x: jnp.sort(-x, axis=0),
    "several sorts": lambda x: jax.lax.sort((x, -x), num_keys=1),
    "top k": lambda x: jax.lax.top_k(x, 2),
    "convolution": lambda x: jax.lax.conv(x[None, None], x[None, None, :2, :3], (1, 1), "SAME").T,
    "transposes": lambda x: jnp.einsum("ab,cb->ca", x, x[::-1]).reshape(9).T,
    "fft": lambda x: jnp.fft.fft(x).T,
    "cholesky": lambda x: jnp.linalg.cholesky(square(x)),
    "eigenvalues": lambda x: jnp.linalg.eigh(square(x))[0],
    "solve": lambda x: jnp.linalg.solve(square(x), x),
    "bitcast to bytes": lambda x: jax.lax.bitcast_convert_type(x, jnp.uint8).T,
    "bitcast from bytes": lambda x: jax.lax.bitcast_convert_type(
        jax.lax.bitcast_convert_type(x, jnp.uint8)[..., ::-1], jnp.float32
    ),
    "random": lambda x: x + jax.random.normal(jax.random.key(1), x.shape),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_forms_of_a_program_give_its_values(name):
    lowered = jax.jit(PROGRAMS[name]).lower(X)
    expected = jax.tree.leaves(jax.jit(PROGRAMS[name])(X))
    for code in (
        lowered.compile().as_text(),
        lowered.as_text("hlo"),
        lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(),
    ):
        results = km.hlo_call(code, X)
        assert len(results) == len(expected)
        for result, value in zip(results, expected, strict=True):
            assert result.dtype == value.dtype
            np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "uint16", "float16", "bfloat16", "complex64"]
)
def test_dtypes_survive(dtype):
    x = jnp.array([[0, 1, 3], [1, 0, 2]]).astype(dtype)
    text = jax.jit(lambda x: (x.T, jnp.where(x == 1, x, 0 * x))).lower(x).compile().as_text()
    for result, value in zip(km.hlo_call(text, x), (x.T, jnp.where(x == 1, x, 0 * x)), strict=True):
        assert result.dtype == value.dtype
        np.testing.assert_array_equal(result, value)


@pytest.mark.parametrize(
    ("given", "made", "operand", "expected"),
    [
        ("f32[2,3]{1,0}", "f32[3,2]{1,0}", X[:2, :3], lambda x: x.reshape(3, 2)),
        ("f32[2,3]{0,1}", "f32[3,2]{1,0}", X[:2, :3], lambda x: x.T),
        ("f32[2,3]{1,0}", "f32[3,2]{0,1}", X[:2, :3], lambda x: x.T),
        ("f32[2,3]{0,1}", "f32[2,3]{1,0}", X[:2, :3], lambda x: x.T.reshape(2, 3)),
        ("f32[2,3]{0,1}", "f32[6]{0}", X[:2, :3], lambda x: x.T.reshape(6)),
        ("f32[2,3]{0,1}", "s32[6]{0}", X[:2, :3], lambda x: x.T.copy().view(np.int32).reshape(6)),
        ("f32[2,3]{1,0}", "u8[24]{0}", X[:2, :3], lambda x: x.copy().view(np.uint8).reshape(24)),
        (
            "u8[4,2]{0,1}",
            "f32[2]{0}",
            X[:2].T.copy().astype(np.uint8),
            lambda x: x.T.copy().view(np.float32).reshape(2),
        ),
    ],
)
def test_bitcasts_read_memory_in_the_order_of_the_layouts(given, made, operand, expected):
    text = f"HloModule m\nENTRY e {{\n  p = {given} parameter(0)\n  ROOT b = {made} bitcast(p)\n}}"
    np.testing.assert_array_equal(km.hlo_call(text, operand)[0], expected(operand))


def test_layouts_of_the_entry_change_no_value():
    text = (
        "HloModule m, entry_computation_layout={(f32[2,3]{0,1})->f32[3,2]{0,1}}\n"
        "ENTRY e {\n  p = f32[2,3]{0,1} parameter(0)\n"
        "  c = f32[2,3]{1,0} copy(p)\n  ROOT t = f32[3,2]{0,1} transpose(c), dimensions={1,0}\n}"
    )
    np.testing.assert_array_equal(km.hlo_call(text, X[:2, :3])[0], X[:2, :3].T)
    assert conversion_notes(Source(text)) == (
        "Dropped: the layout of 2 arguments and results of the entry that is not the default.",
        "Dropped: the layout of 2 instructions that is not the default; values are the same.",
    )


def test_tuples_are_several_values():
    text = """HloModule m
ENTRY e {
  p = (f32[2], (s32[], f32[2])) parameter(0)
  q = f32[2] parameter(1)
  a = f32[2] get-tuple-element(p), index=0
  n = (s32[], f32[2]) get-tuple-element(p), index=1
  c = f32[2] add(a, q)
  ROOT t = (f32[2], (s32[], f32[2])) tuple(c, n)
}"""
    a, i, b = jnp.ones(2), jnp.int32(7), jnp.arange(2.0)
    total, same, again = km.hlo_call(text, a, i, b, 2 * a)
    np.testing.assert_array_equal(total, 3 * a)
    assert int(same) == 7
    np.testing.assert_array_equal(again, b)


def test_fusions_are_calls_by_the_name_of_what_they_fuse(context):
    text = jax.jit(PROGRAMS["fusions"]).lower(X).compile().as_text()
    module = str(parse(Source(text), context))
    assert "call @wrapped_sine_computation(%arg0)" in module
    assert "mhlo." not in module


def test_modules_without_their_first_line_are_read():
    body = ADD.partition("\n\n")[2]
    for text in (body, "// a comment\n" + body, "/* a\ncomment */\n" + ADD):
        assert formats.detect(Source(text)) == "hlo text"
        np.testing.assert_array_equal(km.hlo_call(text, jnp.ones(2))[0], [2, 2])


def test_wrapped_modules_are_read():
    module = read_proto(ADD)
    wrapped = hlo_proto._bytes_field(1, module)
    for content in (module, wrapped, hlo_proto._bytes_field(1, wrapped)):
        np.testing.assert_array_equal(km.hlo_call(content, jnp.ones(2))[0], [2, 2])


def test_serialized_modules_that_are_utf8_by_chance_are_no_text():
    chance = hlo_proto._bytes_field(1, b"m") + hlo_proto._bytes_field(2, b"e")
    chance += hlo_proto._bytes_field(3, hlo_proto._bytes_field(1, b"e"))
    assert chance.decode().startswith("\n")
    assert formats.detect(read_source(chance)) == "hlo proto"


def test_exported_functions_are_called_by_their_main():
    exported = export.export(jax.jit(lambda x, unused: (x.sum(0), x * 2)))(X, X)
    blob = exported.serialize()
    total, double = km.hlo_call(blob, X)
    np.testing.assert_array_equal(total, X.sum(0))
    np.testing.assert_array_equal(double, X * 2)
    assert conversion_notes(read_source(blob)) == (
        "`@main` does not take the unused arguments of the exported function: 1.",
    )


def test_functions_exported_for_several_platforms_take_the_number_of_one():
    exported = export.export(jax.jit(jnp.sin), platforms=["cpu", "cuda"])(X)
    blob = bytes(exported.serialize())
    assert conversion_notes(read_source(blob)) == (
        "The first argument of `@main` is the number of the platform: 0 is cpu, 1 is cuda.",
    )
    np.testing.assert_allclose(km.hlo_call(blob, 0, X)[0], np.sin(X), rtol=1e-6)


def test_exported_functions_need_flatbuffers(monkeypatch):
    blob = bytes(export.export(jax.jit(jnp.sin))(X).serialize())
    monkeypatch.setitem(sys.modules, "jax._src.export.serialization_generated", None)
    monkeypatch.delattr("jax._src.export.serialization_generated", raising=False)
    with pytest.raises(FormatError) as error:
        km.hlo_call(blob, X)
    assert str(error.value) == (
        "This is a function written by `jax.export`, and the package flatbuffers, "
        "which reads it, is not installed\n"
        "  Run `pip install flatbuffers`, or give `exported.mlir_module_serialized`."
    )


def test_files_are_read_whatever_their_suffix(tmp_path):
    lowered = jax.jit(jnp.sin).lower(X)
    exported = export.export(jax.jit(jnp.sin))(X)
    contents = {
        "a.hlo": lowered.as_text("hlo").encode(),
        "a.txt": lowered.compile().as_text().encode(),
        "a.pb": lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(),
        "a.mlir": lowered.as_text().encode(),
        "a.mlirbc": exported.mlir_module_serialized,
        "a.bc": bytes(exported.serialize()),
    }
    for name, content in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        np.testing.assert_allclose(km.load(path)(X)[0], np.sin(X), rtol=1e-6)


def test_hlo_is_a_unit_like_any_other(session):
    report = session.define(ADD, name="added")
    assert report["main"].why == "kept"
    assert "stablehlo.add" in session.module_text()
    session.define(ADD.replace("add(", "multiply("), name="other")
    assert "stablehlo.multiply" in session.module_text()


def test_hlo_is_traced_with_the_rest():
    text = jax.jit(loop).lower(X).compile().as_text()
    run = jax.jit(lambda x: km.hlo_call(text, x)[1] + km.hlo_call(text, x)[1])
    np.testing.assert_array_equal(run(X), 16 * X)
    assert run.lower(X).as_text().count("stablehlo.while") == 1


def test_notes_say_what_is_gone_and_nothing_else(context):
    text = jax.jit(PROGRAMS["fusions"]).lower(X).compile().as_text()
    notes = read_unit(Source(text), context).notes
    assert notes[:2] == (
        "3 fusions became calls of private functions.",
        "Dropped: the schedule, which is the order of the instructions.",
    )
    assert re.fullmatch(r"Kept as locations: the metadata of \d+ instructions\.", notes[2])
    assert len(notes) == 3
    assert conversion_notes(Source(ADD)) == ()
    assert read_unit(Source(formats.EXAMPLE), context).notes == ()
