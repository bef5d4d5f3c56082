from functools import partial

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import kernel_magics as km
from kernel_magics.errors import EntryError, PrecisionError, PreflightError, SignatureError

TEXT = """
func.func @main(%x: tensor<4xf32>, %k: tensor<f32>) -> tensor<4xf32> {
  %0 = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
X = np.arange(4, dtype=np.float32)
WANTED = X * 2 * 3

scaled = partial(km.hlo_call, TEXT)


def check(results, *wanted):
    assert isinstance(results, tuple)
    assert len(results) == len(wanted)
    for result, expected in zip(results, wanted, strict=True):
        assert isinstance(result, jax.Array)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("k", [3.0, 3, np.float32(3), jnp.float32(3), np.array(3, np.float32)])
def test_arrays_and_scalars_of_every_kind_are_taken(k):
    check(scaled(X, k), WANTED)
    check(scaled(jnp.asarray(X), k), WANTED)
    check(jax.jit(scaled)(X, k), WANTED)
    check(jax.jit(lambda x: scaled(x, k))(X), WANTED)


def test_results_are_the_same_in_jit_and_in_nested_jit():
    inner = jax.jit(lambda x: scaled(x, 3.0)[0] + 1)
    np.testing.assert_array_equal(jax.jit(lambda x: inner(x) - 1)(X), WANTED)


def test_control_flow_bodies_can_call():
    def body(x):
        return scaled(x, 0.5)[0]

    np.testing.assert_array_equal(jax.lax.fori_loop(0, 5, lambda _, x: body(x), X), X)
    np.testing.assert_array_equal(jax.lax.scan(lambda x, _: (body(x), x), X, None, 3)[1][2], X)
    np.testing.assert_array_equal(jax.lax.cond(True, body, lambda x: x, X), X)
    looped = jax.lax.while_loop(lambda s: s[1] < 3, lambda s: (body(s[0]), s[1] + 1), (X, 0))
    np.testing.assert_array_equal(looped[0], X)


def test_a_call_with_constants_inside_a_trace_is_staged():
    check(jax.jit(lambda: scaled(X, 3.0))(), WANTED)


def test_shapes_are_known_without_running():
    result = jax.eval_shape(scaled, jax.ShapeDtypeStruct((4,), jnp.float32), 3.0)
    assert result == (jax.ShapeDtypeStruct((4,), jnp.float32),)


def test_jaxpr_prints_a_short_stable_name():
    text = str(jax.make_jaxpr(scaled)(X, np.float32(3)))
    assert "hlo_call[program=@main_" in text
    assert len(text) < 200
    assert "stablehlo" not in text


def test_lower_and_compile_ahead_of_time():
    compiled = jax.jit(scaled).lower(X, np.float32(3)).compile()
    check(compiled(X, np.float32(3)), WANTED)


def test_export_round_trip():
    exported = jax.export.export(jax.jit(scaled))(X, np.float32(3))
    again = jax.export.deserialize(exported.serialize())
    check(again.call(X, np.float32(3)), WANTED)


def test_sharded_arguments_keep_their_sharding():
    mesh = jax.make_mesh((4,), ("i",))
    x = jax.device_put(X, NamedSharding(mesh, P("i")))
    (result,) = jax.jit(scaled)(x, 3.0)
    np.testing.assert_array_equal(result, WANTED)
    assert result.sharding.is_equivalent_to(x.sharding, 1)


def test_many_calls_of_one_text_are_one_function():
    def many(x):
        for _ in range(50):
            (x,) = scaled(x, 1.0)
        return x

    text = jax.jit(many).lower(X).as_text()
    assert text.count("func.func") == 3
    assert text.count("call @main_") == 50


def test_the_same_text_in_other_spelling_is_the_same_function():
    def both(x):
        (x,) = scaled(x, 1.0)
        return km.hlo_call("// other spelling\n" + TEXT.replace("%x", "%other"), x, 1.0)

    assert jax.jit(both).lower(X).as_text().count("func.func") == 3


def test_only_the_entry_and_what_it_uses_is_linked():
    text = (
        TEXT
        + "\nfunc.func @unused(%x: tensor<4xf32>) -> tensor<4xf32>"
        + " { return %x : tensor<4xf32> }"
    )
    lowered = jax.jit(partial(km.hlo_call, text)).lower(X, 1.0).as_text()
    assert "@unused" not in lowered
    assert "@helper" in lowered


def test_imported_functions_are_private():
    lowered = jax.jit(scaled).lower(X, 1.0).as_text()
    assert lowered.count("func.func public") == 1
    assert lowered.count("func.func private") == 2


def test_two_programs_with_the_same_names_stay_apart():
    other = TEXT.replace("stablehlo.add", "stablehlo.multiply")

    def both(x):
        return scaled(x, 1.0)[0] + km.hlo_call(other, x, 1.0)[0]

    np.testing.assert_array_equal(jax.jit(both)(X), 2 * X + X * X)


@pytest.mark.parametrize("name", ["helper", "@helper"])
def test_any_function_can_be_the_entry(name):
    check(km.hlo_call(TEXT, X, func_name=name), 2 * X)


def test_unknown_entry_names_those_on_offer():
    with pytest.raises(EntryError) as error:
        km.hlo_call(TEXT, X, func_name="helpr")
    assert str(error.value) == (
        "The text has no function `@helpr`\n"
        "  Did you mean `@helper`?\n"
        "  on offer: `@main`, `@helper`\n"
        "  Choose one of them by its name."
    )


def test_an_entry_that_is_no_function_says_what_it_is():
    with pytest.raises(EntryError, match="is a `sdy.mesh`, not a function"):
        km.hlo_call(TEXT + '\nsdy.mesh @m = <["x"=1]>', X, func_name="m")


def test_dynamic_dimensions_follow_the_arguments():
    text = """func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.add %x, %y : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}"""
    for rows in (1, 3):
        x = np.ones((rows, 2), np.float32)
        check(km.hlo_call(text, x, x), 2 * x)
        assert jax.eval_shape(partial(km.hlo_call, text), x, x)[0].shape == (rows, 2)
    with pytest.raises(SignatureError, match="dynamic dimensions of `@main` cannot be worked out"):
        km.hlo_call(text, np.ones((2, 2), np.float32), np.ones((3, 2), np.float32))
    with pytest.raises(SignatureError, match="argument 1"):
        km.hlo_call(text, np.ones((2, 2), np.float32), np.ones((2, 3), np.float32))


def test_dynamic_entry_of_any_name_works_beside_another_main():
    text = """func.func @main() { return }
