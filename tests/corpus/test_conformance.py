"""StableHLO's own programs give the values that their authors expect."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import jax
import pytest

RUNNER = Path(__file__).with_name("conformance_run.py")

OLD_JAX = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)

# What the older JAX cannot do, and why.
OLD_JAX_DIFFERS = {
    "asin_float32": "its CHLO lowering of asin is less accurate near one",
    "asin_float64": "its CHLO lowering of asin is less accurate near one",
}


@cache
def outcome(folder: Path, name: str) -> tuple[dict[str, dict[str, str]], int]:
    """Problem of each program, and the exit code of the process that ran them all."""
    done = subprocess.run(
        [sys.executable, RUNNER, folder / "conformance", name],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["id"]: line for line in lines if "id" in line}, done.returncode


def wrong(folder: Path, name: str, kind: str) -> dict[str, str]:
    results, _ = outcome(folder, name)
    return {key: r["problem"] for key, r in results.items() if r["class"] == kind and r["problem"]}


@pytest.mark.parametrize(
    ("name", "count"), [("interpret.jsonl", 341), ("modules.jsonl", 611), ("bytecode.jsonl", 102)]
)
def test_no_program_ends_the_process(corpus, name, count):
    results, code = outcome(corpus, name)
    assert code == 0
    assert len(results) >= count


@pytest.mark.parametrize("name", ["interpret.jsonl", "modules.jsonl"])
def test_programs_give_the_right_values(corpus, name):
    expected = OLD_JAX_DIFFERS if OLD_JAX and name == "modules.jsonl" else {}
    assert set(wrong(corpus, name, "pass")) == set(expected)


def test_portable_artifacts_give_the_right_values(corpus):
    # One LAPACK program gives its eigenvectors in another order, by the library's choice.
    assert set(wrong(corpus, "bytecode.jsonl", "pass")) <= {"cpu_eig_lapack_geev_156"}
    assert wrong(corpus, "bytecode.jsonl", "dynamic") == {}


@pytest.mark.parametrize("kind", ["crash", "xla_error", "reject_parse"])
def test_programs_that_cannot_run_are_refused_in_words(corpus, kind):
    results, _ = outcome(corpus, "interpret.jsonl")
    problems = [r["problem"] for r in results.values() if r["class"] == kind]
    assert problems
    refusals = ("PreflightError", "CompileError", "ParseError", "SignatureError")
    assert all(problem.startswith(refusals) for problem in problems)


def test_programs_of_other_platforms_are_refused_in_words_or_run(corpus):
    problems = wrong(corpus, "bytecode.jsonl", "other_platform")
    ran = {key for key, problem in problems.items() if "Error: " not in problem}
    # Eigenvectors of a multiple eigenvalue, and a window reduction whose start value is not
    # neutral, are each platform's own choice.
    assert ran <= {"tpu_Eigh_24", "tpu_stablehlo_dynamic_reduce_window_114"}
