"""StableHLO's own programs as traced JAX: derivatives of second order, and batches."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

RUNNER = Path(__file__).with_name("derivatives_run.py")

IS_WHOLE = os.environ.get("KERNEL_MAGICS_ALL") == "1"


def outcome(corpus, what, count):
    done = subprocess.run(
        [sys.executable, RUNNER, corpus / "conformance", what, str(count)],
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
    return [json.loads(line) for line in done.stdout.splitlines()]


def wrong(lines):
    return {line["id"]: line["problem"] for line in lines if line["problem"]}


def test_derivatives_of_second_order_are_those_of_differences(corpus, record_property):
    count = 100 if IS_WHOLE else 20
    lines = outcome(corpus, "derivatives", count)
    reasons = Counter(line.get("skipped") for line in lines)
    record_property("skipped", dict(reasons))
    assert wrong(lines) == {}
    assert reasons[None] == count
    # Most programs of the corpus are of integers, or are narrow or complex.
    assert set(reasons) <= {
        None,
        "no float input",
        "no float result",
        "not finite where it is smooth",
        "its slope is not finite",
    }


def test_batches_give_what_each_element_gives(corpus):
    count = 100 if IS_WHOLE else 30
    lines = outcome(corpus, "batches", count)
    assert wrong(lines) == {}
    assert sum(line.get("skipped") is None for line in lines) == count
