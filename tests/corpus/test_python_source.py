"""StableHLO's own programs give the values that their authors expect as Python source, too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from kernel_magics.call.program import parsed, read_program
from kernel_magics.call.python.writer import to_python
from kernel_magics.errors import KernelMagicsError, PreflightError
from kernel_magics.ir.source import read_source
from tests.replay.make_ops_table import EXCEPTIONS, OLD_JAX

RUNNER = Path(__file__).with_name("python_run.py")

STRIDE = 1 if os.environ.get("KERNEL_MAGICS_ALL") == "1" else 9

IS_OLD = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)

EXPECTED = {**EXCEPTIONS, **(OLD_JAX if IS_OLD else {})}


@pytest.mark.parametrize(
    ("name", "count"), [("interpret.jsonl", 322), ("modules.jsonl", 566), ("bytecode.jsonl", 24)]
)
def test_programs_give_the_right_values_as_source(corpus, name, count):
    done = subprocess.run(
        [sys.executable, RUNNER, corpus / "conformance", name, str(STRIDE)],
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
    assert len(problems) >= count // STRIDE
    wrong = {key: problem for key, problem in problems.items() if problem}
    assert set(wrong) == set(EXPECTED) & set(problems), wrong


LARGE = 200_000
"""Files of so many bytes are taken with the whole corpus only."""


def test_files_of_other_projects_are_written_or_refused_in_words(corpus):
    files = sorted((corpus / "real").glob("*.mlir*"))
    small = [path for path in files if STRIDE == 1 or path.stat().st_size < LARGE]
    written = 0
    for path in small:
        source = read_source(path)
        try:
            index = parsed(source).index
        except KernelMagicsError:
            continue
        entries = [n for n, op in index.by_name.items() if op.operation.name == "func.func"]
        for entry in entries[:3]:
            try:
                text = to_python(read_program(source, entry))
            except PreflightError:
                continue
            compile(text, path.name, "exec")
            written += 1
    assert written >= 10
