"""What this process reads only as the child wrote it again."""

import pytest

from kernel_magics.errors import FormatError, ParseError, SandboxError
from kernel_magics.ir import parse_guard
from kernel_magics.ir.context import new_context
from kernel_magics.ir.parse import bytecode, parse
from kernel_magics.ir.parse_guard import MOST_NESTING, nests_deeply, rewritten
from kernel_magics.ir.source import Source
from kernel_magics.sandbox.policy import Policy, using
from kernel_magics.sandbox.process import Answer

ADD = "func.func @add(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.add %x, %x : tensor<f32>\n return %0 : tensor<f32> }"
SINE = ADD.replace("add %x, %x", "sine %x").replace("@add", "@sine")


def as_bytes(text):
    return bytecode(parse(Source(text), new_context()))


class OtherProgram:
    """A child that reads another program than it was given."""

    def request(self, kind, _head, blobs, **_):
        assert (kind, blobs) == ("parse", [as_bytes(ADD)])
        return Answer({}, (as_bytes(SINE),), 0.0)


def test_bytes_are_read_as_the_child_wrote_them(monkeypatch):
    content = as_bytes(ADD)
    monkeypatch.setattr(parse_guard, "kernel_sandbox", OtherProgram)
    monkeypatch.setattr(parse_guard, "_rewritten", parse_guard.OrderedDict())
    assert "@sine" in str(parse(Source(content), new_context()))
    with using(Policy("never")):
        assert "@add" in str(parse(Source(content), new_context()))


def test_plain_text_is_read_here(monkeypatch):
    monkeypatch.setattr(parse_guard, "kernel_sandbox", None)
    assert "@add" in str(parse(Source(ADD), new_context()))
    assert rewritten(Source(ADD)) is None


@pytest.mark.parametrize("code", [ADD, as_bytes(ADD), "\n" * (5 << 20) + ADD])
def test_a_program_read_by_way_of_the_child_is_the_same(code):
    with using(Policy("always")):
        found = parse(Source(code), new_context())
    there = parse(Source(ADD), new_context())
    assert str(found) == str(there)
    location = str(found.body.operations[0].operation.location)
    if isinstance(code, bytes) or len(code) == len(ADD):
        assert location == str(there.body.operations[0].operation.location)
    else:
        assert f":{(5 << 20) + 1}:1" in location


def test_errors_by_way_of_the_child_are_the_same():
    wrong = Source(ADD.replace("%x, %x", "%x, %y"), "cell", 3)
    with pytest.raises(ParseError) as here:
        parse(wrong, new_context())
    with using(Policy("always")), pytest.raises(ParseError) as there:
        parse(wrong, new_context())
    assert str(there.value) == str(here.value)
    assert there.value.diagnostics == here.value.diagnostics


def test_bytes_for_which_mlir_gives_no_reason_are_refused():
    content = as_bytes(ADD)
    seen = set()
    for at in range(4, len(content), 7):
        try:
            parse(Source(content[:at] + b"\xff\xff" + content[at:]), new_context())
        except (ParseError, FormatError, SandboxError) as error:
            seen.add(type(error).__name__)
    assert "ParseError" in seen


@pytest.mark.parametrize("depth", [1, 50, 200])
def test_nesting_is_bounded_from_above(depth):
    text = "module attributes {a = " + "[" * depth + "]" * depth + "} {}"
    assert not nests_deeply(text)
    assert nests_deeply(text.replace("[" * depth, "[" * (MOST_NESTING + depth)))


@pytest.mark.parametrize(
    "text",
    [
        "// " + "[" * 5000,
        'module attributes {a.b = "' + "[(<{" * 2000 + '"} {}',
        "%0 = f(%a) : (tensor<3xf32>) -> tensor<3xf32>\n" * 5000,
    ],
)
def test_brackets_in_strings_and_comments_do_not_count(text):
    assert not nests_deeply(text)
