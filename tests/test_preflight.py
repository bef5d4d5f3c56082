import pytest

from kernel_magics.errors import PreflightError
from kernel_magics.ir.preflight import preflight


def refusal(read, text, entry="main") -> str:
    unit = read(text, name="cell", first_line=2)
    with pytest.raises(PreflightError) as error:
        preflight(unit.index, entry, unit.source)
    return str(error.value)


def test_declaration_without_body_is_refused_at_its_line(read):
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @ext(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @ext(tensor<f32>) -> tensor<f32>"""
    assert refusal(read, text) == (
        "`@main` cannot be compiled: `@ext` is declared without a body\n"
        "  cell:6:1\n"
        "    func.func private @ext(tensor<f32>) -> tensor<f32>\n"
        "    ^^^^^^^^^\n"
        "  Give `@ext` a body, or define it in another cell first."
    )


def test_unused_declaration_is_fine(read):
    unit = read("func.func private @ext()\nfunc.func @main() { return }")
    assert preflight(unit.index, "main", unit.source) is None


def test_function_that_calls_itself_is_refused(read):
    text = "func.func @main() {\n  call @main() : () -> ()\n  return\n}"
    message = refusal(read, text)
    assert message.startswith("`@main` cannot be compiled: `@main` calls itself\n  cell:3:3\n")


def test_every_cycle_is_shown_with_its_path(read):
    text = """func.func @main() {
  call @a() : () -> ()
  call @c() : () -> ()
  return
}
func.func private @a() {
  call @b() : () -> ()
  return
}
func.func private @b() {
  call @a() : () -> ()
  return
}
func.func private @c() {
  call @c() : () -> ()
  return
}"""
    message = refusal(read, text)
    assert "the calls form a cycle, `@a` → `@b` → `@a`" in message
    assert "`@c` calls itself" in message
    assert "(and 1 more)" in message


def chain(calls: int) -> str:
    text = "func.func @main() { call @f0() : () -> ()\n return }\n" + "\n".join(
        f"func.func private @f{i}() {{ call @f{i + 1}() : () -> ()\n return }}"
        for i in range(calls - 1)
    )
    return text + f"\nfunc.func private @f{calls - 1}() {{ return }}"


def test_a_hundred_calls_inside_one_another_are_fine(read):
    unit = read(chain(120))
    assert preflight(unit.index, "main", unit.source) is None


def test_a_chain_of_calls_that_is_too_long_for_the_stack_is_refused(read):
    message = refusal(read, chain(1000))
    assert message.startswith(
        "`@main` cannot be compiled: calls and regions are nested 1,000 deep; "
        "XLA has stack for 128 of them\n  cell:"
    )


@pytest.mark.parametrize(
    ("line", "op"),
    [
        ("%0 = arith.addf %x, %x : tensor<3xf32>", "arith.addf"),
        ("%0 = math.sqrt %x : tensor<3xf32>", "math.sqrt"),
    ],
)
def test_ops_that_xla_does_not_take_are_named_with_their_line(read, line, op):
    text = f"func.func @main(%x: tensor<3xf32>) {{\n  {line}\n  return\n}}"
    message = refusal(read, text)
    assert message.startswith(
        f"`@main` cannot be compiled: `{op}` is not an op that XLA takes\n  cell:3:8\n"
    )


@pytest.mark.parametrize("element", ["f6E2M3FN", "f6E3M2FN"])
def test_types_on_which_xla_ends_the_process_are_refused(read, element):
    text = f"""func.func @main() -> tensor<2xf32> {{
  %0 = stablehlo.constant dense<1.0> : tensor<2x{element}>
  %1 = stablehlo.convert %0 : (tensor<2x{element}>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}}"""
    assert f"`stablehlo.constant` works on `tensor<2x{element}>`" in refusal(read, text)


def test_bitcasts_of_complex_numbers_to_other_widths_are_refused(read):
    text = """func.func @main(%x: tensor<complex<f64>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.bitcast_convert %x : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}"""
    assert "`stablehlo.bitcast_convert` between complex types" in refusal(read, text)


def test_what_the_entry_does_not_use_does_not_matter(read):
    unit = read(
        "func.func @main() { return }\n"
        "func.func @other(%x: tensor<3xf32>) { %0 = arith.addf %x, %x : tensor<3xf32>\n return }"
    )
    assert preflight(unit.index, "main", unit.source) is None
