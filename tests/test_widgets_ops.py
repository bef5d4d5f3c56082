"""The ops of a function as a view asks for them: drawings, facts, lines, hits."""

import pytest

import kernel_magics as km
from kernel_magics.graph.ops_view import DEFAULT_LIMIT
from kernel_magics.widgets.commands import read_command
from tests.test_graph_ops_view import SMALL, chain, nested
from tests.test_widgets import FIRST, SECOND, Wire, answer


def request(function="main", **changes):
    """What a view asks for when it opens a function."""
    plain = {"root": "", "focus": "", "hops": 2, "opened": [], "closed": [], "folds_trivial": False}
    return {"function": function, **plain, **changes}


def draw(wire, function="main", **changes):
    return answer(wire.ask("ops", request=request(function, **changes)))


def labels(drawing):
    return [item["label"] for item in drawing["items"]]


def item(drawing, label):
    return next(one for one in drawing["items"] if one["label"] == label)


@pytest.fixture
def small(session) -> Wire:
    session.define(SMALL, name="small")
    return Wire(session)


@pytest.fixture
def two_units(session) -> Wire:
    session.define(FIRST, name="first")
    session.define(SECOND, name="second")
    return Wire(session)


def test_a_function_is_drawn_with_its_regions_inside_boxes(small):
    drawing = draw(small)
    case = item(drawing, "case")
    assert case["is_open"]
    inner = [block for block in drawing["blocks"] if block["item"] >= 0]
    assert [block["name"] for block in inner] == ["branch 0", "branch 1"]
    assert [block["title"] for block in inner] == ["1 op", "2 ops"]
    negate = item(drawing, "negate")
    frame = drawing["blocks"][negate["block"]]
    assert frame["x"] <= negate["x"]
    assert negate["y"] + negate["height"] <= frame["y"] + frame["height"]
    assert (negate["name"], negate["types"], negate["line"]) == (
        "stablehlo.negate",
        ["8xf32"],
        13,
    )
    assert item(drawing, "add")["note"] == ""
    assert drawing["counts"] == ["11 of 13 ops drawn"]
    assert drawing["folded"] == ["2 constants folded"]
    arrow = next(one for one in drawing["links"] if one["target"] == labels(drawing).index("case"))
    assert len(arrow["points"]) % 6 == 2
    assert {one["text"] for one in drawing["types"]} <= {"8xf32", "2x4xf32", "4x2xf32", "i32"}


def test_regions_fold_open_and_are_entered(small):
    case = item(draw(small), "case")["id"]
    folded = draw(small, closed=[case])
    assert not item(folded, "case")["is_open"]
    assert item(folded, "case")["folded_ops"] == 3
    assert "3 ops folded in the regions of 1 op" in folded["folded"]
    entered = draw(small, root=case)
    assert entered["path"] == [{"op": case, "label": f"case {case}"}]
    assert [block["name"] for block in entered["blocks"]] == ["branch 0", "branch 1"]
    assert all(block["is_framed"] for block in entered["blocks"])


def test_trivial_ops_fold_into_edges(small):
    drawing = draw(small, folds_trivial=True)
    assert "reshape" not in labels(drawing)
    assert "4 trivial ops folded" in drawing["folded"]
    assert [] in [link["via"] for link in drawing["links"]]
    assert ["reshape", "transpose", "reshape"] in [link["via"] for link in drawing["links"]]


def test_focus_shows_the_neighbours(small):
    multiply = item(draw(small), "multiply")
    near = draw(small, focus=multiply["op"], hops=1)
    assert "multiply" in labels(near)
    assert "transpose" not in labels(near)
    assert near["request"]["hops"] == 1
    assert any("out of focus" in phrase for phrase in near["folded"])


def test_a_long_function_folds_and_opens_within_the_limit(session):
    session.define(chain(4000), name="long")
    wire = Wire(session)
    drawing = draw(wire)
    groups = [one for one in drawing["items"] if one["kind"] == "group"]
    assert [one["label"] for one in groups][:2] == ["ops 1 to 400", "ops 401 to 800"]
    assert drawing["folded"] == ["4,000 ops folded into 10 groups by order"]
    opened = draw(wire, opened=[one["id"] for one in groups[:3]])
    assert len(opened["items"]) <= DEFAULT_LIMIT
    assert opened["request"]["opened"] == [groups[2]["id"]]
    assert opened["folded"][-1] == "2 groups folded again: 800 ops are drawn at most"


