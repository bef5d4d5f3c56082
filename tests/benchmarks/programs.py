"""Programs to measure on, made without tracing."""

TENSOR = "tensor<8xf32>"
OPS = ("sine", "cosine", "negate", "tanh")


def functions(count: int, op: str) -> str:
    """`count` functions of two ops, and a `@main` that calls them all."""
    lines = [f"func.func @main(%r0: {TENSOR}) -> {TENSOR} {{"]
    lines += [f"  %r{i + 1} = call @f{i}(%r{i}) : ({TENSOR}) -> {TENSOR}" for i in range(count)]
    lines += [f"  return %r{count} : {TENSOR}", "}"]
    for i in range(count):
        lines += [
            f"func.func private @f{i}(%x: {TENSOR}) -> {TENSOR} {{",
            f"  %0 = stablehlo.{op} %x : {TENSOR}",
            f"  return %0 : {TENSOR}",
            "}",
        ]
    return "\n".join(lines)


def layers(ops: int, size: int = 50) -> str:
    """`ops` ops in functions of `size`, called one after another by `@main`."""
    count = ops // size
    lines = [f"func.func @main(%r0: {TENSOR}) -> {TENSOR} {{"]
    lines += [
        f"  %r{i + 1} = call @layer_{i}(%r{i}) : ({TENSOR}) -> {TENSOR}" for i in range(count)
    ]
    lines += [f"  return %r{count} : {TENSOR}", "}"]
    for i in range(count):
        lines.append(f"func.func private @layer_{i}(%v0: {TENSOR}) -> {TENSOR} {{")
        lines += [
            f"  %v{j + 1} = stablehlo.{OPS[(i + j) % 4]} %v{j} : {TENSOR}" for j in range(size - 1)
        ]
        lines += [f"  return %v{size - 1} : {TENSOR}", "}"]
    return "\n".join(lines)


SMALL = """func.func @main(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = stablehlo.add %x, %x : tensor<128x128xf32>
  %1 = stablehlo.tanh %0 : tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}"""

TEN_LINES = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @helper(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.add %0, %x : tensor<8xf32>
  %2 = stablehlo.tanh %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @helper(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
