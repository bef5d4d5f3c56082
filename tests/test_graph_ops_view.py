"""What is drawn of a function: folded constants, regions, groups, neighbours."""

import pytest

from kernel_magics.errors import UsageError
from kernel_magics.graph.ops_source import UnitOps
from kernel_magics.graph.ops_view import ViewOptions
from kernel_magics.ir.source import Source

T = "tensor<8xf32>"
SMALL = """func.func @main(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %big = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %a = stablehlo.add %x, %ones : tensor<8xf32>
  %b = stablehlo.multiply %a, %big : tensor<8xf32>
  %r = stablehlo.reshape %b : (tensor<8xf32>) -> tensor<2x4xf32>
  %t = stablehlo.transpose %r, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %u = stablehlo.reshape %t : (tensor<4x2xf32>) -> tensor<8xf32>
  %case = "stablehlo.case"(%i) ({
    stablehlo.return %u : tensor<8xf32>
  }, {
    %n = stablehlo.negate %a : tensor<8xf32>
    stablehlo.return %n : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %case : tensor<8xf32>
}"""


def opened(text):
    return UnitOps(Source(text), "unit", {}).open("main")


@pytest.fixture(scope="module")
def small():
    return opened(SMALL)


def by_label(block):
    return {item.label: item for item in block.items}


def links(block):
    return [
        (block.items[link.source].label, block.items[link.target].label, link.type)
        for link in block.links
    ]


def chain(count, scope=None):
    """A chain of ops; `scope(i)` names where op `i` stands."""
    lines = [f"func.func @main(%v0: {T}) -> {T} {{"]
    for i in range(count):
        place = f' loc("{scope(i)}/tanh")' if scope else ""
        lines.append(f"  %v{i + 1} = stablehlo.tanh %v{i} : {T}{place}")
    return "\n".join([*lines, f"  return %v{count} : {T}", "}"])


def nested(depth):
    lines = [f"func.func @main(%x: {T}, %p: tensor<i1>) -> {T} {{"]
    lines += [f'%r{i} = "stablehlo.if"(%p) ({{' for i in range(depth)]
    lines.append(f"stablehlo.return %x : {T}")
    for i in reversed(range(depth)):
        end = f"stablehlo.return %r{i} : {T}" if i else f"return %r0 : {T}"
        lines.append(f"}}, {{ stablehlo.return %x : {T} }}) : (tensor<i1>) -> {T}\n{end}")
    return "\n".join([*lines, "}"])


def test_constants_stand_beside_their_users(small):
    (block,) = small.view().blocks
    items = by_label(block)
    assert "constant" not in items
    assert items["broadcast_in_dim"].note == "const 1"
    assert items["multiply"].note == "const 8xf32"
    assert small.view().folded_constants == 2


def test_trivial_ops_fold_into_edges_that_stay(small):
    view = small.view(ViewOptions(is_trivial_folded=True))
    (block,) = view.blocks
    assert [item.label for item in block.items] == ["%x", "%i", "add", "multiply", "case", "return"]
    assert by_label(block)["add"].note == "const 1"
    assert ("multiply", "case", "8xf32") in links(block)
    link = next(one for one in block.links if block.items[one.source].label == "multiply")
    assert link.via == ("reshape", "transpose", "reshape")
    assert view.folded_trivial == 4
    assert view.owner(small.number("1")) == "3"
    assert "4 trivial ops folded" in view.phrases()


def test_regions_are_nested_and_captured_values_are_told(small):
    (block,) = small.view().blocks
    case = by_label(block)["case"]
    assert [region.name for region in case.regions] == ["branch 0", "branch 1"]
    first, second = case.regions
    assert [(item.kind, item.label) for item in second.items] == [
        ("captured", "%a"),
        ("op", "negate"),
        ("return", "return"),
    ]
    assert links(second) == [("%a", "negate", "8xf32"), ("negate", "return", "8xf32")]
    assert links(first) == [("%u", "return", "8xf32")]
    assert ("add", "case", "8xf32") in links(block)


