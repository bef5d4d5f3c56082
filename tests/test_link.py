import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.errors import LinkError
from kernel_magics.ir.context import new_context
from kernel_magics.ir.link import Target, link
from kernel_magics.ir.source import Source
from kernel_magics.ir.unit import read_unit

IDENTITY = "func.func @{0}(%x: tensor<3xf32>) -> tensor<3xf32> {{ return %x : tensor<3xf32> }}"
NEGATE = """func.func @{0}(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = stablehlo.negate %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""


def verify(session: km.Session) -> None:
    assert ir.Module.parse(session.module_text(), new_context()).operation.verify()


def test_names_that_are_free_stay_as_written(session):
    session.define(IDENTITY.format("main"))
    report = session.define(NEGATE.format("my_only_name"))
    assert report["my_only_name"].why == "kept"
    assert report.renamed == {}


def test_report_says_old_name_new_name_and_why(session):
    session.define(IDENTITY.format("main"), name="first")
    report = session.define(NEGATE.format("main"), name="second")
    symbol = report["main"]
    assert (symbol.old_name, symbol.why, symbol.kind) == ("main", "renamed", "func.func")
    assert symbol.new_name.startswith("main_")
    assert symbol.new_name == f"main_{Source(NEGATE.format('main')).tag[:4]}"
    assert str(report) == (
        "second: 1 symbol, 0 uses rewritten\n"
        f"  @main  @{symbol.new_name}  renamed  func.func  0 uses"
    )


def test_report_counts_the_uses_that_were_rewritten(session):
    calls = "\n".join(f"  %{i} = call @f() : () -> tensor<f32>" for i in range(5))
    text = f"""func.func private @f() -> tensor<f32> {{
  %c = stablehlo.constant dense<{{0}}> : tensor<f32>
  return %c : tensor<f32>
}}
func.func @main() {{
{calls}
  return
}}"""
    session.define(text.replace("{0}", "1.0"))
    report = session.define(text.replace("{0}", "2.0"))
    assert report["f"].uses == 5
    assert report.uses_rewritten == 5


def test_fresh_name_avoids_names_of_both_modules(session):
    session.define(IDENTITY.format("main"), name="first")
    fresh = session.define(NEGATE.format("main"), name="second")["main"].new_name
    session.reset()
    session.define(IDENTITY.format("main"), name="first")
    session.define(NEGATE.replace("negate", "sine").format(fresh), name="occupied")
    report = session.define(NEGATE.format("main"), name="second")
    assert report["main"].new_name != fresh
    assert report["main"].new_name.startswith("main_")
    verify(session)


def test_names_are_the_same_in_every_process():
    program = (
        "import kernel_magics as km\n"
        f"km.session.define({IDENTITY.format('main')!r})\n"
        f"km.session.define({NEGATE.format('main')!r})\n"
        "print(km.session.module_text())"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**__import__("os").environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_everything_is_private_after_linking(session):
    session.define(IDENTITY.format("main") + '\nsdy.mesh @mesh = <["x"=2]>')
    module = ir.Module.parse(session.module_text(), new_context())
    for view in module.body.operations:
        assert view.operation.attributes["sym_visibility"].value == "private"


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ("mhlo.num_partitions = 1 : i32", "mhlo.num_partitions = 1 : i32", "num_partitions = 1"),
        ("mhlo.num_partitions = 1 : i32", "mhlo.num_partitions = 8 : i32", "num_partitions = 8"),
        ("mhlo.num_partitions = 8 : i32", "mhlo.num_partitions = 1 : i32", "num_partitions = 8"),
        ("test.a = 1", "test.b = 2", "test.a = 1 : i64, test.b = 2 : i64"),
    ],
)
def test_module_attributes_that_agree_are_merged(session, first, second, merged):
    session.define(f"module attributes {{{first}}} {{ {IDENTITY.format('a')} }}")
    session.define(f"module attributes {{{second}}} {{ {NEGATE.format('b')} }}")
    assert merged in session.module_text()


def test_module_attributes_that_contradict_are_refused_and_nothing_changes(session):
    session.define(f"module attributes {{test.a = 1}} {{ {IDENTITY.format('a')} }}", name="one")
    before = session.module_text()
    with pytest.raises(LinkError) as error:
        session.define(f"module attributes {{test.a = 2}} {{ {NEGATE.format('b')} }}", name="two")
    assert str(error.value) == (
        "The module attribute `test.a` of `two` does not fit the module it is linked into\n"
        "  `two`: `2 : i64`\n"
        "  the module has `1 : i64`\n"
        "  Give both programs the same value, or remove the attribute from one."
    )
    assert session.module_text() == before
    assert list(session.units) == ["one"]


def test_layouts_of_a_units_own_entry_do_not_move(session):
    layouts = "mhlo.xla_entry_computation_parameter_layouts = [dense<0> : tensor<1xindex>]"
    session.define(f"module attributes {{{layouts}}} {{ {IDENTITY.format('a')} }}")
    assert "layouts" not in session.module_text()


def test_symbols_named_by_module_attributes_follow(session):
    session.define(IDENTITY.format("f"))
    report = session.define(f"module attributes {{test.at = @f}} {{ {NEGATE.format('f')} }}")
    assert f"test.at = @{report['f'].new_name}" in session.module_text()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=5, unique=True), max_size=6),
    st.randoms(use_true_random=False),
)
def test_any_sequence_of_units_links_to_a_module_that_verifies(names, random):
    context = new_context()
    module = ir.Module.parse("module {}", context)
    target = Target(module, ir.SymbolTable(module.operation))
    for number, symbols in enumerate(names):
        text = "\n".join(
            f"func.func @{symbol}() -> tensor<i32> {{\n"
            f"  %0 = call @{random.choice(symbols)}() : () -> tensor<i32>\n"
            f"  %1 = stablehlo.constant dense<{number}> : tensor<i32>\n"
            "  return %1 : tensor<i32>\n}"
            for symbol in symbols
        )
        unit = read_unit(Source(text), context)
        report = link(unit.module, unit.index, target, unit=str(number), tag=unit.source.tag)
        assert [symbol.old_name for symbol in report.symbols] == symbols
    module.operation.verify()
    defined = [view.operation.attributes["sym_name"].value for view in module.body.operations]
    assert len(defined) == len(set(defined)) == sum(map(len, names))


def test_what_nothing_defines_means_no_symbol_of_another_unit(session):
    text = "func.func @{0}(%x: tensor<f32>) -> tensor<f32> {{ return %x : tensor<f32> }}"
    user = (
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.custom_call @t(%x) {called_computations = [@nowhere]} : (tensor<f32>) -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}"
    )
    assert session.define(user, name="a").undefined == ("nowhere",)
    assert session.define(text.format("nowhere"), name="b")["nowhere"].why == "renamed"
    session.drop("a")
    assert session.define(NEGATE.format("nowhere"), name="c")["nowhere"].why == "kept"
    (name,) = session.define(user, name="d").undefined
    assert name != "nowhere"
    assert f"called_computations = [@{name}]" in session.module_text()
