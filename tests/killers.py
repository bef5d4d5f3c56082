"""Programs that end a process in which plain JAX or MLIR meets them."""

import json
from dataclasses import dataclass

F = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32>"


@dataclass(frozen=True)
class Killer:
    """One of them."""

    name: str
    cell: str
    """What is run: a `%%hlo` cell, or Python."""
    errors: tuple[str, ...]
    """The errors of ours that may answer it; the first jaxlib to survive it may need none."""


def cell(name: str, body: str, *errors: str) -> Killer:
    return Killer(name, f"%%hlo\n{body}", errors or ("PreflightError",))


def called(name: str, config: str) -> Killer:
    """A custom call that nobody serves, with attributes."""
    attributes = f"{{api_version = 4 : i32, backend_config = {config}}}"
    call = f"stablehlo.custom_call @nope(%x) {attributes} : (tensor<3xf32>) -> tensor<3xf32>"
    return cell(name, f"{F} {{ %0 = {call}\n return %0 : tensor<3xf32> }}")


def nested(count: int) -> str:
    """`stablehlo.if` within `stablehlo.if`."""
    end = '"stablehlo.return"() : () -> ()'
    close = f"}}, {{{end}}}) : (tensor<i1>) -> ()\n"
    return (
        "func.func @main(%p: tensor<i1>) {\n"
        + '"stablehlo.if"(%p) ({\n' * count
        + end
        + (close + end) * (count - 1)
        + close
        + "return }"
    )


def chain(count: int) -> str:
    """Functions that call each other in a row."""
    kind = "tensor<f32>"
    links = [
        f"func.func private @f{i}(%x: {kind}) -> {kind} {{ %0 = call @f{i + 1}(%x) : ({kind}) -> {kind}\n return %0 : {kind} }}"
        for i in range(count)
    ]
    last = f"func.func private @f{count}(%x: {kind}) -> {kind} {{ return %x : {kind} }}"
    main = f"func.func @main(%x: {kind}) -> {kind} {{ %0 = call @f0(%x) : ({kind}) -> {kind}\n return %0 : {kind} }}"
    return "\n".join([main, *links, last])


def doublings(count: int) -> str:
    """Functions that call the next one twice."""
    kind = "tensor<f32>"
    lines = [f"func.func private @f{count}(%x: {kind}) -> {kind} {{ return %x : {kind} }}"]
    for i in range(count):
        name = "@main" if i == 0 else f"private @f{i}"
        call = f"call @f{i + 1}({{}}) : ({kind}) -> {kind}"
        body = f"%0 = {call.format('%x')}\n %1 = {call.format('%0')}\n return %1 : {kind}"
        lines.append(f"func.func {name}(%x: {kind}) -> {kind} {{ {body} }}")
    return "\n".join(lines)


def in_reduce(op: str) -> str:
    return f"""func.func @main(%x: tensor<3xf32>) -> tensor<f32> {{
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %i) <{{dimensions = array<i64: 0>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    {op}
    stablehlo.return %r : tensor<f32>
  }}) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}"""


DECLARED = "func.func private @ext(tensor<3xf32>) -> tensor<3xf32>\n"
CALLED = "{ %0 = call @ext(%x) : (tensor<3xf32>) -> tensor<3xf32>\n return %0 : tensor<3xf32> }"

