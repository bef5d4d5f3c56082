"""From text to a graph's JSON, against the adapter that Model Explorer reads MLIR with."""

import importlib
import importlib.util
import tempfile
import time
from pathlib import Path
from typing import Any

import kernel_magics as km
from tests.benchmarks.harness import Row, median_of_s, median_s
from tests.benchmarks.programs import layers

PACKAGE = "ai_edge_model_explorer_adapter"
PEER = "ai-edge-model-explorer-adapter"
RUNS = 5
# The peer takes a quarter of a minute for 50,000 ops.
PEER_RUNS = {10_000: 3, 50_000: 1}


def run() -> list[Row]:
    """Times and sizes; nothing but a sentence where the adapter is not installed."""
    if importlib.util.find_spec(PACKAGE) is None:
        print(f"explorer: `{PEER}` is not installed: `pip install {PEER}` to compare with it")
        return []
    shapes = {"in functions of 50": layers, "in one function": _one_function}
    return [
        row
        for ops in PEER_RUNS
        for shape, program in shapes.items()
        for row in _rows(ops, shape, program(ops))
    ]


def _rows(ops: int, shape: str, text: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mlir"
        path.write_text(text)
        peer_s = median_of_s(lambda: _timed(path), runs=PEER_RUNS[ops])
        peer_bytes = len(_convert(path))
    functions_s = median_s(lambda: _functions(text), RUNS)
    ops_s = median_s(lambda: _ops(text), RUNS)
    sizes = [len(_functions(text)), len(_ops(text))]
    told = ", ".join(f"{size:,} bytes ({peer_bytes / size:,.0f} times smaller)" for size in sizes)
    print(f"{ops:,} ops {shape}: functions and ops of @layer_0 in {told}; {peer_bytes:,} there")
    what = f"{ops:,} ops {shape}: text to"
    return [
        Row(f"{what} functions", functions_s, PEER, peer_s, peer_s / functions_s, ">= 20"),
        Row(f"{what} @layer_0", ops_s, PEER, peer_s, peer_s / ops_s, "larger is better"),
    ]


def _one_function(ops: int) -> str:
    return layers(ops, ops)


def _functions(text: str) -> str:
    """The JSON of the function graph, through a session: parsed, linked, drawn."""
    session = km.Session()
    session.define(text)
    return session.graph().to_json()


def _ops(text: str) -> str:
    """The JSON of all ops of one function besides."""
    session = km.Session()
    session.define(text)
    return session.graph().ops("layer_0").to_json()


def _timed(path: Path) -> float:
    began = time.perf_counter()
    _convert(path)
    return time.perf_counter() - began


def _convert(path: Path) -> str:
    adapter: Any = importlib.import_module(PACKAGE)
    return adapter.ConvertMlirToJson(adapter.VisualizeConfig(), str(path))
