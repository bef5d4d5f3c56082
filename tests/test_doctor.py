import pytest

import kernel_magics as km
from tests.cells import DOUBLE, run

CYCLE = """func.func @main() {
  call @main() : () -> ()
  return
}
"""
SMALL_FLOATS = """func.func @main(%x: tensor<3xf8E3M4>) -> tensor<3xf8E3M4> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf8E3M4>
  return %0 : tensor<3xf8E3M4>
}
"""


def test_a_proven_unit_is_safe(shell):
    run(shell, f"%%hlo double --show nothing\n{DOUBLE}")
    view, _ = run(shell, "%hlo doctor double")
    assert repr(view) == "double @main: safe, every form in it is proven"


def test_a_unit_that_would_end_the_process_is_refused_at_its_line(shell):
    run(shell, f"%%hlo again --no-compile --show nothing\n{CYCLE}")
    view, _ = run(shell, "%hlo doctor again")
    assert repr(view) == (
        "again @main: refused, it would not compile or would end the process\n"
        "  call-cycle: `@main` calls itself\n"
        "    cell:3:3\n"
        "      call @main() : () -> ()\n"
        "      ^^^^\n"
        "    XLA has no recursion: write a `stablehlo.while` instead."
    )


def test_unproven_forms_are_named_with_their_line(shell):
    run(shell, f"%%hlo small --no-compile --show nothing\n{SMALL_FLOATS}")
    view, _ = run(shell, "%hlo doctor small")
    assert repr(view).startswith(
        "small @main: unproven, it holds forms that no known program has shown to work\n"
        "  unproven-form: `stablehlo.multiply` on `f8E3M4`\n"
        "    cell:3:8\n"
    )


def test_all_units_are_looked_at_with_what_their_declarations_mean(shell):
    run(shell, "%%hlo --no-compile --show nothing\n" + DOUBLE.replace("@main", "@twice"))
    run(
        shell,
        "%%hlo uses --no-compile --show nothing\n"
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %0 = call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>\n"
        "  return %0 : tensor<3xf32>\n}\n"
        "func.func private @twice(tensor<3xf32>) -> tensor<3xf32>\n",
    )
    view, _ = run(shell, "%hlo doctor")
    lines = repr(view).split("\n")
    assert len(lines) == 2
    assert lines[0].endswith("@twice: safe, every form in it is proven")
    assert lines[1] == "uses @main: safe, every form in it is proven"


def test_without_units_it_says_how_to_get_some(shell):
    view, _ = run(shell, "%hlo doctor")
    assert repr(view).startswith("The session holds no program yet: ")


def test_a_unit_that_is_not_there_is_an_error_with_the_names_that_are(shell):
    run(shell, f"%%hlo double --show nothing\n{DOUBLE}")
    with pytest.raises(km.errors.SessionError) as error:
        run(shell, "%hlo doctor doble")
    assert str(error.value) == (
        "The session has no unit `doble`\n"
        "  it holds: double\n"
        "  `%hlo functions` lists what can be called."
    )
