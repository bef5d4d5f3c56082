"""Linker cases in `tests/ir`: the steps of a file are taken in turn, its CHECK lines matched.

A step begins at a comment of its own line and ends where the next begins:

    // -----            the program below is linked, as a unit without a name
    // UNIT: NAME       the program below is linked as this unit, in place of one of the name
    // OFFER: NAME      a JAX function of the table below is offered
    // DROP: NAME       the unit is dropped
    // LOWER: NAME      the module that JAX lowers for a call of this function is printed
    // RESTORE          the session is saved and restored; its module must not change

Programs may stand before the first of these too. `// ERROR: CLASS` in a step says that it is
refused: the message is printed, and the session must not change. The session's module is printed
last.
"""

import re
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.ir.context import new_context

CASES = sorted((Path(__file__).parent / "ir").glob("*.mlir"))
OFFERS = {"double": lambda x: x + x, "soft": jax.numpy.tanh}
X = np.zeros(3, np.float32)

STEP = re.compile(r"^// (-----|RESTORE|(?:UNIT|OFFER|DROP|LOWER): .+)\n", re.MULTILINE)
ERROR = re.compile(r"^// ERROR: (\w+)$", re.MULTILINE)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_case_prints_what_its_check_lines_say(case, check_ir, session, tmp_path):
    first, *others = STEP.split(case.read_text())
    printed: list[str] = []
    for step, text in zip(["-----", *others[::2]], [first, *others[1::2]], strict=True):
        refused = ERROR.search(text)
        act = action(session, step, text, tmp_path / "session")
        printed.append(refusal(session, act, refused[1]) if refused else act())
        verify(session)
    check_ir(case, "\n".join([*printed, session.module_text()]))


def action(session: km.Session, step: str, text: str, path: Path) -> Callable[[], str]:
    """What a step does; gives what is printed."""
    kind, _, name = step.partition(": ")
    if kind == "OFFER":
        return lambda: silent(session.offer(OFFERS[name], X, name=name))
    if kind == "DROP":
        return lambda: silent(session.drop(name))
    if kind == "LOWER":
        return lambda: lowered(session, name)
    if kind == "RESTORE":
        return lambda: silent(save_and_restore(session, path))
    is_empty = all(line.startswith("//") or not line for line in text.split("\n"))
    return lambda: "" if is_empty else silent(session.define(text, name=name or None))


def silent(_: object) -> str:
    return ""


def lowered(session: km.Session, name: str) -> str:
    function = session.functions[name]
    arguments = function.signature.arguments
    shapes = [jax.ShapeDtypeStruct(a.type.shape, a.type.dtype) for a in arguments]
    return function.lower(*shapes).as_text()


def save_and_restore(session: km.Session, path: Path) -> None:
    before = session.module_text(), session.graph().to_json()
    session.save(path)
    session.restore(path)
    assert (session.module_text(), session.graph().to_json()) == before


def refusal(session: km.Session, act: Callable[[], str], error: str) -> str:
    """The message of a step that is refused and changes nothing."""
    before = session.module_text(), list(session.units)
    with pytest.raises(km.KernelMagicsError) as caught:
        act()
    assert type(caught.value).__name__ == error
    assert (session.module_text(), list(session.units)) == before
    return str(caught.value)


def verify(session: km.Session) -> None:
    assert ir.Module.parse(session.module_text(), new_context()).operation.verify()
