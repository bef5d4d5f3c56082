import pytest

import kernel_magics as km
from kernel_magics.magics.editor.hover import meaning
from tests.cells import DOUBLE
from tests.kernels import START_S, Kernel
from tests.test_completion import CELL

ODD = """%%hlo
func.func @odd(%p: i32, %q: tensor<?x8xf16>) -> (i32, tensor<2xcomplex<f64>>) {
  %cmp = arith.cmpi eq, %p, %p : i32
  %yes = arith.constant true
  %wide = arith.extf %h : f16 to f32
  %el = tensor.extract %q[%i, %j] : tensor<?x8xf16>
  %size = tensor.dim %q, %i : tensor<?x8xf16>
  %pick = stablehlo.select %m, %q, %q : tensor<?x8xi1>, tensor<?x8xf16>
  %sum = scf.for %it = %p to %p step %p iter_args(%acc = %wide) -> (f32) {
    scf.yield %acc : f32
  }
  %both:2 = stablehlo.optimization_barrier %p, %q : i32, tensor<?x8xf16>
  %at = stablehlo.add %q, %q : tensor<?x8xf16> loc("here":1:2)
  %red = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?x8xf16>, tensor<f16>) -> tensor<8xf16>
  %half = stablehlo.add %q,
"""


def explained(mark: str, cell: str = CELL, session: km.Session | None = None) -> str | None:
    """What is said of the word that begins where `mark` does."""
    found = meaning(cell, cell.index(mark) + 1, session or km.Session())
    return str(found) if found else None


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("stablehlo.compare", "stablehlo.compare(lhs, rhs) {comparison_direction, compare_type}\nCompares element by element; gives booleans. Direction first: EQ, NE, GE, GT, LE or LT."),
        ("call @goes_on", "func.call(operands) {callee, arg_attrs, res_attrs, no_inline}\nCalls the function that a symbol names."),
        ("stablehlo.sort", "stablehlo.sort(inputs) {dimension, is_stable}\nSorts operands together along one dimension, in the order that a comparison gives."),
        ("%c, %k", "%c: tensor<4x8xf32>\nDefined by `stablehlo.constant`, line 6.\n32 elements of f32, 128 bytes."),
        ("%x, %c", "%x: tensor<4x8xf32>\nArgument, line 5.\n32 elements of f32, 128 bytes."),
        ("%w#0", "%w#0: tensor<4x8xf32>\nDefined by `stablehlo.while`, line 12.\n32 elements of f32, 128 bytes."),
        ("%p:2", "%p: tensor<4x8xf32>, tensor<4x8xf32>\nDefined by `stablehlo.sort`, line 7."),
        ("%a, %b", "%a: tensor<f32>\nArgument, line 8.\nA scalar of f32, 4 bytes."),
        ("%i, %k :", "%i: tensor<4x8xf32>\nArgument, line 12.\n32 elements of f32, 128 bytes."),
        ("@goes_on(%i)", "@goes_on(%v: tensor<4x8xf32>) -> tensor<i1>\nLine 23 of this cell."),
        ("@main", "@main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>)\nLine 5 of this cell."),
        ("@grid", "sdy.mesh @grid\nLine 4 of this cell."),
        ("^last(%v", "^last(%u: tensor<4x8xf32>)\nA block."),
        ("tensor<i1>\n", "tensor<i1>\nA scalar of i1, 1 byte."),
        ("dimension = 0", "dimension\nAttribute of `stablehlo.sort`."),
        ("Don't", None),
        ("scaled {", "builtin.module @scaled\nLine 3 of this cell."),
        ("x{", None),
        ("@nothing", None),
    ],
)  # fmt: skip
def test_words_are_explained(mark, expected):
    assert explained(mark, CELL.replace("HERE", "func.call @nothing() : () -> ()")) == expected


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("%cmp", "i1"),
        ("%yes", "i1"),
        ("%wide", "f32"),
        ("%el", "f16"),
        ("%size", "index"),
        ("%pick", "tensor<?x8xf16>"),
        ("%sum", "f32"),
        ("%acc", "f32"),
        ("%both", "i32, tensor<?x8xf16>"),
        ("%at", "tensor<?x8xf16>"),
        ("%red", "tensor<8xf16>"),
        ("%half", "its type is not in the text"),
        ("%it", "i32"),
    ],
)
def test_types_are_read_off_forms_that_do_not_end_with_them(name, kind):
    said = explained(name, ODD)
    assert said is not None
    assert said.split("\n")[0] == f"{name}: {kind}"


