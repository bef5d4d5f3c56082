"""Contracts: read, printed, held against calls."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kernel_magics.custom_call.contract import contract
from kernel_magics.custom_call.contract_types import ArrayKind
from kernel_magics.errors import SignatureError, UsageError

RMS = "(x: f32[b, n], w: f32[n], eps: f32 = 1e-06) -> f32[b, n]"


def array(word: str):
    """`f32[2,3]` as an array's type."""
    name, _, dims = word.removesuffix("]").partition("[")
    dtype = {"f32": "float32", "f64": "float64", "i32": "int32", "bf16": "bfloat16"}.get(name, name)
    shape = tuple(int(d) for d in dims.split(",") if d)
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


def check(text, *words, **attributes):
    return contract(text).check("norm", [array(word) for word in words], attributes)


def results(*call, **attributes) -> str:
    found = check(*call, **attributes).results
    return " ".join(f"{np.dtype(r.dtype).name}{list(r.shape)}" for r in found)


@pytest.mark.parametrize(
    ("text", "given", "gives"),
    [
        (RMS, ("f32[2,3]", "f32[3]"), "float32[2, 3]"),
        ("(f32[]) -> f32[]", ("f32[]",), "float32[]"),
        ("() -> i32[3]", (), "int32[3]"),
        ("(f32[n]) -> ()", ("f32[4]",), ""),
        ("(f32[a], f32[b]) -> (f32[a + b], bool[a*b - 1])", ("f32[4]", "f32[2]"), "float32[6] bool[7]"),
        ("(f32[2*n + 1]) -> f32[n]", ("f32[7]",), "float32[3]"),
        ("(f32[m - n], f32[n]) -> f32[m]", ("f32[7]", "f32[2]"), "float32[9]"),
        ("(f32[10 - n]) -> f32[n]", ("f32[7]",), "float32[3]"),
        ("(f32[n + k], f32[2*k]) -> f32[n]", ("f32[7]", "f32[4]"), "float32[5]"),
        ("(f32[..., n]) -> f32[..., n // 2]", ("f32[2,5,7]",), "float32[2, 5, 3]"),
        ("(f32[..., n]) -> f32[...]", ("f32[7]",), "float32[]"),
        ("(f32[...], f32[...]) -> f32[...]", ("f32[2,3]", "f32[2,3]"), "float32[2, 3]"),
        ("(T[n], T[n]) -> T[n]", ("bf16[2]", "bf16[2]"), "bfloat16[2]"),
        ("(T[n]) -> T[n] where T: f32 | bf16", ("bf16[2]",), "bfloat16[2]"),
        ("(f32 | f64[n]) -> i32[n]", ("f64[2]",), "int32[2]"),
        ("(f32[n]) -> f32[max(n, 4)] where n % 2 == 0; n >= 2", ("f32[2]",), "float32[4]"),
        ("(u8[n], pred[], s32[1], c64[n]) -> f8E4M3FN[n]", ("uint8[2]", "bool[]", "i32[1]", "complex64[2]"), "float8_e4m3fn[2]"),
        ("(f32[n]) -> f32[mod(n, 4), floordiv(n, 4)]", ("f32[11]",), "float32[3, 2]"),
    ],
)  # fmt: skip
def test_calls_that_fit_are_typed(text, given, gives):
    assert results(text, *given) == gives
    # And it reads what it prints.
    assert contract(str(contract(text))) == contract(text)


