"""What a program that is found safe pays for that, against the time it takes to parse."""

from jax.extend.mlir import ir

from kernel_magics.ir.context import new_context
from kernel_magics.ir.preflight import assess
from kernel_magics.ir.symbols import scan
from tests.benchmarks.harness import Row, interleaved_s
from tests.benchmarks.programs import OPS, functions, layers


def run() -> list[Row]:
    """On one function after another, on one function of many kinds, and on tiny functions."""
    return [
        row("assess 10,000 ops in functions of 50", layers(10_000).replace("tanh", "sine")),
        row("assess 10,000 ops of seven kinds, reductions too", mixed(10_000)),
        row("assess 2,000 functions of two ops", functions(2_000, OPS[0]), "-"),
    ]


def row(what: str, text: str, target: str = "<= 0.10") -> Row:
    """The ratio of the two, measured in turns."""
    context = new_context()
    index = scan(ir.Module.parse(text, context))
    assert assess(index, "main").verdict == "safe"
    ours, parse = interleaved_s(
        lambda: assess(index, "main"), lambda: ir.Module.parse(text, context), calls=1, rounds=15
    )
    return Row(what, ours, "ir.Module.parse", parse, ours / parse, target)


def mixed(ops: int) -> str:
    """One function: normalize, scale, compare and choose, again and again."""
    value, row, scalar = "tensor<8x8xf32>", "tensor<8xf32>", "tensor<f32>"
    lines = [f"func.func @main(%v0: {value}) -> {value} {{"]
    over = "applies stablehlo.maximum across dimensions = [1]"
    count = ops // 8
    for i in range(count):
        lines += [
            f"  %z{i} = stablehlo.constant dense<0.0> : {scalar}",
            f"  %r{i} = stablehlo.reduce(%v{i} init: %z{i}) {over} : ({value}, {scalar}) -> {row}",
            f"  %b{i} = stablehlo.broadcast_in_dim %r{i}, dims = [0] : ({row}) -> {value}",
            f"  %s{i} = stablehlo.subtract %v{i}, %b{i} : {value}",
            f"  %p{i} = stablehlo.compare LT, %s{i}, %b{i} : ({value}, {value}) -> tensor<8x8xi1>",
            f"  %v{i + 1} = stablehlo.select %p{i}, %s{i}, %b{i} : tensor<8x8xi1>, {value}",
        ]
    return "\n".join([*lines, f"  return %v{count} : {value}", "}"])
