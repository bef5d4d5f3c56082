"""Functions of programs that nobody of this project wrote: they open, are drawn, have lines."""

import importlib.util
import json

import jax
import pytest
from jax.extend.mlir import ir

from kernel_magics.graph.ops_layout import lay_out_ops
from kernel_magics.graph.ops_source import UnitOps
from kernel_magics.ir.context import new_context
from kernel_magics.ir.source import Source
from tests.corpus.conftest import ROOT

OLD_JAX = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)
# Written by a newer StableHLO than this jaxlib reads.
TOO_NEW_FOR_OLD_JAX = ("vhlo_1_20_0.mlir.bc",)
# Types of a dialect that text alone does not load: MLIR cannot read there what it wrote.
WITHOUT_PLACES = ("vhlo_0_9_0.mlir.bc", "vhlo_1_0_0.mlir.bc", "vhlo_1_20_0.mlir.bc")

pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason=f"no corpus at {ROOT}")


def good_files():
    if not ROOT.is_dir():
        return []
    found = []
    for entry in json.loads((ROOT / "real/MANIFEST.json").read_text()):
        fails = "FAIL" in entry["parse"] and not entry["file"].endswith(".hlo")
        too_new = OLD_JAX and entry["file"] in TOO_NEW_FOR_OLD_JAX
        if not (fails or too_new or "REJECT" in entry["file"]):
            found.append(entry["file"])
    return found


def functions(module):
    return {
        ir.StringAttr(view.operation.attributes["sym_name"]).value: view.operation
        for view in module.body.operations
        if view.operation.name == "func.func"
    }


def true_places(function):
    places = []

    def visit(operation):
        held = [
            a for region in operation.regions for block in region.blocks for a in block.arguments
        ]
        locations = [operation.location, *(argument.location for argument in held)]
        places.extend((location.start_line, location.start_col) for location in locations)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return places[1:]


@pytest.mark.parametrize("file", good_files())
def test_every_function_of_a_real_file_opens_and_has_its_lines(file, session):
    session.define(ROOT / "real" / file, name=file)
    graph = session.graph()
    text = session.module_text()
    if file not in WITHOUT_PLACES:
        module = ir.Module.parse(text, new_context())
        merged = functions(module)
    opened = 0
    for node in graph.nodes:
        if node.kind != "function":
            continue
        ops = graph.ops(node.id)
        opened += 1
        assert ops.op_count == node.op_count
        view = ops.view()
        assert view.drawn <= 1000
        assert all(
            view.owner(n)
            for n, one in enumerate(ops.nodes)
            if one.kind == "op" and not one.block[0] >= 0 and one.does != "constant"
        )
        if file in WITHOUT_PLACES:
            continue
        assert all(place != (0, 0) for place in (one.place for one in ops.nodes))
        assert ops.merged_places(text) == true_places(merged[node.id])
    assert opened == sum(node.kind == "function" for node in graph.nodes)
    first = next((node.id for node in graph.nodes if node.kind == "function"), None)
    if first is not None:
        ops = graph.ops(first)
        assert ops.to_svg().startswith("<svg")
        assert ops.to_text()
        assert json.loads(ops.to_json())["function"] == first
        for node in ops.nodes[:50]:
            assert all(len(value) < 600 for value in ops.attributes(node.id).values())


@pytest.fixture(scope="module")
def generated():
    spec = importlib.util.spec_from_file_location("gen_text", ROOT / "large/gen_text.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda kind, count: "\n".join(getattr(module, kind)(count))


@pytest.mark.parametrize(
    ("kind", "count", "ops"),
    [
        ("flat", 10_000, 10_001),
        ("layers", 10_000, 201),
        ("flat", 50_000, 50_001),
        ("chain", 500, 2),
        ("fan", 2000, 2001),
        ("names", 500, 501),
        ("deepregion", 100, 301),
    ],
)
def test_large_functions_open_and_are_laid_out(generated, kind, count, ops):
    graph = UnitOps(Source(generated(kind, count)), "u", {}).open("main")
    assert graph.op_count == ops
    view = graph.view()
    assert view.drawn <= 800
    layout = lay_out_ops(view, "plain")
    assert len(layout.items) == view.drawn
    assert len(graph.to_svg()) < 200_000
    last = graph.find("op:return")[-1]
    assert view.owner(graph.number(last.op)) == last.op
    names = {number: node.id for number, node in enumerate(graph.nodes)}
    assert len(set(names.values())) == len(names)