def test_a_region_folds_and_opens_by_id(small):
    view = small.view(ViewOptions(closed=frozenset({"8"})))
    case = by_label(view.blocks[0])["case"]
    assert case.regions == ()
    assert case.folded_ops == 3
    assert "3 ops folded in the regions of 1 op" in view.phrases()
    assert view.owner(small.number("8/1.0.0")) == "8"
    assert small.view().owner(small.number("8/1.0.0")) == "8/1.0.0"
    tight = small.view(ViewOptions(limit=12))
    assert not by_label(tight.blocks[0])["case"].regions
    asked = small.view(ViewOptions(limit=12, opened=frozenset({"8"})))
    assert by_label(asked.blocks[0])["case"].regions


def test_an_op_is_entered(small):
    view = small.view(ViewOptions(root="8"))
    assert [block.name for block in view.blocks] == ["branch 0", "branch 1"]
    assert view.owner(small.number("3")) == ""
    with pytest.raises(UsageError, match="has no op 'x'"):
        small.view(ViewOptions(root="x"))


def test_a_reducer_of_one_op_is_told_by_its_name_and_opens_when_asked():
    graph = opened("""func.func @main(%x: tensor<8xf32>) -> tensor<f32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      return %s : tensor<f32>
    }""")
    item = by_label(graph.view().blocks[0])["reduce"]
    assert (item.note, item.regions, item.folded_ops) == ("add const 0", (), 2)
    item = by_label(graph.view(ViewOptions(opened=frozenset({"1"}))).blocks[0])["reduce"]
    assert [one.label for one in item.regions[0].items][2:] == ["add", "return"]


def test_unused_arguments_and_values_passed_through_are_told_not_drawn():
    carried = ", ".join(f"%c{i} = %x" for i in range(5))
    types = ", ".join([T] * 5)
    graph = opened(f"""func.func @main(%x: {T}) -> {T} {{
      %r:5 = stablehlo.while({carried}) : {types} cond {{
        %p = stablehlo.constant dense<true> : tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %n = stablehlo.negate %c4 : {T}
        stablehlo.return %c0, %c1, %c2, %c3, %n : {types}
      }}
      return %r#4 : {T}
    }}""")
    cond, body = by_label(graph.view().blocks[0])["while"].regions
    assert (cond.unused, [item.label for item in cond.items]) == (5, ["return"])
    assert cond.items[0].note == "const true"
    assert by_label(body)["return"].note == "+ 4 passed through"
    assert links(body) == [("%c4", "negate", "8xf32"), ("negate", "return", "8xf32")]


@pytest.mark.parametrize("count", [10, 799, 800, 900, 3000, 50_000])
def test_a_view_never_draws_more_than_the_limit(count):
    graph = opened(chain(count))
    view = graph.view()
    assert view.drawn <= 800
    shown = sum(item.kind in ("op", "return") for item in view.items())
    folded = sum(item.folded_ops for item in view.items() if item.kind == "group")
    assert shown + folded == graph.op_count
    members = [n for item in view.items() for n in item.members]
    assert len(members) == len(set(members))
    assert all(view.owner(number) for number in range(len(graph.nodes)))


def test_groups_say_their_rule_and_open_in_place():
    graph = opened(chain(3000))
    view = graph.view()
    group = next(item for item in view.items() if item.kind == "group")
    assert (group.rule, group.note) == ("order", "400 ops folded by order")
    assert group.id == "0..399"
    assert view.phrases() == ["3,000 ops folded into 8 groups by order"]
    wider = graph.view(ViewOptions(opened=frozenset({group.id})))
    assert wider.drawn == view.drawn + 399
    assert wider.owner(graph.number("5")) == "5"
    assert view.owner(graph.number("5")) == "0..399"


def test_a_group_larger_than_the_limit_opens_into_groups():
    graph = opened(chain(200_0))
    view = graph.view(ViewOptions(limit=50))
    group = next(item for item in view.items() if item.kind == "group")
    inner = graph.view(ViewOptions(limit=50, opened=frozenset({group.id})))
    assert sum(item.kind == "group" for item in inner.items()) > sum(
        item.kind == "group" for item in view.items()
    )