def test_a_type_is_counted_out():
    cell = "%%hlo\nfunc.func @f(%x: tensor<2x3xcomplex<f64>>, %y: tensor<4xi4>)"
    assert explained("tensor<2", cell) == (
        "tensor<2x3xcomplex<f64>>\n6 elements of complex<f64>, 96 bytes."
    )
    assert explained("tensor<4", cell) == "tensor<4xi4>\n4 elements of i4, 2 bytes."


def test_functions_of_the_session_are_explained(session):
    session.define(DOUBLE, name="double")
    cell = CELL.replace("HERE", "%y = call @double(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>")
    said = explained("@double", cell, session)
    assert said is not None
    assert said.endswith("\nIn the session, of unit `double`.")
    assert said.startswith("@main(")


def test_the_magic_and_its_options_are_explained():
    cell = "%%hlo name --show text\nfunc.func @f() { return }"
    said = explained("%%hlo", cell)
    assert said is not None
    assert said.startswith("%%hlo [-h] [--func FUNC] ")
    assert explained("--show", cell) == "--show\nWhat the cell shows (default: graph)."
    assert explained("name", cell) is None


def test_of_a_custom_call_the_first_line_is_explained():
    cell = "%%custom_call target --language c++\nint print;"
    said = explained("%%custom_call", cell)
    assert said is not None
    assert said.startswith("%%custom_call [-h]")
    assert (explained("--language", cell) or "").startswith("--language\n")
    assert explained("print", cell) is None


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    yield kernel
    kernel.close()


def _ask(kernel: Kernel, code: str, mark: str) -> dict:
    offset = code.index(mark) + 1
    return kernel._client.inspect(code, offset, reply=True, timeout=START_S)["content"]


def test_shift_tab_answers_behind_an_apostrophe(kernel):
    found = _ask(kernel, CELL, "stablehlo.add")
    assert found["data"]["text/plain"] == (
        "stablehlo.add(lhs, rhs)\nSum of two tensors, element by element; logical OR for booleans."
    )
    at = CELL.index("stablehlo.add")
    assert found["metadata"] == {"kernel_magics": {"start": at, "end": at + len("stablehlo.add")}}


def test_shift_tab_says_nothing_of_python_in_a_cell_of_ours(kernel):
    found = _ask(kernel, "%%hlo\n  print(", "print")
    assert (found["found"], found["data"]) == (False, {})


def test_python_is_still_explained(kernel):
    assert "text/plain" in _ask(kernel, "print", "p")["data"]
    kernel.run("%unload_ext kernel_magics")
    assert _ask(kernel, CELL, "stablehlo.add")["found"] is False
    kernel.run("%load_ext kernel_magics")
    assert _ask(kernel, CELL, "stablehlo.add")["found"] is True


def test_a_kernel_completes_with_the_right_range(kernel):
    code = "%%hlo\n// it's\n  %y = stablehlo.mult"
    found = kernel._client.complete(code, len(code), reply=True, timeout=START_S)["content"]
    assert found["matches"] == ["stablehlo.multiply"]
    assert found["cursor_start"] == code.index("stablehlo")
    (kind,) = found["metadata"]["_jupyter_types_experimental"]
    assert kind["type"] == "function"


def test_a_kernel_offers_nothing_of_python_in_a_cell_of_ours(kernel):
    def matches(code: str) -> list[str]:
        return kernel._client.complete(code, len(code), reply=True, timeout=START_S)["content"][
            "matches"
        ]

    assert matches("%%hlo\n// pri") == []
    assert "print" in matches("pri")
    assert "--show" in matches("%%hlo --s")
    kernel.run("%unload_ext kernel_magics")
    assert "stablehlo.multiply" not in matches("%%hlo\n  %y = stablehlo.mult")
    kernel.run("%load_ext kernel_magics")
