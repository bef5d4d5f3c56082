import json
import time

import pytest

import kernel_magics as km
from kernel_magics.widgets.commands import read_command
from kernel_magics.widgets.saved import MOST_BYTES, SAVED_VIEW_TYPE

FIRST = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @helper(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @helper(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
SECOND = FIRST.replace("stablehlo.add", "stablehlo.multiply")
HOSTILE = "</script><img src=x onerror=alert(1)>]]>\\22\\0A\\E2\\80\\AE"


class Wire:
    """An inspector without a front end: what it sends is kept."""

    def __init__(self, thing) -> None:
        self.inspector = km.inspect(thing)
        self.sent: list[dict] = []
        self.inspector.send = lambda content, buffers=None: self.sent.append(content)

    def ask(self, kind: str, **fields) -> dict:
        if kind == "find":
            fields = {"within": "", "drawn": None, **fields}
        if kind == "op":
            fields = {"drawn": None, **fields}
        self.inspector._receive(None, {"kind": kind, "id": "1", **fields}, [])
        deadline = time.monotonic() + 90
        while not self.sent and time.monotonic() < deadline:
            time.sleep(0.01)
        reply = self.sent.pop()
        json.dumps(reply)
        assert reply["id"] == "1"
        return reply


def answer(reply: dict):
    assert reply["kind"] == "answered", reply
    return reply["answer"]


@pytest.fixture
def two_units(session) -> km.Session:
    session.define(FIRST, name="first")
    session.define(SECOND, name="second")
    return session


def test_the_view_has_all_functions_under_both_names(two_units):
    view = km.inspect(two_units).view
    names = [(node["name"], node["merged"] != "", node["units"]) for node in view["nodes"]]
    assert names == [
        ("@main", False, [0]),
        ("@helper", False, [0]),
        ("@main", True, [1]),
        ("@helper", True, [1]),
    ]
    assert [unit["letter"] for unit in view["units"]] == ["A", "B"]
    assert view["counts"] == ["4 functions", "2 units", "8 ops", "2 renamed"]
    assert view["folded"] == ""


def test_a_function_is_shown_as_merged_and_as_its_author_wrote_it(two_units):
    wire = Wire(two_units)
    symbol = two_units.units["second"].report["helper"].new_name
    found = answer(wire.ask("function", node=symbol))
    merged, own = found["texts"]
    assert merged["lines"][0] == (
        f"  func.func private @{symbol}(%arg0: tensor<3xf32>) -> tensor<3xf32> {{"
    )
    assert (own["text"], own["first"], own["lines"][-1]) == (1, 5, "}")
    assert found["type"] == "(3xf32) → 3xf32"
    assert found["callers"] == [two_units.units["second"].report["main"].new_name]


def test_the_rename_map_says_why(two_units):
    rows = answer(Wire(two_units).ask("symbols"))["rows"]
    said = [(row["old"], row["why"], row["explanation"], row["line"]) for row in rows]
    assert said == [
        ("@main", "kept", "", 1),
        ("@helper", "kept", "", 5),
        ("@main", "renamed", "@main was taken by first", 1),
        ("@helper", "renamed", "@helper was taken by first", 5),
    ]


def test_lines_come_in_pages(two_units):
    wire = Wire(two_units)
    facts = answer(wire.ask("text", text=-1))
    every = two_units.module_text().rstrip("\n").split("\n")
    assert facts["line_count"] == len(every)
    assert answer(wire.ask("lines", text=-1, first=2, count=3))["lines"] == every[1:4]
    assert answer(wire.ask("lines", text=-1, first=9999, count=3))["lines"] == []


def test_names_are_found_by_either_spelling(two_units):
    wire = Wire(two_units)
    assert answer(wire.ask("find", query="@HELPER"))["total"] == 2
    merged = two_units.units["second"].report["main"].new_name
    assert [hit["node"] for hit in answer(wire.ask("find", query=merged))["hits"]] == [merged]
    assert answer(wire.ask("find", query="  "))["total"] == 0


def test_a_view_is_told_that_the_module_changed_and_draws_it_again(two_units):
    wire = Wire(two_units)
    two_units.define(FIRST.replace("helper", "other"), name="third")
    assert wire.ask("find", query="x")["is_outdated"]
    assert len(wire.inspector.view["nodes"]) == 4
    wire.ask("redraw")
    assert "third" in [unit["name"] for unit in wire.inspector.view["units"]]
    assert not wire.ask("find", query="x")["is_outdated"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "the kernel knows no command 'None': reload the page"),
        ({"kind": "eval", "id": "1"}, "the kernel knows no command 'eval': reload the page"),
        ({"kind": "find", "id": "1"}, "the command `find` needs 'query': reload the page"),
        (
            {"kind": "text", "id": "1", "text": True},
            "the command `text` needs 'text': reload the page",
        ),
    ],
)
def test_what_is_no_command_is_refused(content, message):
    with pytest.raises(ValueError, match="reload the page") as caught:
        read_command(content)
    assert str(caught.value) == message


