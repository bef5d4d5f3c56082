"""StableHLO's own programs give the values that their authors expect as traced JAX, too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from tests.replay.make_ops_table import EXCEPTIONS, OLD_JAX

RUNNER = Path(__file__).with_name("replay_run.py")

IS_OLD = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)

EXPECTED = {**EXCEPTIONS, **(OLD_JAX if IS_OLD else {})}


@pytest.mark.parametrize(
    ("name", "count"), [("interpret.jsonl", 322), ("modules.jsonl", 566), ("bytecode.jsonl", 24)]
)
def test_programs_give_the_right_values_as_traced_jax(corpus, name, count, record_property):
    done = subprocess.run(
        [sys.executable, RUNNER, corpus / "conformance", name],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    problems = {line["id"]: line["problem"] for line in lines if "id" in line}
    wrong = {key: problem for key, problem in problems.items() if problem}
    record_property("right", len(problems) - len(wrong))
    assert len(problems) >= count
    assert set(wrong) == set(EXPECTED) & set(problems), wrong
