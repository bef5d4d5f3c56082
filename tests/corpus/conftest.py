"""Programs that nobody of this project wrote, where a checkout of them stands beside it."""

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("KERNEL_MAGICS_CORPUS", Path(__file__).parents[3] / "shared/corpus"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    if not ROOT.is_dir():
        pytest.skip(f"no corpus at {ROOT}; KERNEL_MAGICS_CORPUS names another place")
    return ROOT