func.func @rows(%x: tensor<?xf32>) -> tensor<i32> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}"""
    check(km.hlo_call(text, np.ones(7, np.float32), func_name="rows"), 7)


def test_no_results_and_no_arguments():
    check(km.hlo_call("func.func @main() { return }"))


def test_repeated_results_stay_apart():
    text = "func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) { return %x, %x : tensor<f32>, tensor<f32> }"
    check(km.hlo_call(text, 1.0), 1.0, 1.0)


@pytest.mark.parametrize(
    ("element", "value", "fits"),
    [
        ("i8", 127, True),
        ("i8", 128, False),
        ("i8", -128, True),
        ("ui8", 255, True),
        ("ui8", -1, False),
        ("ui32", 3_000_000_000, True),
        ("i4", 7, True),
        ("i4", 8, False),
        ("f32", 2, True),
        ("bf16", 2.0, True),
        ("complex<f32>", 2.0, True),
        ("i32", 2.0, False),
        ("i1", True, True),
    ],
)
def test_python_scalars_mean_any_dtype_of_their_kind_or_are_refused(element, value, fits):
    text = f"func.func @main(%x: tensor<{element}>) -> tensor<{element}> {{ return %x : tensor<{element}> }}"
    calls = [
        lambda: km.hlo_call(text, value),
        lambda: jax.jit(lambda: km.hlo_call(text, value))(),
        lambda: km.Session().load(text)(value),
    ]
    for call in calls:
        if fits:
            assert np.asarray(call()[0]).item() == value
        else:
            with pytest.raises(SignatureError):
                call()


def test_values_that_are_no_arrays_are_refused():
    with pytest.raises(SignatureError, match="Argument 0 of `@main` is a `list`"):
        jax.jit(lambda k: scaled([1.0, 2.0], k))(1.0)


def test_64_bit_programs_are_never_cut():
    text = """func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  %0 = stablehlo.add %x, %x : tensor<2xf64>
  return %0 : tensor<2xf64>
}"""
    with pytest.raises(PrecisionError, match="jax_enable_x64"):
        km.hlo_call(text, np.ones(2))
    with jax.enable_x64(True):
        check(km.hlo_call(text, np.ones(2)), 2 * np.ones(2))
    with pytest.raises(PrecisionError):
        km.hlo_call(text, np.ones(2))


def test_missing_custom_call_is_an_error_of_ours():
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @nobody_serves_this(%x) {api_version = 4 : i32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""
    with pytest.raises(PreflightError) as caught:
        km.hlo_call(text, 1.0)
    assert (
        str(caught.value)
        == """`@main` cannot be compiled: no handler serves the custom call `nobody_serves_this` on the plugin `cpu`
  text:2:8
    %0 = stablehlo.custom_call @nobody_serves_this(%x) {api_version = 4 : i32} : (tensor<f32>) -> tensor …
         ^^^^^^^^^^^^^^^^^^^^^
  `km.custom_calls.register("nobody_serves_this", handler=…)` serves it, `fallback=` says what stands in for it."""
    )


def test_lapack_programs_run_in_a_fresh_process():
    import subprocess
    import sys

    text = """func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {
    api_version = 4 : i32, backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]
  } : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %0#0 : tensor<2x2xf32>
}"""
    program = f"import kernel_magics as km, numpy as np\nprint(km.hlo_call({text!r}, 4 * np.eye(2, dtype='f4'))[0][0, 0])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2.0"


def test_unit_of_eight_partitions_does_not_fit_a_program_of_one():
    text = f"module attributes {{mhlo.num_partitions = 8 : i32}} {{ {TEXT} }}"
    with pytest.raises(km.errors.LinkError, match="mhlo.num_partitions"):
        jax.jit(partial(km.hlo_call, text)).lower(X, 1.0)


def test_function_says_what_it_is():
    function = km.Session().load(TEXT, name="scale")
    assert repr(function) == "<HloFunction @main(x: f32[4], k: f32[]) -> (f32[4]) of scale>"
    assert str(function.signature) == "@main(x: f32[4], k: f32[]) -> (f32[4])"
    assert function.text == TEXT
    assert function.link_report["main"].why == "kept"
    assert [node.author_name for node in function.graph().nodes] == ["main", "helper"]


def test_nothing_is_compiled_twice(caplog):
    function = km.Session().load(TEXT.replace("add", "subtract"))
    with jax.log_compiles(True):
        function.lower(X, np.float32(1)).compile()
        caplog.clear()
        function(X, np.float32(1))
    assert "Compiling" not in caplog.text
