"""HLO that cannot be read is refused in words, and ends nothing."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import kernel_magics as km
from kernel_magics.errors import FormatError, ParseError, SourceError
from kernel_magics.ir.parse import parse
from kernel_magics.ir.source import Source, read_source
from tests.hlo_programs import ADD, X, read_proto


def refused(context, content, **place) -> str:
    with pytest.raises((FormatError, ParseError)) as error:
        parse(read_source(content, **place), context)
    return str(error.value)


def test_syntax_errors_point_into_the_cell(context):
    text = ADD.replace("add(p, p)", "addx(p, p)")
    assert refused(context, text, name="cell", first_line=2) == (
        "XLA refused the cell: expects opcode but sees: addx, error: Unknown opcode: addx\n"
        "  cell:6:21\n"
        "    ROOT sum = f32[2] addx(p, p)\n"
        "                      ^^^^\n"
        "  Correct it and run it again; nothing was changed."
    )


def test_names_that_are_not_there_are_named(context):
    assert refused(context, ADD.replace("(p, p)", "(p, q)")) == (
        "XLA refused the text: instruction does not exist: q\n"
        "  text:5:28\n"
        "    ROOT sum = f32[2] add(p, q)\n"
        "                             ^\n"
        "  cannot parse as an instruction name or as a nested instruction:\n"
        "  expects opcode but sees: q, error: Unknown opcode: q\n"
        "  expects ')' at the end of operands\n"
        "  Correct it and run it again; nothing was changed."
    )


def test_types_that_do_not_fit_point_at_the_instruction(context):
    assert refused(context, ADD.replace("ROOT sum = f32[2]", "ROOT sum = f32[3]")) == (
        "The HLO of the text does not verify: "
        "'stablehlo.add' op requires the same shape for all operands and results\n"
        "  text:5:8\n"
        "    ROOT sum = f32[3] add(p, p)\n"
        "         ^^^\n"
        "  Correct it and run it again; nothing was changed."
    )


def test_text_that_ends_the_reader_ends_not_us(context):
    text = ADD.replace("add(p, p)", "partition-id()")
    message = refused(context, text).split("\n")
    assert message[0] == ("The text is HLO text, on which XLA's reader ends its process (SIGABRT)")
    assert message[1].endswith("partition-id must have a shape of u32[], but f32[2] is specified")
    assert message[2] == "  Correct it and run it again; nothing was changed."


def test_text_without_its_constants_is_refused(context):
    text = jax.jit(lambda x: x + np.arange(12.0, dtype=np.float32).reshape(3, 4)).lower(X)
    shown = refused(context, text.compile().as_text()).split("\n")
    assert shown[0] == "The HLO of the text leaves out the values of a constant: `{...}`"
    assert shown[-1] == (
        "  Print it with all constants, as `--xla_dump_large_constants` does, or give the "
        "serialized module."
    )
    module = text.compile().runtime_executable().hlo_modules()[0]
    result = km.hlo_call(module.as_serialized_hlo_module_proto(), X)[0]
    np.testing.assert_array_equal(result, X + np.arange(12).reshape(3, 4))


def test_dots_in_strings_and_comments_are_no_constants():
    text = ADD.replace("add(p, p)", 'add(p, p), metadata={op_name="({...})"} /* {...} */')
    np.testing.assert_array_equal(km.hlo_call(text, jnp.ones(2))[0], [2, 2])


def test_bitcasts_of_tiled_layouts_are_refused(context):
    text = """HloModule m
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  ROOT b = f32[1024]{0:T(1024)} bitcast(p)
}"""
    assert refused(context, text) == (
        "StableHLO cannot say what the HLO of the text says: "
        "the `bitcast` `b` works on a tiled layout, which only its device knows\n"
        "  text:4:8\n"
        "    ROOT b = f32[1024]{0:T(1024)} bitcast(p)\n"
        "         ^\n"
        "  Give the HLO from before optimisation, or the program it was made from."
    )


def test_calls_on_layouts_that_they_did_not_ask_for_are_refused(context):
    text = """HloModule m
ENTRY e {
  p = f32[2,2]{0,1} parameter(0)
  ROOT c = f32[2,2]{0,1} custom-call(p), custom_call_target="foo"
}"""
    assert refused(context, text).split("\n")[0] == (
        "StableHLO cannot say what the HLO of the text says: the call `c` of `foo` works on a "
        "layout that is not the default, and does not say that it wants it"
    )
    asked = text.replace('"foo"', '"foo", operand_layout_constraints={f32[2,2]{0,1}}')
    assert "operand_layouts = [dense<[0, 1]>" in str(parse(Source(asked), context))


def test_bitcasts_between_bits_that_do_not_line_up_are_refused(context):
    text = "ENTRY e {\n  p = pred[4] parameter(0)\n  ROOT b = u8[4] bitcast(p)\n}"
    assert refused(context, text).split("\n")[0] == (
        "StableHLO cannot say what the HLO of the text says: "
        "a `bitcast` from `i1` to `ui8` has elements that are no whole bytes"
    )


def test_damaged_modules_are_refused_or_read_and_end_nothing(context):
    module = read_proto(ADD)
    chance = np.random.default_rng(0)
    for _ in range(12):
        damaged = bytearray(module)
        damaged[chance.integers(len(module))] ^= 1 << int(chance.integers(8))
        with contextlib.suppress(SourceError):
            parse(Source(bytes(damaged)), context)
    for end in range(8, len(module), len(module) // 6):
        assert "bytes" in refused(context, module[:end])


def test_damaged_module_says_what_xla_says(context):
    module = read_proto(ADD).replace(b"\x12\x03add", b"\x12\x03adx")
    assert refused(context, module) == (
        f"The {len(module):,} bytes look like a serialized HLO module, but XLA cannot read them\n"
        "  Unknown opcode: adx\n"
        "  The file may be cut short or damaged: write or copy it again."
    )


def test_exports_that_are_cut_short_are_refused_or_hold_the_whole_program(context):
    blob = bytes(export.export(jax.jit(jnp.sin))(X).serialize())
    whole = str(parse(Source(blob), context))
    for end in range(8, len(blob), len(blob) // 40):
        try:
            module = parse(read_source(blob[:end]), context)
        except FormatError:
            continue
        assert str(module) == whole


def test_random_bytes_are_refused(context):
    chance = np.random.default_rng(1)
    for size in (1, 2, 9, 100, 1000):
        for _ in range(50):
            message = refused(context, b"\xff" + chance.bytes(size))
            assert "neither MLIR bytecode nor UTF-8 text" in message