def test_every_failure_is_a_reply(two_units):
    wire = Wire(two_units)
    assert wire.ask("function", node="gone")["message"] == (
        "the module has no such function any more"
    )
    assert wire.ask("text", text=7)["kind"] == "failed"
    assert wire.ask("nonsense")["kind"] == "failed"


def test_only_sessions_and_functions_are_inspected():
    with pytest.raises(km.KernelMagicsError) as caught:
        km.inspect("func.func @main()")
    assert str(caught.value) == (
        "`inspect` takes a session or a function of a unit; a `str` was given\n"
        "  `km.inspect(km.session)` shows all that the notebook has linked."
    )


def test_a_function_alone_and_one_of_a_unit(session):
    function = session.load(SECOND, name="unit")
    for thing in (function, km.HloFunction(function.program)):
        wire = Wire(thing)
        assert [node["name"] for node in wire.inspector.view["nodes"]] == ["@main", "@helper"]
        texts = answer(wire.ask("function", node=wire.inspector.view["nodes"][1]["id"]))["texts"]
        assert [text["text"] for text in texts] == [-1, 0]
        assert len(answer(wire.ask("symbols"))["rows"]) == 2


def test_a_module_without_functions_has_an_empty_view(session):
    inspector = km.inspect(session)
    assert inspector.view["nodes"] == []
    bundle, _ = inspector._repr_mimebundle_()
    assert bundle["text/plain"] == "session: this module holds no function."


def test_each_display_has_text_picture_and_the_saved_view(two_units):
    bundle, _ = km.inspect(two_units)._repr_mimebundle_()
    assert set(bundle) == {
        "application/vnd.jupyter.widget-view+json",
        "image/png",
        "image/svg+xml",
        "text/plain",
        SAVED_VIEW_TYPE,
    }
    saved = bundle[SAVED_VIEW_TYPE]["saved"]
    assert len(saved["symbols"]) == 4
    merged, first, second = (text["lines"] for text in saved["texts"])
    assert merged == two_units.module_text().rstrip("\n").split("\n")
    assert (first, second) == (FIRST.split("\n"), SECOND.split("\n"))


def test_a_note_stands_in_every_form(two_units):
    inspector = km.Inspector(two_units, note="compiled in 0.2 s")
    bundle, _ = inspector._repr_mimebundle_()
    assert bundle["text/plain"].endswith("\ncompiled in 0.2 s")
    assert "compiled in 0.2 s" in bundle["image/svg+xml"]
    assert bundle[SAVED_VIEW_TYPE]["saved"]["note"] == "compiled in 0.2 s"


def test_hostile_names_stay_data(session):
    text = f'func.func @main() {{ func.call @"{HOSTILE}"() : () -> () return }}\n'
    text += f'func.func private @"{HOSTILE}"() {{ return }}\n'
    session.define(
        text.replace("() return }", "()\n return\n}").replace("{ return }", "{\n return\n}")
    )
    wire = Wire(session)
    name = wire.inspector.view["nodes"][1]["name"]
    assert name.startswith("@</script><img")
    assert "\n" not in name
    assert "\u202e" not in name
    node = wire.inspector.view["nodes"][1]["id"]
    assert len(answer(wire.ask("function", node=node))["texts"]) == 2


def test_constants_of_megabytes_are_elided(session):
    body = ", ".join(f"{value}.0" for value in range(20_000))
    session.define(
        "func.func @main() -> tensor<20000xf32> {\n"
        f"  %0 = stablehlo.constant dense<[{body}]> : tensor<20000xf32>\n"
        "  return %0 : tensor<20000xf32>\n}\n"
    )
    wire = Wire(session)
    found = answer(wire.ask("function", node="main"))
    assert len(json.dumps(found)) < 6_000
    bundle, _ = wire.inspector._repr_mimebundle_()
    assert len(json.dumps(bundle[SAVED_VIEW_TYPE])) < MOST_BYTES