def test_what_has_no_body_says_so(two_units):
    assert two_units.ask("ops", request=request("gone"))["message"] == (
        "this has no ops to show\n"
        "  Declarations and custom calls have no body: what they do stands elsewhere."
    )
    failed = two_units.ask("ops", request=request("main", root="9"))
    assert failed["message"].startswith("`@main` has no op '9'")


def test_a_call_leads_to_its_function(two_units):
    call = item(draw(two_units), "helper")
    assert (call["does"], call["callee"]) == ("call", "helper")
    assert "add" in labels(draw(two_units, call["callee"]))


def test_all_that_is_known_of_an_op(two_units):
    helper = two_units.inspector._answers.snapshot.units[1].report["helper"].new_name
    add = item(draw(two_units, helper), "multiply")
    facts = answer(two_units.ask("op", function=helper, op=add["op"]))
    assert (facts["name"], facts["label"], facts["path"]) == (
        "stablehlo.multiply",
        "%0",
        f"@helper/{add['op']}",
    )
    assert facts["text"].startswith("%0 = stablehlo.multiply %arg0, %arg0")
    assert facts["operands"] == 2 * [{"name": "%x", "type": "3xf32", "op": "#0"}]
    assert facts["results"] == [{"name": "%0", "type": "3xf32", "op": ""}]
    assert [one["name"] for one in facts["users"]] == ["return"]
    merged, own = facts["places"]
    assert own == {"text": 1, "line": 6, "column": 8}
    for place, text in zip(facts["places"], facts["texts"], strict=True):
        line = text["lines"][place["line"] - text["first"]]
        assert line[place["column"] - 1 :].startswith("stablehlo.multiply")
    assert merged["text"] == -1
    argument = answer(two_units.ask("op", function=helper, op="#0"))
    assert (argument["name"], argument["text"]) == ("argument", "#0: 3xf32")
    assert len(argument["users"]) == 1


def test_attributes_come_when_they_are_asked_for(session):
    session.define(
        """func.func @main(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}""",
        name="dot",
    )
    facts = answer(Wire(session).ask("op", function="main", op="0"))
    assert {one["name"] for one in facts["attributes"]} == {"dot_dimension_numbers"}


def test_an_op_is_found_by_its_line_in_both_texts(two_units):
    function = two_units.inspector._answers.snapshot.units[1].report["helper"].new_name
    for text, name in ((1, "stablehlo.multiply"), (-1, "stablehlo.multiply")):
        count = answer(two_units.ask("text", text=text))["line_count"]
        lines = answer(two_units.ask("lines", text=text, first=1, count=count))["lines"]
        line = next(number for number, one in enumerate(lines, 1) if name in one)
        assert answer(two_units.ask("op_at", text=text, line=line)) == {
            "function": function,
            "op": "0",
        }
        above = answer(two_units.ask("op_at", text=text, line=line - 1))
        assert above == {"function": function, "op": ""}
    assert answer(two_units.ask("op_at", text=-1, line=1)) == {"function": "", "op": ""}
    assert two_units.ask("op_at", text=9, line=1)["kind"] == "failed"


def test_a_lone_function_has_its_ops_too(session):
    session.define(FIRST, name="first")
    session.define(SECOND, name="second")
    wire = Wire(session.functions["second"])
    entry = next(node for node in wire.inspector.view["nodes"] if node["is_entry"])
    drawing = draw(wire, entry["id"])
    call = item(drawing, "helper")
    facts = answer(wire.ask("op", function=entry["id"], op=call["op"]))
    assert [place["text"] for place in facts["places"]] == [-1, 0]
    assert [place["line"] for place in facts["places"]] == [3, 2]
    line = facts["places"][0]["line"]
    assert answer(wire.ask("op_at", text=-1, line=line))["op"] == call["op"]