def test_ops_of_one_name_scope_form_a_group():
    graph = opened(chain(2000, lambda i: f"jit(f)/layer_{i // 500}/block({i}/x)"))
    view = graph.view()
    groups = [item for item in view.items() if item.kind == "group"]
    assert [item.label for item in groups] == [f"layer_{i}" for i in range(4)]
    assert {item.rule for item in groups} == {"name scope"}
    assert view.phrases() == ["2,000 ops folded into 4 groups by name scope"]


def test_groups_do_not_depend_on_each_other():
    graph = opened(chain(2000, lambda i: f"f/{'ab'[i % 7 == 0]}"))
    for view in (graph.view(), graph.view(ViewOptions(limit=60))):
        for block in view.blocks:
            assert all(link.source < link.target for link in block.links)


def test_links_between_groups_count_their_values():
    lines = [f"func.func @main(%x: {T}) -> {T} {{"]
    lines += [f"%a{i} = stablehlo.tanh %x : {T}" for i in range(20)]
    lines += [f"%b{i} = stablehlo.negate %a{i} : {T}" for i in range(20)]
    graph = opened("\n".join([*lines, f"return %b0 : {T}", "}"]))
    (block,) = graph.view(ViewOptions(limit=10)).blocks
    assert sum(link.count for link in block.links) == 2 + 20 + 1
    assert {link.type for link in block.links} == {"8xf32"}


def test_focus_shows_the_neighbours_and_says_how_many_are_not_there():
    graph = opened(chain(5000))
    view = graph.focus("2500", hops=2)
    assert [item.id for item in view.items()] == ["2498", "2499", "2500", "2501", "2502"]
    assert view.phrases() == ["4,997 more out of focus"]
    assert graph.focus("2500", hops=10_000).drawn <= 301


def test_focus_inside_a_region_and_on_a_constant(small):
    inside = small.focus("8/1.0.0", 1)
    assert [item.label for item in inside.items()] == ["%a", "negate", "return"]
    constant = small.focus("0", 1)
    assert [item.label for item in constant.items()] == ["constant", "broadcast_in_dim"]


def test_regions_nest_as_deep_as_a_picture_can():
    graph = opened(nested(100))
    view = graph.view()
    assert 10 < view.drawn < 60
    assert view.owner(len(graph.nodes) // 2) != ""
    every = graph.view(ViewOptions(opened=frozenset(node.id for node in graph.nodes)))
    assert view.drawn < every.drawn < 150
    deepest = max(graph.nodes, key=lambda node: node.id.count("/"))
    assert deepest.id.count("/") == 100
    entered = graph.view(ViewOptions(root=deepest.id.rpartition("/")[0]))
    assert entered.drawn == 4


def test_very_many_arguments_and_calls_fold():
    arguments = ", ".join(f"%a{i}: {T}" for i in range(2000))
    graph = opened(f"func.func @main({arguments}) -> {T} {{ return %a7 : {T} }}")
    view = graph.view()
    assert [item.label for item in view.items()] == ["2,000 arguments", "return"]
    assert view.drawn == 2


def test_control_flow_between_blocks_is_drawn_block_by_block():
    graph = opened(
        """func.func @main(%x: tensor<f32>, %p: i1) -> tensor<f32> {
      cf.cond_br %p, ^bb2, ^bb1
    ^bb1:
      %u = stablehlo.negate %late : tensor<f32>
      return %u : tensor<f32>
    ^bb2:
      %late = stablehlo.tanh %x : tensor<f32>
      cf.br ^bb1
    }""".replace("cf.cond_br %p, ^bb2, ^bb1", "cf.br ^bb2")
    )
    blocks = graph.view().blocks
    assert [block.name for block in blocks] == ["", "^bb1", "^bb2"]
    assert links(blocks[1])[0][:2] == ("%late", "negate")
    assert graph["1.0"].operands == ((graph.number("2.0"), 0),)
