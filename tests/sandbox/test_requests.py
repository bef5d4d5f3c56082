"""What children answer: parse, convert, compile and run, good and bad."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kernel_magics.call.function import HloFunction
from kernel_magics.call.program import Binding, Program, read_program
from kernel_magics.call.sandboxed import (
    program_message,
    read_program_message,
    run_results,
    try_compile,
    try_run,
)
from kernel_magics.errors import ParseError, SandboxError
from kernel_magics.ir.context import new_context
from kernel_magics.ir.hlo_convert import convert_hlo
from kernel_magics.ir.parse import bytecode, parse
from kernel_magics.ir.parse_guard import try_parse
from kernel_magics.ir.source import Source
from kernel_magics.ir.source_message import (
    read_error_message,
    read_source_message,
    source_message,
)
from kernel_magics.sandbox.process import Answer, Refusal
from tests.hlo_programs import ADD
from tests.sandbox.processes import PATIENCE_S

ADDITION = """func.func @main(%x: tensor<3x{0}>) -> tensor<3x{0}> {{
  %0 = stablehlo.add %x, %x : tensor<3x{0}>
  return %0 : tensor<3x{0}>
}}"""

CALLER = """func.func private @f(tensor<3xf32>) -> tensor<3xf32>
func.func private @g(tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @f(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = call @g(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}"""


def bytecode_of(text: str) -> bytes:
    return bytecode(parse(Source(text), new_context()))


DYNAMIC = ADDITION.format("f32").replace("3x", "?x")


def program(text: str, entry: str = "main") -> Program:
    return read_program(Source(text), entry)


def run(one: Program, *arguments, **options) -> list[np.ndarray]:
    found = try_run(one, arguments, timeout_s=PATIENCE_S, **options)
    assert isinstance(found, Answer), found
    return run_results(found)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "content",
    [ADDITION.format("f32"), bytecode_of(ADDITION.format("f32")), ADD],
    ids=["text", "bytecode", "HLO"],
)
def test_programs_that_can_be_read_are_answered_by_nothing(content):
    found = try_parse(Source(content), timeout_s=PATIENCE_S)
    assert isinstance(found, Answer)
    assert found.head == {}
    assert found.blobs[0].startswith(b"ML\xefR")
    assert found.seconds > 0


@pytest.mark.usefixtures("shared")
def test_programs_that_cannot_be_read_are_refused_in_the_words_of_the_error():
    text = ADDITION.format("f32").replace("return", "retrun")
    found = try_parse(Source(text, "cell", 5), timeout_s=PATIENCE_S)
    assert isinstance(found, Answer)
    error = read_error_message(found.head["error"])
    assert isinstance(error, ParseError)
    assert str(error).startswith("MLIR refused the cell: custom op 'retrun' is unknown")
    assert "cell:7:3\n" in str(error)
    assert error.diagnostics[0].line == 7


@pytest.mark.usefixtures("shared")
def test_text_that_ends_mlirs_parser_ends_the_child_alone():
    deep = "[" * 200_000 + "]" * 200_000
    with pytest.raises(SandboxError) as error:
        try_parse(
            Source(f"func.func @f() attributes {{a = {deep}}} {{ return }}", "cell"),
            timeout_s=PATIENCE_S,
        )
    assert error.value.signal == "SIGSEGV"
    assert error.value.kind == "parse"
    assert str(error.value) == (
        f"Reading the cell ended the child process: SIGSEGV after {error.value.seconds:.1f} s\n"
        "  The kernel, its variables and its session are untouched. Change what was tried."
    )
    assert isinstance(try_parse(Source(ADD), timeout_s=PATIENCE_S), Answer)


@pytest.mark.usefixtures("shared")
def test_hlo_is_converted_and_back_in_the_child_that_may_die():
    done = convert_hlo(ADD)
    assert done.bytecode.startswith(b"ML\xefR")
    assert (done.problem, done.end) == ("", "")
    assert convert_hlo(done.proto).bytecode == done.bytecode
    refused = convert_hlo(ADD.replace("add(", "addx("))
    assert "expects opcode but sees: addx" in refused.problem
    assert (refused.proto, refused.bytecode, refused.end) == (b"", b"", "")
    dead = convert_hlo("ENTRY e {\n  ROOT r = f32[2] partition-id()\n}")
    assert dead.end == "SIGABRT"
    assert "partition-id must have a shape of u32[]" in dead.problem
    assert convert_hlo(ADD).bytecode == done.bytecode


@pytest.mark.usefixtures("shared")
def test_programs_compile_in_the_child_as_here():
    found = try_compile(program(ADDITION.format("f32")), [jnp.ones(3)], timeout_s=PATIENCE_S)
    assert isinstance(found, Answer)
    assert found.head.keys() == {"lower_s", "compile_s"}
    assert 0 < found.head["lower_s"] + found.head["compile_s"] <= found.seconds


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("text", "given", "type_name", "words"),
    [
        (
            ADDITION.format("f32"),
            np.ones(4, np.float32),
            "SignatureError",
            "as argument 0, f32[4] was given",
        ),
        (ADDITION.format("f64"), np.ones(3, np.float64), "PrecisionError", "jax_enable_x64"),
        (CALLER, np.ones(3, np.float32), "PreflightError", "@f"),
        (
            ADDITION.format("f32").replace(
                "stablehlo.add %x, %x : tensor<3xf32>",
                "stablehlo.custom_call @nosuch(%x) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>",
            ),
            np.ones(3, np.float32),
            "PreflightError",
            "nosuch",
        ),
    ],
    ids=["shape", "precision", "declaration", "custom call"],
)
def test_programs_that_do_not_compile_are_refused(text, given, type_name, words):
    found = try_compile(program(text), [given], timeout_s=PATIENCE_S)
    assert isinstance(found, Refusal)
    assert found.type_name == type_name
    assert words in found.text


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        ("f32", jnp.float32),
        ("bf16", jnp.bfloat16),
        ("f16", jnp.float16),
        ("f8E4M3FN", jnp.float8_e4m3fn),
        ("i8", jnp.int8),
        ("ui4", jnp.uint4),
        ("complex<f32>", jnp.complex64),
    ],
)
def test_results_are_those_of_the_kernel(element, dtype):
    one = program(ADDITION.format(element))
    given = np.array([1, 2, 3]).astype(dtype)
    (found,) = run(one, given)
    expected = np.asarray(HloFunction(one)(given)[0])
    assert found.dtype == expected.dtype == dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("shared")
def test_zeros_stand_for_arguments_that_are_not_given():
    text = """func.func @main(%x: tensor<3xf32>, %y: tensor<i32>, %z: tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>) {
  %0 = stablehlo.subtract %x, %z : tensor<3xf32>
  return %0, %y : tensor<3xf32>, tensor<i32>
}"""
    zero = jax.ShapeDtypeStruct((3,), jnp.float32)
    difference, number = run(program(text), zero, np.int32(7), jnp.arange(3.0))
    np.testing.assert_array_equal(difference, [0, -1, -2])
    assert number == 7


@pytest.mark.usefixtures("shared", "x64")
def test_the_configuration_of_the_kernel_counts():
    (found,) = run(program(ADDITION.format("f64")), np.ones(3))
    assert found.dtype == np.float64


@pytest.mark.usefixtures("shared")
def test_the_configuration_of_the_moment_counts():
    one, wide = program(ADDITION.format("f64")), np.ones(3)
    with jax.enable_x64(True):
        assert run(one, wide)[0].dtype == np.float64
    assert isinstance(try_run(one, [wide], timeout_s=PATIENCE_S), Refusal)
    with jax.enable_x64(True):
        assert run(one, wide)[0].dtype == np.float64


@pytest.mark.usefixtures("shared")
def test_declarations_mean_there_what_they_mean_here():
    double = program(ADDITION.format("f32").replace("@main", "@double"), "double")
    bound = Program(Source(CALLER), "main", (Binding("f", double), Binding("g", double)))
    (found,) = run(bound, np.ones(3, np.float32))
    np.testing.assert_array_equal(found, [4, 4, 4])


@pytest.mark.usefixtures("shared")
def test_dynamic_shapes_are_those_of_the_arguments():
    for size in (2, 5):
        (found,) = run(program(DYNAMIC), np.ones(size, np.float32))
        np.testing.assert_array_equal(found, [2] * size)


@pytest.mark.usefixtures("shared")
def test_hlo_is_run_in_the_child():
    (found,) = run(program(ADD), np.ones(2, np.float32))
    np.testing.assert_array_equal(found, [2, 2])


@pytest.mark.usefixtures("shared")
def test_megabytes_go_both_ways():
    text = ADDITION.format("f32").replace("3x", "8000000x")
    given = np.arange(8e6, dtype=np.float32)
    np.testing.assert_array_equal(run(program(text), given)[0], 2 * given)


def test_programs_come_out_of_their_messages_each_source_once():
    double = program(ADDITION.format("f32"))
    inner = Program(Source(CALLER, "cell", 3), "main", (Binding("f", double), Binding("g", double)))
    outer = Program(Source(CALLER), "main", (Binding("f", inner), Binding("g", inner)))
    head, blobs = program_message(outer)
    assert len(head["programs"]) == 3
    assert sorted(blobs) == sorted([CALLER.encode(), ADDITION.format("f32").encode()])
    found = read_program_message(head, blobs)
    assert found == outer
    assert found.bindings[0].program.source == inner.source
    assert found.bindings[0].program.bindings[1].name == "g"


def test_programs_that_share_much_stay_small():
    one = program(ADDITION.format("f32"))
    for _ in range(40):
        one = Program(Source(CALLER), "main", (Binding("f", one), Binding("g", one)))
    head, blobs = program_message(one)
    assert (len(head["programs"]), len(blobs)) == (41, 2)


@pytest.mark.parametrize("content", ["text ü \ud800", b"\0bytes\xff", ""])
def test_sources_come_out_of_their_messages(content):
    source = Source(content, "a name", 7)
    assert read_source_message(*source_message(source)) == source


def test_results_that_are_none_are_an_error():
    with pytest.raises(SandboxError) as error:
        run_results(Answer({"results": [{"dtype": "int8", "shape": [3]}]}, (b"xx",), 0.1))
    assert str(error.value) == "The results of a trial cannot be read\n  2 bytes are no int8[3]"
