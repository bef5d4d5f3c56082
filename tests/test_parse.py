import re
from pathlib import Path

import pytest

from kernel_magics.errors import FormatError, ParseError, SandboxError
from kernel_magics.ir.parse import bytecode, parse
from kernel_magics.ir.source import Source, read_source
from kernel_magics.ir.unit import read_unit

GOOD = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"


def refused(context, content, **place) -> str:
    with pytest.raises((FormatError, ParseError)) as error:
        parse(read_source(content, **place), context)
    return str(error.value)


def test_syntax_error_points_into_the_cell(context):
    text = """module {
  func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %a, %b : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}"""
    assert refused(context, text, name="cell", first_line=2) == (
        "MLIR refused the cell: use of undeclared SSA value name `%b`\n"
        "  cell:4:28\n"
        "    %0 = stablehlo.add %a, %b : tensor<3xf32>\n"
        "                           ^^\n"
        "  Correct it and run it again; nothing was changed."
    )


def test_every_wrong_op_has_its_own_caret(context):
    text = """func.func @a(%x: tensor<4xf32>) {
  %0 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
func.func @b(%x: tensor<4xf32>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}"""
    message = refused(context, text, name="cell")
    assert "cell:2:8" in message
    assert "cell:6:8" in message
    assert len(re.findall(r"^ +\^+ 'stablehlo", message, re.MULTILINE)) == 2


def test_diagnostics_are_data_too(context):
    with pytest.raises(ParseError) as error:
        parse(Source("func.func @f() {\n  foo\n}", "cell", 3), context)
    first = error.value.diagnostics[0]
    assert (first.line, first.column) == (4, 3)
    assert "foo" in first.message


def test_columns_count_characters_not_bytes(context):
    line = 'func.func @"äöü"() { return %b : i32 }'
    assert refused(context, line).split("\n")[1:4] == [
        "  text:1:29",
        f"    {line}",
        f"    {' ' * 28}^^",
    ]


@pytest.mark.parametrize(
    ("line", "dialect"),
    [
        ("%0 = tosa.add %x, %x : tensor<3xf32>", "tosa"),
        ('%0 = "tosa.add"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>', "tosa"),
        ("%0 = stablehlo.add %x, %x {a.b = #torch<foo>} : tensor<3xf32>", "torch"),
        ("%0 = stablehlo.constant dense<1> : tensor<3x!quant.uniform<i8:f32, 0.1>>", "quant"),
    ],
)
def test_unknown_dialect_is_named_with_its_line(context, line, dialect):
    text = f"func.func @f(%x: tensor<3xf32>) {{\n  {line}\n  return\n}}"
    message = refused(context, text, name="cell")
    assert f"unknown dialect `{dialect}`" in message.split("\n")[0]
    assert "cell:2:" in message


def test_misspelt_dialect_gets_the_close_one(context):
    message = refused(context, "func.func @f() {\n  stablehl.add\n}")
    assert "unknown dialect `stablehl`; did you mean `stablehlo`?" in message


@pytest.mark.parametrize("text", ["", "  \n\n", "// only a comment\n"])
def test_empty_cell_shows_an_example(context, text):
    message = refused(context, text, name="cell")
    assert message.startswith("The cell holds no program\n  A program looks like this:\n")
    example = message.split("like this:\n")[1]
    assert parse(Source(example), context).operation.verify()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{ lambda ; a:f32[3]. let b:f32[3] = add a a in (b,) }", "a jaxpr"),
        ("import jax\nx = jax.numpy.ones(3)\n", "Python"),
        ("x = jnp.ones(3)", "Python"),
        ("# a comment\ndef f(x):\n  return x", "Python"),
        ("%%hlo\nmodule {}", "a notebook magic"),
        ('{"cells": []}', "JSON"),
        ("<html></html>", "XML or HTML"),
        ("; ModuleID = 'x'\ndefine i32 @f()", "LLVM IR"),
    ],
)
def test_other_languages_are_named(context, text, kind):
    message = refused(context, text)
    assert message.startswith(f"This looks like {kind}, not MLIR\n  text:1:1\n")


def test_old_text_is_refused_with_the_hint_at_portable_artifacts(context):
    message = refused(context, "func @main() { return }", name="cell")
    assert "cell:1:1" in message
    assert "not stable across versions" in message


def test_text_with_nul_is_refused(context):
    # MLIR's parser would stop there, and take half a program for the whole.
    assert "NUL character" in refused(context, GOOD + "\0")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "holds no program"),
        (b"\xff\xfe\x00", "neither MLIR bytecode nor UTF-8 text"),
        (b"PK\x03\x04abc\x00", "a zip archive"),
        (b"\x7fELF\x00", "a shared library"),
    ],
)
def test_foreign_bytes_are_named(context, content, kind):
    assert kind in refused(context, content)