@pytest.mark.parametrize(
    ("text", "given", "sentence", "advice"),
    [
        (RMS, ("f64[2,3]", "f32[3]"), "`x` is f64[2,3]; f32[b, n] is wanted", 'Cast it, for example with `.astype("float32")`.'),
        (RMS, ("f32[2,3]", "f32[4]"), "`w` is f32[4]; f32[n] is wanted, and `n` is 3 from `x`", "Give arrays whose shapes fit each other."),
        (RMS, ("f32[2,3,4]", "f32[4]"), "`x` is f32[2,3,4]; f32[b, n] is wanted, of 2 dimensions", "Reshape it, or use `jax.vmap`."),
        (RMS, ("f32[2,3]",), "it takes 2 arguments, and 1 is given", "Give one for each type in the contract."),
        ("(f32[n]) -> ()", (), "it takes 1 argument, and 0 are given", "Give one for each type in the contract."),
        ("(f32[n, 3]) -> ()", ("f32[2,4]",), "argument 1 is f32[2,4]; f32[n, 3] is wanted", "Give arrays whose shapes fit each other."),
        ("(f32[2*n]) -> ()", ("f32[7]",), "argument 1 is f32[7]; f32[2*n] is wanted, and no whole number makes `2*n` 7", "Give another shape."),
        ("(f32[n + 8]) -> ()", ("f32[7]",), "argument 1 is f32[7]; f32[n + 8] is wanted, and no whole number makes `n + 8` 7", "Give another shape."),
        ("(f32[n]) -> f32[n - 8]", ("f32[7]",), "f32[n - 8] is no type of a result, and `n - 8` is -1 from argument 1", "Give arrays of other shapes."),
        ("(f32[n]) -> f32[8 // n]", ("f32[0]",), "f32[8 // n] is no type of a result, and `8 // n` has no value", "Give arrays of other shapes."),
        ("(f32[n], f32[2*n]) -> ()", ("f32[3]", "f32[7]"), "argument 2 is f32[7]; f32[2*n] is wanted, and `2*n` is 6 from argument 1", "Give arrays whose shapes fit each other."),
        ("(T[n], T[n]) -> ()", ("f32[3]", "i32[3]"), "argument 2 is i32[3]; T[n] is wanted, and `T` is f32", 'Cast it, for example with `.astype("float32")`.'),
        ("(T[n]) -> () where T: f32 | bf16", ("i32[3]",), "argument 1 is i32[3]; T[n] is wanted, and `T` is f32 or bf16", 'Cast it, for example with `.astype("float32")`.'),
        ("(f32[..., n], f32[...]) -> ()", ("f32[2,3]", "f32[3]"), "argument 2 is f32[3]; f32[...] is wanted, and `...` is [2]", "Give arrays whose shapes fit each other."),
        ("(f32[..., n, 2]) -> ()", ("f32[2]",), "argument 1 is f32[2]; f32[..., n, 2] is wanted, of at least 2 dimensions", "Reshape it, or use `jax.vmap`."),
        ("(f32[n]) -> () where n % 8 == 0", ("f32[12]",), "`n % 8 == 0` is wanted, and `n` is 12", "Give arrays of other shapes."),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit_are_refused_in_words(text, given, sentence, advice):
    with pytest.raises(SignatureError) as error:
        check(text, *given)
    shown = ", ".join(given) or "nothing"
    assert str(error.value) == (
        f"Custom call `norm`: {sentence}\n  contract: {contract(text)}\n  given: {shown}\n  {advice}"
    )


@pytest.mark.parametrize(
    ("declared", "given", "becomes"),
    [
        ("k: f32", 0.5, np.float32(0.5)),
        ("k: f64", 1, np.float64(1)),
        ("k: i32", 3, np.int32(3)),
        ("k: i32", 3.0, np.int32(3)),
        ("k: u8", np.int64(255), np.uint8(255)),
        ("k: i64", jnp.int32(3), np.int64(3)),
        ("k: bool", True, np.bool_(True)),
        ("k: bf16", 0.1, np.dtype(jnp.bfloat16).type(0.1)),
        ("k: c64", 1, np.complex64(1)),
        ("k: str", "text", "text"),
        ("k: [i32]", [1, 2], np.array([1, 2], np.int32)),
        ("k: [f32]", (), np.zeros(0, np.float32)),
        ("k: [bool]", [True, False], np.array([True, False])),
    ],
)
def test_attributes_are_cast_to_their_declared_types(declared, given, becomes):
    found = check(f"({declared}) -> ()", k=given).attributes["k"]
    assert type(found) is type(becomes)
    np.testing.assert_array_equal(found, becomes)
    if not isinstance(becomes, str):
        assert found.dtype == becomes.dtype


@pytest.mark.parametrize(
    ("declared", "given", "problem"),
    [
        ("k: f32", "a", "one number is wanted, and 'a' is given"),
        ("k: f32", 1e300, "1e+300 does not fit into f32"),
        ("k: i32", 1.5, "1.5 does not fit into i32"),
        ("k: i8", 300, "300 does not fit into i8"),
        ("k: u8", -1, "-1 does not fit into u8"),
        ("k: i64", 1 << 70, f"{1 << 70} does not fit into i64"),
        ("k: i64", float("nan"), "nan does not fit into i64"),
        ("k: bool", 1, "bool is wanted, and 1 is given"),
        ("k: i32", True, "i32 is wanted, and True is given"),
        ("k: f32", 1j, "1j does not fit into f32"),
        ("k: f32", [1], "one number is wanted, and [1] is given"),
        ("k: str", 1, "text is wanted, and 1 is given"),
        ("k: [i32]", 1, "a list of numbers is wanted, and 1 is given"),
        ("k: [i32]", [[1]], "a list of numbers is wanted, and [[1]] is given"),
        ("k: [i32]", ["a"], "a list of numbers is wanted, and ['a'] is given"),
        ("k: [i32]", [1, 1 << 40], f"[1, {1 << 40}] does not fit into i32"),
    ],
)
def test_attributes_that_would_lose_something_are_refused(declared, given, problem):
    with pytest.raises(SignatureError) as error:
        check(f"({declared}) -> ()", k=given)
    assert str(error.value) == (
        f"Custom call `norm`: the attribute `{declared}` does not fit: {problem}\n"
        f"  contract: ({declared}) -> ()\n  given: nothing\n  Give another value."
    )


def test_attributes_that_are_missing_or_unknown_are_named():
    with pytest.raises(SignatureError) as error:
        check("(f32[n], eps: f32) -> ()", "f32[2]")
    assert error.value.what == "Custom call `norm`: the attribute `eps: f32` is missing"
    assert error.value.advice == "Give it by keyword: `eps=...`."
    with pytest.raises(SignatureError) as error:
        check("(f32[n], eps: f32) -> ()", "f32[2]", eos=1.0)
    assert error.value.what == "Custom call `norm`: it has no attribute `eos`; did you mean `eps`?"
    assert error.value.advice == "Its attributes: `eps: f32`."


def test_attributes_stand_in_the_text_or_beside_it():
    beside = contract(
        "(f32[n]) -> ()", eps=np.float32(1e-6), k=np.int64, mode="fast", axes=[np.int64], f=0.5
    )
    assert str(beside) == (
        "(f32[n], eps: f32 = 1e-06, k: i64, mode: str = 'fast', axes: [i64], f: f64 = 0.5) -> ()"
    )
    assert contract(str(beside)) == beside
    with pytest.raises(UsageError) as error:
        contract("(eps: f32) -> ()", eps=1.0)
    assert error.value.what == "The attribute `eps` stands in the contract's text and beside it"
    with pytest.raises(UsageError) as error:
        contract("() -> ()", eps=object)
    assert error.value.what == (
        "The attribute `eps` of a contract: `object` is no type of an attribute"
    )


def test_defaults_of_every_kind_are_read():
    text = (
        "(a: f32 = inf, b: bool = true, c: [f32] = [0.5, 1.0], d: str = 'x, y)', e: i8 = -3, "
        "f: [bool] = [True, False]) -> ()"
    )
    found = contract(text).check("t", [], {}).attributes
    assert found["a"] == np.inf
    assert found["b"] == np.True_
    assert found["d"] == "x, y)"
    assert found["e"] == -3
    np.testing.assert_array_equal(found["c"], [0.5, 1])
    assert contract(str(contract(text))) == contract(text)


def test_sizes_may_be_attributes():
    text = "(f32[n], k: i64) -> f32[n, k]"
    assert results(text, "f32[2]", k=5) == "float32[2, 5]"
    with pytest.raises(SignatureError) as error:
        check(text, "f32[2]", k=-1)
    assert error.value.what == (
        "Custom call `norm`: f32[n, k] is no type of a result, and `k` is -1 from the attribute"
    )


def test_results_may_come_from_a_function():
    def outer(a, b, *, times):
        return jax.ShapeDtypeStruct((a.shape[0], int(times) * b.shape[0]), a.dtype)

    kind = contract("(f32[a], f32[b], times: i32) -> ()", results_of=outer)
    found = kind.check("outer", [array("f32[2]"), array("f32[3]")], {"times": 2})
    assert found.results == (jax.ShapeDtypeStruct((2, 6), np.float32),)
    wrong = contract("(f32[a]) -> ()", results_of=lambda a: 3)
    with pytest.raises(UsageError) as error:
        wrong.check("outer", [array("f32[2]")], {})
    assert error.value.what == ("The function that gives the results of custom call `outer` gave 3")


def test_symbolic_dimensions_of_an_export_are_dimensions():
    (b,) = jax.export.symbolic_shape("b")
    kind = contract("(f32[n, 3], f32[n]) -> f32[2*n + 1]")
    given = [jax.ShapeDtypeStruct((b, 3), np.float32), jax.ShapeDtypeStruct((b,), np.float32)]
    assert kind.check("t", given, {}).results[0].shape == (2 * b + 1,)
    given[1] = jax.ShapeDtypeStruct((b + 1,), np.float32)
    with pytest.raises(SignatureError) as error:
        kind.check("t", given, {})
    assert error.value.what == (
        "Custom call `t`: argument 2 is f32[b + 1]; f32[n] is wanted, and `n` is b from argument 1"
    )


def test_open_dimensions_of_a_text_fit_and_stay_open():
    found = contract("(f32[n, k], f32[k]) -> f32[n, k]").match(
        [ArrayKind((None, 3), np.dtype("float32")), ArrayKind((3,), np.dtype("float32"))], {}
    )
    assert [r.shape for r in found.results] == [(None, 3)]


def test_no_caller_declares_other_results_than_the_contract():
    kind, given = contract("(f32[n]) -> f32[n]"), [array("f32[4]")]
    checked = kind.check("norm", given, {})
    kind.check_results("norm", [array("f32[4]")], given, checked)
    with pytest.raises(SignatureError) as error:
        kind.check_results("norm", [array("f32[2]")], given, checked)
    assert str(error.value) == (
        "Custom call `norm`: f32[2] is declared as its result; it gives f32[4]\n"
        "  contract: (f32[n]) -> f32[n]\n  given: f32[4]\n"
        "  Leave the results out: the contract says what they are."
    )


@pytest.mark.parametrize(
    ("text", "problem", "column", "mark"),
    [
        ("", "`(` is wanted here", 0, ""),
        ("(f33[n]) -> ()", "`f33` is no type of elements", 2, "^^^"),
        ("(f32[n]) f32[n]", "`->` is wanted here", 10, "^^^"),
        ("(f32[n]) -> f32", "`[` and the dimensions are wanted here; `[]` is a scalar", 16, "^"),
        ("(f32[n**2]) -> ()", "`n**2` is no dimension, for a dimension is made of names, whole numbers, + - * // % max min", 6, "^"),
        ("(f32[-1]) -> ()", "`-1` is no dimension, for a dimension is not negative", 6, "^^"),
        ("(f32[n]) -> () where n + 1", "`n + 1` is no condition, for a condition compares two dimensions, as in `n % 8 == 0`", 22, "^"),
        ("(eps: f32 = x) -> ()", "`x` is no number and no text in quotation marks", 13, "^"),
        ("(i: i8 = 300) -> ()", "the default does not fit `i8`: 300 does not fit into i8", 10, "^^^"),
        ("(f32[n]) -> () and", "the text goes on where it should end", 16, "^^^"),
        ("(f32) -> ()", "an attribute has a name, as in `eps: f32 = 1e-6`", 2, "^^^"),
        ("(T | f32[n]) -> ()", "one variable stands for all types by itself", 9, "^"),
        ("(f32[n] f32[n]) -> ()", "`,` or `)` is wanted here", 9, "^^^"),
        ("(str[n]) -> ()", "there is no array of text", 5, "^"),
    ],
)  # fmt: skip
def test_texts_that_are_no_contract_get_a_caret(text, problem, column, mark):
    with pytest.raises(UsageError) as error:
        contract(text)
    where = f"  contract:1:{column}\n    {text}\n    {' ' * (column - 1)}{mark}\n"
    if not text:
        where = "  contract:1:1\n"
    assert str(error.value) == (
        f"The contract cannot be read: {problem}\n{where}"
        '  A contract looks like "(x: f32[b, n], w: f32[n], eps: f32 = 1e-6) -> f32[b, n]".'
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(f32[n]) -> f32[m]", "no argument says how much `m` in `m` is"),
        ("(f32[n + m]) -> f32[n]", "no argument says how much `n` in `n` is"),
        ("(f32[n // 2]) -> ()", "no argument says how much `n` in `n // 2` is"),
        ("(f32[n]) -> () where m == 2", "no argument says how much `m` in `m == 2` is"),
        ("(f32[n]) -> T[n]", "no argument says what type `T` is"),
        ("(f32[n]) -> f32 | f64[n]", "`f32 | f64[n]` leaves open of what type a result is"),
        ("(f32[n]) -> f32[...]", "no argument says what `...` is"),
        ("(x: f32[n], x: f32[n]) -> ()", "`x` is the name of two things"),
    ],
)
def test_contracts_determine_what_a_call_gives(text, problem):
    with pytest.raises(UsageError) as error:
        contract(text)
    assert error.value.what == f"The contract cannot be used: {problem}"
