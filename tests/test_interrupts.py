"""The stop button: the prompt comes back, says what goes on, and the next run works."""

import time

import pytest

from tests.benchmarks.programs import layers
from tests.kernels import Kernel

PROMPT_S = 5
"""On a busy machine; it takes some hundredths of a second."""

ENDLESS = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%v = %x) : tensor<f32>
  cond {
    %c = stablehlo.compare EQ, %v, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w = stablehlo.sine %v : tensor<f32>
    stablehlo.return %w : tensor<f32>
  }
  return %0 : tensor<f32>
}"""
ADD = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.add %x, %x : tensor<f32>\n return %0 : tensor<f32> }"


@pytest.fixture
def kernel():
    kernel = Kernel("%load_ext kernel_magics\nimport kernel_magics as km, numpy as np")
    yield kernel
    kernel.close()


def interrupted(kernel, code, after_s):
    """Sends a cell, interrupts it, and gives its reply; it must have been busy still."""
    message = kernel.send(code)
    time.sleep(after_s)
    began = time.monotonic()
    kernel.interrupt()
    reply = kernel.wait(message)
    assert time.monotonic() - began < PROMPT_S, reply
    return reply


def works(kernel):
    assert kernel.run(f"%%hlo fine\n{ADD}").status == "ok"
    assert kernel.run("print(fine(np.float32(2))[0])").output == "4.0\n"


def test_while_a_large_program_is_read(kernel):
    kernel.run(f"km.hlo_call('''{ADD}''', np.float32(1))")
    kernel.run("from tests.benchmarks.programs import layers; big = layers(400_000)")
    code = "get_ipython().run_cell_magic('hlo', 'big', big)"
    reply = interrupted(kernel, code, 1.0)
    assert reply.error == "CompileInterrupted", reply
    assert "the session is as it was" in reply.message
    assert kernel.run("print(len(km.session.units))").output == "0\n"
    works(kernel)


def test_while_xla_compiles(kernel):
    cell = f"%%hlo big\n{layers(6000)}"
    reply = interrupted(kernel, cell, 3.0)
    assert reply.error == "CompileInterrupted", reply
    assert "goes on in the background" in reply.message
    assert (
        kernel.run("print(list(km.session.units), big.signature.name)").output == "['big'] main\n"
    )
    works(kernel)


def test_while_a_program_is_tried(kernel):
    cell = f"%%hlo big --trial always\n{layers(6000)}"
    reply = interrupted(kernel, cell, 4.0)
    assert reply.error == "CompileInterrupted", reply
    assert "nothing goes on in the background" in reply.message
    works(kernel)


def test_a_run_that_may_never_end_is_said_to_be_so_and_can_be_limited(kernel):
    reply = kernel.run(f"%%hlo endless\n{ENDLESS}")
    assert reply.status == "ok"
    shown = reply.data[-1]["text/plain"]
    assert "the end of the `while` at cell:3:8 is not evident" in shown
    assert "`--timeout SECONDS` limits it" in shown
    reply = kernel.run(f"%%hlo endless --timeout 3\n{ENDLESS}")
    assert "runs of `@main` have 3 s, in a child process" in reply.data[-1]["text/plain"]
    reply = kernel.run("endless(np.float32(1))")
    assert reply.error == "SandboxError", reply
    assert "gave no answer in 3 s" in reply.message
    reply = kernel.run("print(endless(np.float32(np.nan)))")
    assert "nan" in reply.output, reply
    reply = interrupted(kernel, "endless.limit_s = 60; endless(np.float32(1))", 3.0)
    assert reply.error == "KeyboardInterrupt", reply
    works(kernel)


def test_signature_errors_come_before_a_limited_run(kernel):
    kernel.run(f"%%hlo endless --timeout 3\n{ENDLESS}")
    reply = kernel.run("endless(np.ones(3, 'f4'))")
    assert reply.error == "SignatureError", reply