def test_ops_are_found_in_the_module_and_in_one_function(two_units):
    found = answer(two_units.ask("find", query="op:multiply"))
    [hit] = found["hits"]
    assert (hit["name"], hit["op"], hit["item"]) == ("multiply", "0", "")
    assert hit["where"].endswith(", line 6")
    assert answer(two_units.ask("find", query="helper"))["total"] == 2
    within = answer(two_units.ask("find", query="helper", within="main"))
    assert [(one["node"], one["name"]) for one in within["hits"]] == [("main", "func.call")]


def test_hits_name_the_group_that_hides_them(session):
    session.define(chain(2000), name="long")
    wire = Wire(session)
    drawing = draw(wire)
    found = answer(wire.ask("find", query="op:tanh", within="main", drawn=drawing["request"]))
    assert found["total"] == 2000
    assert len(found["hits"]) == 500
    groups = [one["id"] for one in drawing["items"] if one["kind"] == "group"]
    assert {one["item"] for one in found["hits"]} == set(groups[:2])


def test_hits_in_folded_constants_mark_their_users(small):
    drawing = draw(small)
    found = answer(small.ask("find", query="op:constant", within="main", drawn=drawing["request"]))
    users = [item(drawing, "broadcast_in_dim")["id"], item(drawing, "multiply")["id"]]
    assert [one["item"] for one in found["hits"]] == users
    for hit, user in zip(found["hits"], users, strict=True):
        asked = small.ask("op", function="main", op=hit["op"], drawn=drawing["request"])
        assert answer(asked)["item"] == user


def test_a_query_that_is_none_says_where(two_units):
    message = two_units.ask("find", query="ops:add")["message"]
    assert message.startswith("A query knows no `ops:`; did you mean `op:`?\n  ops:add\n  ^^^^")


@pytest.mark.parametrize(
    ("query", "nearest"),
    [
        ("op:multipl type:f32", [{"query": "op:multiply type:f32", "total": 1}]),
        ("op:multiply type:f23", [{"query": "op:multiply type:f32", "total": 1}]),
        ("hepler", [{"query": "helper", "total": 2}]),
        ("helper unit:absent", [{"query": "helper", "total": 2}]),
        ("zzzzzz", []),
    ],
)
def test_a_query_without_hits_is_told_what_is_near(two_units, query, nearest):
    found = answer(two_units.ask("find", query=query))
    assert found["total"] == 0
    assert found["nearest"][: len(nearest)] == nearest
    assert bool(found["nearest"]) == bool(nearest)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"kind": "ops", "request": None}, "request"),
        ({"kind": "ops", "request": {"function": "main"}}, "request"),
        ({"kind": "ops", "request": request(opened=[1])}, "request"),
        ({"kind": "ops", "request": request(opened=["x"] * 2000)}, "request"),
        ({"kind": "find", "query": "x", "within": "", "drawn": {}}, "drawn"),
    ],
)
def test_a_request_of_another_form_is_refused(content, field):
    with pytest.raises(ValueError, match="reload the page") as caught:
        read_command({"id": "1", **content})
    kind = content["kind"]
    assert str(caught.value) == f"the command `{kind}` needs '{field}': reload the page"


def test_hostile_names_are_spelled(session):
    name = '"</script>\\22\\0A\\E2\\80\\AE"'
    session.define(
        f"""func.func @main() {{
  func.call @{name}() : () -> ()
  return
}}
func.func private @{name}() {{
  return
}}""",
        name="hostile",
    )
    drawing = draw(Wire(session))
    [call, *_] = drawing["items"]
    assert (call["label"], call["callee"]) == ('</script>"\\n\\u202e', '</script>"\n\u202e')


def test_deep_regions_open_step_by_step(session):
    session.define(nested(40), name="deep")
    wire = Wire(session)
    drawing = draw(wire)
    deepest = [one for one in drawing["items"] if one["folded_ops"]][-1]
    entered = draw(wire, root=deepest["op"])
    assert entered["path"][-1]["op"] == deepest["op"]
    assert len(entered["path"]) > 1


def test_a_drawing_is_made_once_for_equal_modules(small):
    first = draw(small)
    again = km.Session()
    again.define(SMALL, name="small")
    assert draw(Wire(again)) == first
