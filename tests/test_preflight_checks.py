"""Each check of the preflight: what it refuses, and what is close to it and fine."""

import pytest

from kernel_magics.ir.checks_places import _is_malformed, machine_memory_bytes
from kernel_magics.ir.preflight import assess

V = "tensor<4xf32>"


def problems(read, text, **place) -> list[str]:
    return [p.check for p in assess(read(text).index, "main", **place).problems]


def one_op(line: str, given: str, made: str) -> str:
    return f"func.func @main(%x: {given}) -> {made} {{\n  {line}\n  return %0 : {made}\n}}"


def nested(kind: str, depth: int) -> str:
    opens = {"case": '"stablehlo.case"(%i) ({', "if": '"stablehlo.if"(%p) ({'}[kind]
    other = {"case": "})", "if": "}, { stablehlo.return })"}[kind]
    given = {"case": "(tensor<i32>)", "if": "(tensor<i1>)"}[kind]
    closes = f"stablehlo.return\n{other} : {given} -> ()\n"
    body = f"{opens}\n" * depth + closes * depth
    return f"func.func @main(%i: tensor<i32>, %p: tensor<i1>) {{\n{body}return\n}}"


@pytest.mark.parametrize("kind", ["case", "if"])
def test_regions_inside_one_another(read, kind):
    assert problems(read, nested(kind, 128)) == []
    assert problems(read, nested(kind, 129)) == ["nesting"]


def test_regions_side_by_side_are_not_nested(read):
    one = '"stablehlo.case"(%i) ({\nstablehlo.return\n}) : (tensor<i32>) -> ()\n'
    assert problems(read, f"func.func @main(%i: tensor<i32>) {{\n{one * 200}return\n}}") == []


def test_calls_and_regions_add_up(read):
    text = nested("case", 100).replace("@main", "private @deep")
    main = "func.func @main(%i: tensor<i32>, %p: tensor<i1>) {\n"
    call = "func.call @deep(%i, %p) : (tensor<i32>, tensor<i1>) -> ()\n"
    around = (
        nested("case", 30)
        .split("{\n", 1)[1]
        .replace("stablehlo.return", call + "stablehlo.return", 1)
    )
    assert problems(read, main + around + text) == ["nesting"]


@pytest.mark.parametrize(
    ("line", "made"),
    [
        (f'%0, %u = "stablehlo.infeed"(%t) : (!stablehlo.token) -> ({V}, !stablehlo.token)', V),
        (
            f'%0 = "stablehlo.outfeed"(%x, %t) : ({V}, !stablehlo.token) -> !stablehlo.token',
            "!stablehlo.token",
        ),
    ],
)
def test_transfers_with_the_host(read, line, made):
    text = one_op(f"%t = stablehlo.create_token : !stablehlo.token\n  {line}", V, made)
    assert problems(read, text) == ["host-transfer"]


def test_a_token_alone_is_no_transfer(read):
    text = one_op("%0 = stablehlo.create_token : !stablehlo.token", V, "!stablehlo.token")
    assert problems(read, text) == []


@pytest.mark.parametrize(
    ("element", "found"),
    [("f6E2M3FN", ["fatal-type"]), ("f6E3M2FN", ["fatal-type"]), ("f4E2M1FN", []), ("f32", [])],
)
def test_types_of_arguments(read, element, found):
    value = f"tensor<2x{element}>"
    text = f"func.func @main(%x: {value}) -> {value} {{\n  return %x : {value}\n}}"
    assert problems(read, text) == found


@pytest.mark.parametrize(
    ("op", "element", "found"),
    [
        ("remainder", "complex<f32>", ["fatal-form"]),
        ("remainder", "complex<f64>", ["fatal-form"]),
        ("remainder", "f32", []),
        ("divide", "complex<f32>", []),
    ],
)
def test_remainders_of_complex_numbers(read, op, element, found):
    value = f"tensor<3x{element}>"
    assert problems(read, one_op(f"%0 = stablehlo.{op} %x, %x : {value}", value, value)) == found


@pytest.mark.parametrize(
    ("element", "found"), [("i2", ["fatal-form"]), ("ui2", ["fatal-form"]), ("i4", [])]
)
def test_concatenations_of_two_bits(read, element, found):
    given, made = f"tensor<4x{element}>", f"tensor<8x{element}>"
    line = f"%0 = stablehlo.concatenate %x, %x, dim = 0 : ({given}, {given}) -> {made}"
    assert problems(read, one_op(line, given, made)) == found


