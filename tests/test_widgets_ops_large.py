"""Large modules and those of other projects: all their functions are shown within bounds."""

import importlib.util
import json

import pytest

import kernel_magics as km
from kernel_magics.graph.ops_view import DEFAULT_LIMIT
from tests.corpus.conftest import ROOT
from tests.test_graph_ops_corpus import good_files
from tests.test_widgets import Wire, answer
from tests.test_widgets_ops import draw

# What a page takes without a pause; a drawing of 800 ops has about half of it.
MOST_BYTES = 1_000_000
LARGE = {
    "flat 10000": 25,
    "layers 10000": 0,
    "flat 50000": 125,
    "chain 500": 0,
    "fan 2000": 5,
    "names 500": 0,
    "deepregion 100": 0,
}

pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason=f"no corpus at {ROOT}")


def generated(kind, count):
    spec = importlib.util.spec_from_file_location("gen_text", ROOT / "large/gen_text.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return "\n".join(getattr(module, kind)(count))


def check(drawing):
    assert 0 < len(drawing["items"]) <= DEFAULT_LIMIT + 100
    assert len(json.dumps(drawing)) < MOST_BYTES
    total = len(drawing["items"])
    for link in drawing["links"]:
        assert 0 <= link["source"] < total
        assert 0 <= link["target"] < total


@pytest.mark.parametrize(("name", "groups"), LARGE.items())
def test_large_modules_open_within_bounds(session, name, groups):
    kind, count = name.split()
    session.define(generated(kind, int(count)), name="big")
    wire = Wire(session)
    assert len(json.dumps(wire.inspector.view)) < MOST_BYTES
    drawing = draw(wire)
    check(drawing)
    folded = [one for one in drawing["items"] if one["kind"] == "group"]
    assert len(folded) == groups
    if folded:
        opened = draw(wire, opened=[folded[0]["id"]])
        check(opened)
        assert len(opened["items"]) > len(drawing["items"])
    last = drawing["items"][-1]["op"]
    facts = answer(wire.ask("op", function="main", op=last))
    places = {place["text"]: place["line"] for place in facts["places"]}
    assert set(places) == {-1, 0}
    for text, line in places.items():
        assert answer(wire.ask("op_at", text=text, line=line)) == {"function": "main", "op": last}
    answer(wire.ask("find", query="op:sine", within="main", drawn=drawing["request"]))


@pytest.mark.parametrize("name", good_files())
def test_functions_of_real_files_open(name):
    session = km.Session()
    session.define(ROOT / "real" / name)
    wire = Wire(session)
    functions = [node["id"] for node in wire.inspector.view["nodes"] if node["kind"] == "function"]
    for function in functions[:5]:
        drawing = draw(wire, function)
        check(drawing)
        facts = answer(wire.ask("op", function=function, op=drawing["items"][-1]["op"]))
        assert facts["name"]
