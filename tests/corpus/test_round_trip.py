"""The HLO of a compiled program, read back as a program, gives the values of the program."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import jax

RUNNER = Path(__file__).with_name("round_trip_run.py")

ALL = 566
COUNT = ALL if os.environ.get("KERNEL_MAGICS_ALL") == "1" else 150
"""So many programs are taken, the same everywhere, in two processes."""

OLD_JAX = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)

# What the older JAX already gives otherwise when it compiles them for the first time.
OLD_JAX_DIFFERS = {"asin_float32", "asin_float64"}

# XLA leaves constants of more than ten values out of its text: refused, and read as bytes.
ELIDED = "FormatError: The HLO of the text leaves out the values of "


@cache
def outcome(folder: Path) -> list[dict]:
    """One entry for each program; both halves run at the same time."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    halves = [
        subprocess.Popen(
            [sys.executable, RUNNER, folder / "conformance", str(COUNT), part, "2"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for part in ("0", "1")
    ]
    lines = [json.loads(line) for half in halves for line in half.communicate()[0].splitlines()]
    assert [half.returncode for half in halves] == [0, 0], lines[-1]
    return [line for line in lines if "id" in line]


def test_compiled_programs_are_read_back_with_their_values(corpus):
    results = outcome(corpus)
    assert len({line["id"] for line in results}) == COUNT
    wrong = {line["id"] for line in results if line["problems"][-1]}
    assert wrong - (OLD_JAX_DIFFERS if OLD_JAX else set()) == set()


def test_text_is_refused_only_where_it_leaves_out_values(corpus):
    texts = [line["problems"] for line in outcome(corpus)]
    elided = [problems[0] for problems in texts if len(problems) > 1]
    assert all(problem.startswith(ELIDED) for problem in elided)
    assert len(elided) < len(texts) * 0.6


def test_what_differs_differed_before(corpus):
    expected = OLD_JAX_DIFFERS if OLD_JAX else set()
    for line in outcome(corpus):
        assert bool(line["first"]) == (line["id"] in expected)
