"""A hundred programs with the same names live in one JAX program."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import jax, load
import kernel_magics as km
jax.config.update("jax_enable_x64", True)
cases = [c for c in load.cases("modules.jsonl", {"pass"}) if not c["id"].startswith("asin_")]
cases = cases[:: len(cases) // 100][:100]
args = [load.args(case) for case in cases]
run = jax.jit(lambda args: [km.hlo_call(c["text"], *a) for c, a in zip(cases, args)])
wrong = [c["id"] for c, out in zip(cases, run(args)) if load.check(c, out)]
names = jax.jit(lambda args: [km.hlo_call(c["text"], *a) for c, a in zip(cases, args)]).lower(args).as_text()
print(len(cases), wrong, names.count("func.func public"))
"""


def test_one_jit_of_a_hundred_programs_gives_a_hundred_right_answers(corpus):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, corpus / "conformance"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "100 [] 1\n"