@pytest.mark.parametrize(("element", "found"), [("i8", ["fatal-form"]), ("i32", []), ("f32", [])])
def test_random_numbers_of_few_bits(read, element, found):
    line = (
        "%n = stablehlo.constant dense<[5]> : tensor<1xi64>\n"
        "  %0 = stablehlo.rng %x, %x, %n, distribution = UNIFORM : "
        f"(tensor<{element}>, tensor<{element}>, tensor<1xi64>) -> tensor<5x{element}>"
    )
    assert problems(read, one_op(line, f"tensor<{element}>", f"tensor<5x{element}>")) == found


def reduction(body: str) -> str:
    return f"""func.func @main(%x: {V}, %i: tensor<f32>) -> tensor<f32> {{
  %0 = "stablehlo.reduce"(%x, %i) <{{dimensions = array<i64: 0>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    {body}
    stablehlo.return %c : tensor<f32>
  }}) : ({V}, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("%c = stablehlo.custom_call @f(%a) : (tensor<f32>) -> tensor<f32>", ["fatal-body"]),
        (
            "%p = stablehlo.partition_id : tensor<ui32>\n    %c = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>",
            ["fatal-body"],
        ),
        ("%c = stablehlo.add %a, %b : tensor<f32>", []),
    ],
)
def test_functions_of_scalars(read, body, found):
    assert problems(read, reduction(body)) == found


def test_what_stands_behind_a_reduction_is_not_inside(read):
    text = reduction("%c = stablehlo.add %a, %b : tensor<f32>").replace(
        "  return %0", "  %p = stablehlo.partition_id : tensor<ui32>\n  return %0"
    )
    assert problems(read, text) == []


@pytest.mark.parametrize("name", ["mhlo.num_partitions", "mhlo.num_replicas"])
def test_more_partitions_than_devices(read, name):
    text = f"module attributes {{{name} = 8 : i32}} {{ func.func @main() {{ return }} }}"
    assert problems(read, text) == []
    assert problems(read, text, device_count=8) == []
    assert problems(read, text, device_count=4) == ["devices"]
    assert problems(read, text.replace("8 :", "0 :"), device_count=4) == ["devices"]


@pytest.mark.parametrize(
    "text",
    [
        "{replicated}",
        "{manual}",
        "{maximal device=3}",
        "{devices=[2,1]<=[2]}",
        "{devices=[2,2]0,1,2,3}",
        "{devices=[2,1,4]<=[2,4]T(1,0) last_tile_dim_replicate}",
        "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}",
        "{{replicated}, {devices=[2]<=[2]}}",
        "{}",
        "",
        "\x08\x03\x1a\x01",
    ],
)
def test_shardings_as_xla_prints_them(text):
    assert not _is_malformed(text)


@pytest.mark.parametrize("text", ["{nonsense", "{devices=[2}", "replicated", "{devices=[-1]0}"])
@pytest.mark.parametrize("place", ["argument", "op"])
def test_shardings_that_xla_cannot_read(read, text, place):
    sharding = f'{{mhlo.sharding = "{text}"}}'
    on = {"argument": (sharding, ""), "op": ("", sharding)}[place]
    program = (
        f"func.func @main(%x: {V} {on[0]}) -> {V} {{\n"
        f"  %0 = stablehlo.add %x, %x {on[1]} : {V}\n  return %0 : {V}\n}}"
    )
    (problem,) = assess(read(program).index, "main").problems
    assert problem.check == "malformed-sharding"
    assert problem.sentence == f"XLA cannot read the sharding {text!r}"


def test_arguments_and_results_beyond_memory(read):
    value = "tensor<1000xf32>"
    text = f"func.func @main(%x: {value}) -> {value} {{\n  return %x : {value}\n}}"
    assert problems(read, text, memory_bytes=8000) == []
    assert problems(read, text, memory_bytes=7999) == ["memory"]
    assert problems(read, text.replace("1000", str(1 << 46))) == ["memory"]


def test_memory_is_that_of_a_machine():
    assert 1 << 28 < machine_memory_bytes() < 1 << 50


def test_values_that_are_reduced_may_be_larger_than_memory(read):
    value = "tensor<300000x300000xf32>"
    text = f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
  %b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> {value}
  %0 = stablehlo.reduce(%b init: %x) applies stablehlo.add across dimensions = [0, 1] : ({value}, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}"""
    found = assess(read(text).index, "main")
    assert found.problems == ()
    assert any(doubt.check == "unproven-value" for doubt in found.doubts)
    assert problems(read, text.replace("300000x300000", f"{1 << 61}x1")) == ["fatal-size"]


def test_sorts_larger_than_memory(read):
    text = """func.func @main() -> tensor<f32> {
  %x = stablehlo.iota dim = 0 : tensor<1000xf32>
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<1000xf32>) -> tensor<1000xf32>
  %t = stablehlo.slice %s [0:1] : (tensor<1000xf32>) -> tensor<1xf32>
  %0 = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""
    assert problems(read, text, memory_bytes=4000) == []
    assert problems(read, text, memory_bytes=3999) == ["memory"]
