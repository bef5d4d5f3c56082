"""No character of a stranger acts on a terminal or hides from a reader."""

import pytest

import kernel_magics as km
from kernel_magics.characters import pictured, visible, visible_lines

HOSTILE = [
    "\x1b[2J",
    "\x1b]0;title\x07",
    "a\rb",
    "\x08\x08",
    "\u202eright",
    "\x9b31m",
    "\u200b",
    "\ud800",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_character_is_shown(text):
    for shown in (visible(text), visible_lines(text), pictured(text)):
        assert shown.isprintable()
    assert len(pictured(text)) == len(text)


def test_what_is_harmless_stays():
    text = "tab\there\n@名前 é `x`\n"
    assert visible_lines(text) == text
    assert pictured("\t名前 é") == "\t名前 é"


@pytest.mark.parametrize(
    "code",
    [
        'func.func @f() {\n  %0 = "\x1b[2J" // \u202e\n}',
        'func.func @f() {\n call @"x\\1B[2J"() : () -> ()\n return }',
        'func.func private @"\x1b]0;x\x07"() -> tensor<f32>\nfunc.func @main() -> tensor<f32> { %0 = call @"\x1b]0;x\x07"() : () -> tensor<f32>\n return %0 : tensor<f32> }',
        b"\x1b[2J\x00\xff",
        "import \x1b[2J",
    ],
)
def test_errors_hold_no_control_characters(code, session):
    with pytest.raises(km.KernelMagicsError) as error:
        km.hlo_call(code)
    assert all(line.isprintable() for line in str(error.value).replace("\t", "").split("\n"))
    assert session.units == {}


def test_a_caret_stands_under_its_token_behind_control_characters(session):
    with pytest.raises(km.KernelMagicsError) as error:
        session.define('func.func @f() attributes {a = "\x01\x02"} { foo.bar\n}')
    line, caret = str(error.value).split("\n")[2:4]
    assert line[caret.index("^") :].startswith("foo.bar")


def test_tables_and_module_text_hold_none(shell):
    from tests.cells import run

    name = 'func.func @"\u202ename\u200b"() attributes {note = "\u202e"} { return }'
    view = run(shell, f"%%hlo unit --no-compile\n{name}")[0]
    assert all(part.isprintable() for part in str(view.link_report).split("\n"))
    for line in ("module", "functions", "graph"):
        shown = repr(run(shell, f"%hlo {line}")[0])
        assert all(part.isprintable() for part in shown.split("\n"))