KILLERS = (
    cell("a declaration that is called", f"{DECLARED}{F} {CALLED}"),
    cell("a declaration that nothing calls", f"{DECLARED}{F} {{ return %x : tensor<3xf32> }}", "", "PreflightError"),
    cell("a declaration in a nested module", f"module @m {{ {DECLARED} }}\n{F} {{ return %x : tensor<3xf32> }}", "", "PreflightError", "SandboxError"),
    cell("a declaration in called_computations", f"{DECLARED}{F} {{ %0 = stablehlo.custom_call @Sharding(%x) {{called_computations = [@ext]}} : (tensor<3xf32>) -> tensor<3xf32>\n return %0 : tensor<3xf32> }}"),
    cell("a function that calls itself", "func.func @main() { call @main() : () -> ()\n return }"),
    cell("functions that call each other", "func.func @main() { call @b() : () -> ()\n return }\nfunc.func private @b() { call @main() : () -> ()\n return }"),
    cell("200,000 brackets", f"module attributes {{a = {'[' * 200_000}{']' * 200_000}}} {{}}", "SandboxError", "ParseError"),
    cell("200,000 dictionaries", f"module attributes {{a = {'{a = ' * 200_000}1{'}' * 200_000}}} {{}}", "SandboxError", "ParseError"),
    cell("100,000 nested types", f"func.func private @f({'tuple<' * 100_000}i1{'>' * 100_000})", "SandboxError", "ParseError"),
    cell("100,000 nested locations", "module {} loc(" + 'callsite("a" at ' * 100_000 + '"b"' + ")" * 100_000 + ")", "SandboxError", "ParseError"),
    cell("100,000 modules", "module {" * 100_000 + "}" * 100_000, "SandboxError", "ParseError"),
    cell("6,000 nested regions", nested(6000), "SandboxError"),
    cell("300 nested regions", nested(300)),
    cell("900 calls in a row", chain(900)),
    cell("forty doublings", doublings(40)),
    cell("groups of no size", """func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, replica_groups = dense<> : tensor<0x0xi64>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}""", "", "SandboxError", "ParseError", "PreflightError"),
    cell("6-bit floats", "func.func @main(%x: tensor<3xf6E2M3FN>) -> tensor<3xf6E2M3FN> { return %x : tensor<3xf6E2M3FN> }", "PreflightError", "SignatureError"),
    cell("6-bit floats inside", "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf6E2M3FN>\n %1 = stablehlo.convert %0 : (tensor<3xf6E2M3FN>) -> tensor<3xf32>\n return %1 : tensor<3xf32> }"),
    cell("a complex bitcast", "func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<complex<f64>> { %0 = stablehlo.bitcast_convert %x : (tensor<2xcomplex<f32>>) -> tensor<complex<f64>>\n return %0 : tensor<complex<f64>> }", "PreflightError", "PrecisionError"),
    cell("a complex remainder", "func.func @main(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> { %0 = stablehlo.remainder %x, %x : tensor<3xcomplex<f32>>\n return %0 : tensor<3xcomplex<f32>> }"),
    cell("2-bit integers put together", "func.func @main(%x: tensor<3xi2>) -> tensor<6xi2> { %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<3xi2>, tensor<3xi2>) -> tensor<6xi2>\n return %0 : tensor<6xi2> }"),
    cell("a division by a constant zero", "func.func @main() -> tensor<i32> { %0 = stablehlo.constant dense<1> : tensor<i32>\n %1 = stablehlo.subtract %0, %0 : tensor<i32>\n %2 = stablehlo.divide %0, %1 : tensor<i32>\n return %2 : tensor<i32> }", "PreflightError", "SandboxError", ""),
    cell("a partition id in a reduction", in_reduce("%p = stablehlo.partition_id : tensor<ui32>\n    %r = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>")),
    cell("a custom call in a reduction", in_reduce("%r = stablehlo.custom_call @Sharding(%a) : (tensor<f32>) -> tensor<f32>")),
    cell("TopK with one result", f"{F} {{ %0 = stablehlo.custom_call @TopK(%x) : (tensor<3xf32>) -> tensor<3xf32>\n return %0 : tensor<3xf32> }}"),
    cell("a target of XLA's passes", f"{F} {{ %0 = stablehlo.custom_call @SliceToDynamic(%x) : (tensor<3xf32>) -> tensor<3xf32>\n return %0 : tensor<3xf32> }}"),
    cell("an infeed", 'func.func @main() -> tensor<3xf32> { %t = stablehlo.create_token : !stablehlo.token\n %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)\n return %0#0 : tensor<3xf32> }'),
    cell("an exabyte", "func.func @main() -> tensor<1073741824x1073741824xf32> { %c = stablehlo.constant dense<1.0> : tensor<f32>\n %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<1073741824x1073741824xf32>\n return %0 : tensor<1073741824x1073741824xf32> }"),
    cell("a sharding that is none", 'func.func @main(%x: tensor<3xf32> {mhlo.sharding = "{nonsense"}) -> tensor<3xf32> { return %x : tensor<3xf32> }'),
    cell("more partitions than devices", f"module attributes {{mhlo.num_partitions = 4096 : i32}} {{ {F} {{ return %x : tensor<3xf32> }} }}"),
    cell("scalar memory", f'{F} {{ %0 = "memref.alloc"() <{{operandSegmentSizes = array<i32: 0, 0>}}> : () -> memref<3xf32>\n return %x : tensor<3xf32> }}'),
    cell("an unknown target", f"{F} {{ %0 = stablehlo.custom_call @nope(%x) {{api_version = 4 : i32}} : (tensor<3xf32>) -> tensor<3xf32>\n return %0 : tensor<3xf32> }}"),
    called("complex numbers in a dictionary", "{a = dense<(1.0, 2.0)> : tensor<complex<f32>>}"),
    called("complex numbers in an array", "{a = [dense<(1.0, 2.0)> : tensor<complex<f32>>, @main]}"),
    called("small floats in a dictionary", "{a = {b = dense<1.0> : tensor<2xf8E4M3FN>}}"),
    called("bytes that are no text", r'{a = "\FF\00b"}'),
    called("a name that is no text in a dictionary", r'{"\FF" = 1 : i32}'),
    cell("a target that is no text", F + r' { %0 = "stablehlo.custom_call"(%x) <{call_target_name = "\FF\FE"}> : (tensor<3xf32>) -> tensor<3xf32>' + "\n return %0 : tensor<3xf32> }", "FormatError"),
    cell("a block that is no text", F + r' { %0 = "stablehlo.composite"(%x) <{name = "\FF.b", decomposition = @d}> : (tensor<3xf32>) -> tensor<3xf32>' + "\n return %0 : tensor<3xf32> }\nfunc.func private @d(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }", "", "PreflightError", "CompileError", "ParseError"),
    Killer("a declaration under jax.jit", f"import jax, numpy as np\nimport kernel_magics as km\njax.jit(lambda x: km.hlo_call('''{DECLARED}{F} {CALLED}''', x))(np.ones(3, 'f4'))", ("PreflightError",)),
)  # fmt: skip


def bytecode_killers() -> list[Killer]:
    """Bytecode with a byte that nobody wrote: its reader ends the process, or never ends."""
    from kernel_magics.ir.context import new_context
    from kernel_magics.ir.parse import bytecode, parse
    from kernel_magics.ir.source import Source

    content = bytecode(parse(Source(f"{F} {{ return %x : tensor<3xf32> }}"), new_context()))
    found: list[Killer] = []
    for at in range(5, len(content), max(1, len(content) // 24)):
        changed = content[:at] + bytes([content[at] ^ 0x50]) + content[at + 1 :]
        code = f"import kernel_magics as km\nkm.load({changed!r}, name='changed')"
        found.append(Killer(f"byte {at} changed", code, ("",)))
    return found


def corpus_killers(corpus) -> list[Killer]:
    """The programs of the conformance corpus that end XLA's process."""
    found: list[Killer] = []
    for name in ("interpret.jsonl", "modules.jsonl"):
        for line in (corpus / "conformance" / name).read_text().splitlines():
            case = json.loads(line)
            if case["cls"] == "crash":
                found.append(cell(case["id"], case["text"], "PreflightError", "PrecisionError"))
    return found
