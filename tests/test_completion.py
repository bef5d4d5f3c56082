import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.completer import provisionalcompleter

import kernel_magics as km
from kernel_magics.ir.op_docs import op_docs
from kernel_magics.magics.editor.cell_text import MAGIC
from kernel_magics.magics.editor.completion import complete
from kernel_magics.magics.editor.hover import meaning
from tests.cells import DOUBLE, run
from tests.op_docs.make_op_docs import bound

CELL = """%%hlo scale
// Don't let a { or an " in a comment, or a ( lead astray
module @scaled {
  sdy.mesh @grid = <["x"=2]>
  func.func public @main(%x: tensor<4x8xf32> {jax.arg_info = "x{"}) -> (tensor<4x8xf32>) attributes {a.b = "}"} {
    %c = stablehlo.constant dense<2.0> : tensor<4x8xf32>
    %p:2 = "stablehlo.sort"(%x, %c) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>):
      %t = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    %w:2 = stablehlo.while(%i = %c, %k = %x) : tensor<4x8xf32>, tensor<4x8xf32>
    cond {
      %going = call @goes_on(%i) : (tensor<4x8xf32>) -> tensor<i1>
      stablehlo.return %going : tensor<i1>
    } do {
      %next = stablehlo.add %i, %k : tensor<4x8xf32>
      stablehlo.return %next, %k : tensor<4x8xf32>, tensor<4x8xf32>
    }
    HERE
    return %w#0 : tensor<4x8xf32>
  }
  func.func private @goes_on(%v: tensor<4x8xf32>) -> tensor<i1> {
    cf.br ^last(%v : tensor<4x8xf32>)
  ^last(%u: tensor<4x8xf32>):
    %r = stablehlo.constant dense<true> : tensor<i1>
    return %r : tensor<i1>
  }
}
"""


