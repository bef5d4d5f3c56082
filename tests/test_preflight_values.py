"""The checks of the preflight that look at values and at custom calls."""

import pytest

from kernel_magics.ir.preflight import assess

V = "tensor<4xf32>"


def problems(read, text, **place) -> list[str]:
    return [p.check for p in assess(read(text).index, "main", **place).problems]


def division(dividend: str, divisor: str, op: str = "divide") -> str:
    return f"""func.func @main(%x: tensor<i64>) -> tensor<i64> {{
  %one = stablehlo.constant dense<1> : tensor<i64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %same = stablehlo.reshape %zero : (tensor<i64>) -> tensor<i64>
  %less = stablehlo.subtract %one, %one : tensor<i64>
  %gone = stablehlo.subtract %x, %x : tensor<i64>
  %more = stablehlo.add %x, %one : tensor<i64>
  %0 = stablehlo.{op} %{dividend}, %{divisor} : tensor<i64>
  return %0 : tensor<i64>
}}"""


@pytest.mark.parametrize(
    ("dividend", "divisor", "found"),
    [
        ("one", "zero", "refuse"),
        ("one", "same", "refuse"),
        ("one", "less", "unproven"),
        ("one", "gone", "unproven"),
        ("one", "more", "safe"),
        ("x", "zero", "safe"),
        ("x", "x", "safe"),
        ("zero", "one", "safe"),
    ],
)
@pytest.mark.parametrize("op", ["divide", "remainder"])
def test_integers_divided_while_compiling(read, dividend, divisor, found, op):
    assert assess(read(division(dividend, divisor, op)).index, "main").verdict == found


def test_constants_with_one_zero_among_them(read):
    text = """func.func @main() -> tensor<3xi32> {
  %a = stablehlo.constant dense<[4, 5, 6]> : tensor<3xi32>
  %b = stablehlo.constant dense<[2, 0, 3]> : tensor<3xi32>
  %0 = stablehlo.divide %a, %b : tensor<3xi32>
  return %0 : tensor<3xi32>
}"""
    assert problems(read, text) == ["constant-division"]
    assert problems(read, text.replace("[2, 0, 3]", "[2, 1, 3]")) == []


def custom_call(target: str, operands: int = 1, results: int = 1) -> str:
    given = ", ".join([V] * operands)
    made = f"({', '.join([V] * results)})"
    return (
        f"func.func @main(%x: {V}) -> {V} {{\n"
        f'  %0:{results} = stablehlo.custom_call @"{target}"({", ".join(["%x"] * operands)}) : '
        f"({given}) -> {made}\n  return %0#0 : {V}\n}}"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (custom_call("SliceToDynamic"), ["fatal-target"]),
        (custom_call("__onednn$matmul", 2), ["fatal-target"]),
        (custom_call("TopK"), ["fatal-target"]),
        (custom_call("TopK", 1, 2), []),
        (custom_call("Qr", 0), ["fatal-target"]),
        (custom_call("Qr"), []),
        (custom_call("ProductOfElementaryHouseholderReflectors"), ["fatal-target"]),
        (custom_call("Sharding"), []),
    ],
)
def test_targets_of_xla_itself(read, text, found):
    assert problems(read, text) == found


def test_targets_without_a_handler_where_handlers_are_known(read):
    index = read(custom_call("rms_nrom")).index
    assert assess(index, "main").problems == ()
    (problem,) = assess(index, "main", targets={"rms_norm", "other"}).problems
    assert problem.check == "unknown-target"
    assert problem.sentence == "no handler serves the custom call `rms_nrom` here"
    assert problem.advice == (
        'Did you mean `rms_norm`? `km.custom_calls.register("rms_nrom", handler=…)` serves it, '
        "`fallback=` says what stands in for it."
    )
    assert assess(index, "main", targets={"rms_nrom"}).problems == ()
    assert problems(read, custom_call("Sharding"), targets=set()) == []
