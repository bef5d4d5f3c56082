"""JAX's own MLIR contexts stay as they were, and ours go when they are not needed."""

import gc
import weakref

import jax
import numpy as np
import pytest
from jax._src.interpreters import mlir

import kernel_magics as km

GOOD = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
BAD = (
    "func.func @main() {",
    "x = 1",
    GOOD.replace("stablehlo.add", "arith.addf"),
    GOOD.replace("stablehlo.add", "nobody.add"),
    GOOD.replace("%x, %x", "%x, %y"),
    b"ML\xefR\x0dbroken",
)
X = np.ones(3, np.float32)


def lowered() -> str:
    jax.clear_caches()
    return jax.jit(lambda x: x + 1).lower(X).as_text()


def test_jax_lowers_as_before_after_good_and_bad_programs():
    before = lowered()
    km.hlo_call(GOOD, X)
    for text in BAD:
        with pytest.raises(km.KernelMagicsError):
            km.hlo_call(text, X)
    assert not mlir.make_ir_context().allow_unregistered_dialects
    assert lowered() == before


def test_many_programs_do_not_keep_many_contexts(monkeypatch):
    from kernel_magics import _jax_private

    alive = weakref.WeakSet()
    make = _jax_private.new_context

    def counted():
        context = make()
        alive.add(context)
        return context

    monkeypatch.setattr(_jax_private, "new_context", counted)
    for number in range(100):
        km.Session().define(GOOD.replace("@main", f"@f{number}"))
        with pytest.raises(km.KernelMagicsError):
            km.hlo_call(GOOD, X, func_name=f"missing_{number}")
    gc.collect()
    assert len(alive) <= 10


def test_lowering_is_the_same_in_every_process():
    import os
    import subprocess
    import sys

    code = f"""
import jax, numpy as np, kernel_magics as km
text = {GOOD!r}
def f(x):
    for k in range(3):
        (x,) = km.hlo_call(text.replace("add", ["add", "multiply", "subtract"][k]), x)
    return x
print(jax.jit(f).lower(np.ones(3, "f4")).as_text(debug_info=True))
"""
    texts = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "7")
    ]
    assert texts[0] == texts[1]
    assert texts[0].count(b"func.func private @main_") == 3