CALLER = """func.func @caller(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @my_target(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""


def offered(typed: str, cell: str = CELL, session: km.Session | None = None) -> list[str]:
    """What may follow when something has been typed at `HERE`."""
    at = cell.index("HERE")
    text = cell.replace("HERE", typed)
    found = complete(text, at + len(typed), session or km.Session())
    assert found is not None
    return [candidate.text for candidate in found[1]]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%y = stablehlo.mult", ["stablehlo.multiply"]),
        ("%y = chlo.top", ["chlo.top_k"]),
        ("%y = arith.cmpi", ["arith.cmpi"]),
        ("%y = tensor.emp", ["tensor.empty"]),
        ("sdy.sharding_c", ["sdy.sharding_constraint"]),
        ('%y = "stablehlo.scat', ["stablehlo.scatter"]),
        ("%y = stablehlo.reduce(%x init: %c) applies stablehlo.maxi", ["stablehlo.maximum"]),
        ("%y = dot_gen", ["stablehlo.dot_general", "mhlo.dot_general"]),
        ("%y = stablehlo.dot_general %x, %c, cont", ["contracting_dims"]),
        ("%y = stablehlo.iota() {iota_", ["iota_dimension"]),
        ("%y = stablehlo.compare G", ["GE", "GT"]),
        ("%y = stablehlo.abs %x : tensor<4", ["tensor<4x8xf32>"]),
        ("%y = stablehlo.abs %x : tensor<4x8xbf", ["tensor<4x8xbf16>"]),
        ("%y = stablehlo.abs %x : tensor<?x?xf16", ["tensor<?x?xf16>"]),
        ("%y = stablehlo.abs %x : (tensor<i1>, tensor<i1", ["tensor<i1>", "tensor<i16>"]),
        ("%y = func.call @goes", ["@goes_on"]),
        ("%y = sdy.reshard %x <@gr", ["@grid"]),
        ("%y = stablehlo.abs %w", ["%w#0", "%w#1"]),
        ("%y = stablehlo.abs %p#", ["%p#0", "%p#1"]),
        ("%y = stablehlo.abs %", ["%w#0", "%w#1", "%p#0", "%p#1", "%c", "%x"]),
        ("// stablehlo.ad", []),
        ('%y = stablehlo.abs %x {a = "stablehlo', []),
    ],
)
def test_what_fits_is_offered(typed, expected):
    assert offered(typed) == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("stablehlo.return %t", ["%t", "%e", "%d", "%b", "%a", "%c", "%x"]),
        ("stablehlo.return %going", ["%going", "%k", "%i", "%p#0", "%p#1", "%c", "%x"]),
        ("stablehlo.return %next", ["%next", "%k", "%i", "%p#0", "%p#1", "%c", "%x"]),
        ("return %r ", ["%r", "%u", "%v"]),
    ],
)
def test_values_are_those_of_the_region_and_of_those_around_it(place, expected):
    at = CELL.index(place) + place.index("%") + 1
    found = complete(CELL, at, km.Session())
    assert found is not None
    assert [candidate.text for candidate in found[1]] == expected


def test_a_value_is_not_offered_to_its_own_statement():
    text = "%%hlo\nfunc.func @f(%left: f32, %right: f32) {\n  %y = arith.addf %"
    found = complete(text, len(text), km.Session())
    assert found is not None
    assert [candidate.text for candidate in found[1]] == ["%right", "%left"]


def test_a_string_ends_with_its_line():
    assert offered('%q = x {a = "open\\\n    %y = stablehlo.mult') == ["stablehlo.multiply"]


def test_blocks_are_those_of_the_region():
    at = CELL.index("^last") + 1
    found = complete(CELL, at, km.Session())
    assert found is not None
    assert [candidate.text for candidate in found[1]] == ["^last"]


def test_each_kind_of_word_has_its_kind():
    kinds = {
        "%y = stablehlo.mult": "function",
        "%y = stablehlo.abs %x": "instance",
        "%y = stablehlo.iota() {iota_": "property",
        "%y = stablehlo.abs %x : tensor<4": "class",
        "%y = stablehlo.compare G": "keyword",
    }
    for typed, kind in kinds.items():
        at = CELL.index("HERE")
        found = complete(CELL.replace("HERE", typed), at + len(typed), km.Session())
        assert found is not None
        assert found[1][0].kind == kind


def test_names_in_quotes_are_not_offered(session):
    session.define('func.func @"<b>" () { return }\nfunc.func @bare() { return }', name="odd")
    cell = '%%hlo\nfunc.func @"a b"() { return }\nfunc.func @barely() {\n  call @'
    found = complete(cell, len(cell), session)
    assert found is not None
    assert [candidate.text for candidate in found[1]] == ["@barely", "@bare"]


def test_functions_of_the_session_are_offered(session):
    session.define(DOUBLE, name="double")
    assert offered("%y = func.call @dou", session=session) == ["@double"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%%hlo name --sh", ["--show"]),
        ("%%hlo name --show t", ["text"]),
        ("%%hlo name --func ", ["main", "goes_on"]),
        ("%%custom_call --lang", ["--language"]),
        ("%%custom_call scale --language ", ["c++", "c"]),
        ("%%custom_call my_", ["my_target"]),
        ("%hlo dr", ["drop"]),
        ("%hlo drop --f", ["--force"]),
        ("%hlo drop d", ["double"]),
    ],
)
def test_options_and_commands_are_offered(session, line, expected):
    session.define(DOUBLE, name="double")
    session.define(CALLER, name="caller")
    texts = [line, line + CELL[CELL.index("\n") :]] if line.startswith("%%") else [line]
    for text in texts if "--func" not in line else texts[1:]:
        found = complete(text, len(line), session)
        assert found is not None
        assert [candidate.text for candidate in found[1]] == expected


@pytest.mark.parametrize(
    "text",
    ["x = stablehlo", "print('%%hlo')", "%hlo load a", "%%time\nsta", "%%custom_call a\nint"],
)
def test_other_cells_and_names_of_files_are_left_to_ipython(text):
    assert complete(text, len(text), km.Session()) is None


def test_ipython_offers_ours_alone_in_a_cell_of_ours(shell):
    run(shell, "%%hlo double --no-compile\n" + DOUBLE)
    for typed, expected in {"stablehlo.mult": "stablehlo.multiply", "call @dou": "@double"}.items():
        text = f"%%hlo\n// it's\nfunc.func @f() {{\n  %y = {typed}"
        with provisionalcompleter():
            found = list(shell.Completer.completions(text, len(text)))
        assert [completion.text for completion in found] == [expected]
        typed_word = typed.rsplit(" ")[-1]
        assert {(c.start, c.end) for c in found} == {(len(text) - len(typed_word), len(text))}


def test_unloading_takes_the_completions_away(shell):
    def ours() -> int:
        names = [getattr(m, "__name__", "") for m in shell.Completer.custom_matchers]
        return names.count("kernel_magics_matcher")

    assert ours() == 1
    shell.run_line_magic("reload_ext", "kernel_magics")
    assert ours() == 1
    shell.run_line_magic("unload_ext", "kernel_magics")
    assert ours() == 0
    shell.run_line_magic("load_ext", "kernel_magics")


_WORDS = [
    "%x",
    "@f",
    "^bb",
    "//",
    "/*",
    "->",
    "func.func",
    "stablehlo.while(",
    "tensor<",
    "\u202e",
    "�",
    "é",
]
_PIECES = [*"(){}<>[]\"'%@^!#:,=-/\\\n ", *_WORDS]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_text_makes_it_raise(data):
    text = CELL
    for piece in data.draw(st.lists(st.sampled_from(_PIECES), max_size=8)):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + piece + text[start + data.draw(st.integers(0, 30)) :]
    session = km.Session()
    for offset in data.draw(st.lists(st.integers(0, len(text)), min_size=1, max_size=5)):
        complete(text, offset, session)
        if MAGIC.match(text):
            meaning(text, offset, session)


@pytest.mark.parametrize(
    "dialect", ["stablehlo", "chlo", "func", "arith", "math", "scf", "sdy", "cf", "memref", "mhlo"]
)
def test_every_op_of_the_dialects_at_hand_is_known(dialect):
    known = op_docs()
    for name, (_, attributes) in bound(dialect).items():
        assert known[name].line.endswith("."), name
        assert set(attributes) <= set(known[name].attributes), name