def test_truncated_bytecode_is_refused(context):
    whole = bytecode(parse(Source(GOOD), context))
    for end in range(4, len(whole) - 1, 7):
        assert "bytecode" in refused(context, whole[:end])


def test_bytecode_and_text_bytes_are_read(context):
    module = parse(Source(GOOD), context)
    for content in (bytecode(module), GOOD.encode()):
        assert str(parse(read_source(content), context)) == str(module)


def test_future_artifact_says_which_version(context):
    from jax.extend import mlir

    module = parse(
        Source(
            "func.func @f() -> tensor<f32> {\n %0 = stablehlo.constant dense<1.0> : tensor<f32>\n return %0 : tensor<f32>\n}"
        ),
        context,
    )
    content = mlir.serialize_portable_artifact(module, "1.0.0")
    future = content.replace(b"StableHLO_v1.0.0", b"StableHLO_v9.0.0").replace(
        b"constant_v1", b"constant_v8"
    )
    assert future != content
    message = refused(context, future)
    assert "written by StableHLO 9.0.0; this jaxlib reads 0.9.0 to " in message


def test_artifacts_of_every_version_in_the_window_are_read(context):
    from jax.extend import mlir

    from kernel_magics._jax_private import stablehlo_versions

    oldest, newest = (tuple(map(int, v.split("."))) for v in stablehlo_versions())
    module = parse(Source(GOOD), context)
    versions = [oldest, *((1, minor, 0) for minor in range(newest[1])), newest]
    for version in versions:
        content = mlir.serialize_portable_artifact(module, ".".join(map(str, version)))
        assert str(parse(Source(content), context)) == str(module)


def test_text_of_an_artifact_is_upgraded_too(context):
    from jax.extend import mlir
    from jax.extend.mlir import ir

    module = parse(Source(GOOD), context)
    versioned = ir.Module.parse(mlir.serialize_portable_artifact(module, "1.0.0"), context)
    assert str(parse(Source(str(versioned)), context)) == str(module)


def test_path_is_read_and_names_the_place(context, tmp_path):
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f() {\n  foo\n}")
    assert "bad.mlir:2:3" in refused(context, path)


def test_missing_file_and_file_name_as_text_are_told_apart(context):
    assert "cannot be read: No such file" in refused(context, Path("nowhere.mlir"))
    assert "'model.mlir' looks like a file's name" in refused(context, "model.mlir")


def test_other_objects_are_refused(context):
    assert "a `list` was given" in refused(context, [1, 2])


@pytest.mark.parametrize(
    "text",
    [
        'func.func @"\\FF"() { return }',
        'func.func @f() { %0 = stablehlo.custom_call @"\\FE"() : () -> tensor<f32>\n return }',
    ],
)
def test_names_that_are_no_text_are_refused(context, text):
    with pytest.raises(FormatError, match="whose name is not UTF-8"):
        read_unit(Source(text), context)


def test_strings_that_are_no_text_are_fine(context):
    text = 'func.func @f() attributes {a = "\\FF"} { return }'
    assert read_unit(Source(text), context).index.by_name["f"].op_count == 1


def test_long_lines_are_cut_round_the_caret(context):
    text = (
        f"func.func @f() {{ %0 = stablehlo.constant dense<[{'1, ' * 50000}1]> : tensor<5xbad>\n}}"
    )
    message = refused(context, text)
    assert all(len(line) < 400 for line in message.split("\n"))
    assert re.search(r"… .*\n +\^", message)


@pytest.mark.parametrize(
    "text",
    [
        'func.func @f(%x: tensor<3xf32> {"a.\\FF" = 1}) { return }',
        'module attributes {"my.\\FF" = 1} {}',
        'func.func @f() attributes {"my.\\FF"} { return }',
    ],
)
def test_names_of_attributes_that_are_no_text_are_refused(text, session):
    with pytest.raises((FormatError, SandboxError)):
        session.define(text)
    assert session.units == {}


@pytest.mark.parametrize(
    "value", ['{"\\FF" = 1}', '[{a = {"\\FF"}}]', '"\\FF"', '["\\C3\\A9", "\\80"]']
)
def test_what_is_no_text_within_a_value_is_carried_over(value, session):
    session.define(f"func.func @f() attributes {{my.value = {value}}} {{ return }}")
    assert f"my.value = {value}".replace("= 1}", "= 1 : i64}") in session.module_text()
