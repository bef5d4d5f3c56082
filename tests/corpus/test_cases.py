"""Faults that users of other tools reported do not happen here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = ("M01", "M02", "M04", "M06", "M07", "M10", "C01", "C03", "C05", "C06", "C08")
CASES += ("V01", "V03", "I02", "X02", "X06", "G03", "G05")


@pytest.mark.parametrize("case", CASES)
def test_case(corpus, case):
    paths = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
    done = subprocess.run(
        [sys.executable, corpus / "run_cases.py", corpus / "cases", case],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    *lines, totals = done.stdout.strip().split("\n")
    assert lines
    assert "FAIL" not in totals, done.stdout
    assert "CRASH" not in totals, done.stdout
    assert "ok" in totals
