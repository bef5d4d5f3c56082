"""Nothing that a user pastes ends the kernel: each killer, in a real kernel, and the next cell."""

import pytest

from tests.corpus.conftest import ROOT
from tests.kernels import Kernel
from tests.killers import KILLERS, bytecode_killers, corpus_killers


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    yield kernel
    kernel.close()


def survives(kernel, killer):
    before = kernel.run("import kernel_magics as km; km.session.reset(); kept = 'kept'")
    assert before.status == "ok", before
    reply = kernel.run(killer.cell, timeout_s=180)
    assert reply.status in ("ok", "error"), (killer.name, reply)
    after = kernel.run("print(kept, len(km.session.units))")
    assert after.status == "ok", (killer.name, reply, after)
    if reply.status == "error":
        assert after.output == "kept 0\n", (killer.name, reply)
    return reply


@pytest.mark.parametrize("killer", KILLERS, ids=lambda killer: killer.name)
def test_the_kernel_lives(kernel, killer):
    reply = survives(kernel, killer)
    assert reply.error in killer.errors, reply


def test_the_kernel_lives_after_changed_bytecode(kernel):
    for killer in bytecode_killers():
        reply = survives(kernel, killer)
        assert reply.error in ("", "ParseError", "FormatError", "SandboxError", "EntryError"), reply


def test_the_kernel_lives_after_what_ends_others(kernel):
    if not ROOT.is_dir():
        pytest.skip(f"no corpus at {ROOT}")
    killers = corpus_killers(ROOT)
    assert len(killers) >= 3
    for killer in killers:
        assert survives(kernel, killer).error in killer.errors


def test_without_trials_the_user_takes_the_risk(kernel):
    assert kernel.run("%config KernelMagics.trial = 'never'").status == "ok"
    assert kernel.run(KILLERS[0].cell).error == "PreflightError"
    assert kernel.run("%config KernelMagics.trial = 'auto'").status == "ok"
