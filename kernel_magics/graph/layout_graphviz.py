"""Lays a graph out with Graphviz, in a child process: `dot` or `graphviz-pure`."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernel_magics.graph.geometry import (
    COLUMN_GAP,
    NODE_HEIGHT,
    ROW_GAP,
    Box,
    Drawing,
    Point,
    Problem,
    Spline,
    adjacent_curve,
    is_adjacent,
)

_POINTS_PER_INCH = 72


class EngineFailedError(Exception):
    """Graphviz is not there, took too long, or answered something else than a layout."""


def find_engine(name: str) -> str | None:
    """Returns the path of the command `name`, or None.

    The wheel `graphviz-pure` puts its command beside this Python, a folder that is on the PATH
    only while the environment is activated.
    """
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(beside))


def lay_out_with_graphviz(command: str, problem: Problem, time_limit_s: float) -> Drawing:
    """Returns Graphviz's layout, left to right, every column as wide as its widest node.

    Args:
        command: Path of the program.
        problem: The graph; its first use as text holds numbers only, so no name needs quoting.
        time_limit_s: For both runs together.

    Raises:
        EngineFailedError: There is no layout, for whatever reason.
    """
    deadline = time.monotonic() + time_limit_s
    widths = list(problem.widths)
    if len(set(widths)) > 1:
        # Ranks do not depend on widths: a first run without curves tells the columns.
        first = run_engine(command, _dot_text(problem, widths, splines="none"), deadline)
        widths = _column_widths(widths, read_centres(first, len(widths)))
    answer = run_engine(command, _dot_text(problem, widths, splines="true"), deadline)
    try:
        return _read(answer, problem, widths)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise EngineFailedError(f"`{command}` answered no layout: {error}") from error


def _dot_text(problem: Problem, widths: Sequence[float], splines: str) -> str:
    lines = [
        "digraph {",
        f'rankdir=LR; splines="{splines}"; nodesep={inches(ROW_GAP)};',
        f"ranksep={inches(COLUMN_GAP)};",
        f'node [shape=box, fixedsize=true, height={inches(NODE_HEIGHT)}, label=""];',
        "edge [tailport=e, headport=w, arrowsize=0.8];",
    ]
    lines += [f"n{index} [width={inches(widths[index])}];" for index in _order(problem)]
    # Without this, an entry that calls only what is far right would stand in the middle.
    first = " ".join(f"n{index};" for index in problem.first_column)
    lines.append(f"{{ rank=min; {first} }}" if first else "")
    lines += [
        f'n{tail} -> n{head} [id="{index}"];' for index, (tail, head) in enumerate(problem.edges)
    ]
    return "\n".join([*lines, "}"])


def _order(problem: Problem) -> list[int]:
    """The nodes, last component first: left to right, Graphviz stacks them from the bottom up."""
    component = list(range(len(problem.widths)))

    def root(index: int) -> int:
        while component[index] != index:
            component[index] = index = component[component[index]]
        return index

    for tail, head in problem.edges:
        low, high = sorted((root(tail), root(head)))
        component[high] = low
    return sorted(range(len(component)), key=lambda index: (-root(index), index))


def run_engine(command: str, text: str, deadline: float) -> dict[str, Any]:
    """Returns what Graphviz answers to a DOT text.

    Raises:
        EngineFailedError: No answer before the deadline, or none that is JSON.
    """
    seconds = deadline - time.monotonic()
    try:
        # On an interrupt `run` kills the child before the exception goes on.
        finished = subprocess.run(  # noqa: S603  # our own program, our own text
            [command, "-Tjson0"],
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=max(seconds, 0.001),
            check=True,
        )
        answer = json.loads(finished.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise EngineFailedError(f"`{command}` gave no layout: {error}") from error
    if not isinstance(answer, dict):
        raise EngineFailedError(f"`{command}` answered no layout")
    return answer  # pyright: ignore[reportUnknownVariableType]  # a JSON object


def read_centres(answer: dict[str, Any], count: int) -> list[Point]:
    """Returns the middle of nodes `n0`, `n1`, … in an answer; y counts upwards."""
    try:
        # The group of the first column is an object too, and has no place.
        nodes = (item for item in answer["objects"] if "pos" in item)
        places = {item["name"]: _point(item["pos"]) for item in nodes}
        return [places[f"n{index}"] for index in range(count)]
    except (KeyError, TypeError, ValueError) as error:
        raise EngineFailedError(f"Graphviz placed no node: {error}") from error


def _column_widths(widths: Sequence[float], centres: Sequence[Point]) -> list[float]:
    widest: defaultdict[float, float] = defaultdict(float)
    for width, (x, _) in zip(widths, centres, strict=True):
        widest[round(x)] = max(widest[round(x)], width)
    return [widest[round(x)] for x, _ in centres]


def _read(answer: dict[str, Any], problem: Problem, widths: Sequence[float]) -> Drawing:
    boxes = tuple(
        Box(x - width / 2, -y - NODE_HEIGHT / 2, width)
        for width, (x, y) in zip(widths, read_centres(answer, len(widths)), strict=True)
    )
    curves = {int(item["id"]): read_spline(item["pos"]) for item in answer.get("edges", [])}
    pairs = Counter(problem.edges)
    splines: list[Spline] = []
    for index, pair in enumerate(problem.edges):
        tail, head = boxes[pair[0]], boxes[pair[1]]
        # Graphviz bends the edges of a wide fan across each other, though their way is free.
        is_free = pairs[pair] == 1 and is_adjacent(tail, head)
        splines.append(adjacent_curve(tail, head) if is_free else curves[index])
    return Drawing(boxes, tuple(splines))


def read_spline(text: str) -> Spline:
    """Reads `e,TIP START CONTROL CONTROL END …`; Graphviz counts y upwards."""
    first = text.split(";", maxsplit=1)[0].split()
    tips = [_point(word[2:]) for word in first if word.startswith("e,")]
    points = [_point(word) for word in first if not word.startswith(("e,", "s,"))]
    flipped = tuple((x, -y) for x, y in points)
    tip = (tips[0][0], -tips[0][1]) if tips else flipped[-1]
    return Spline(flipped, tip)


def _point(text: str) -> Point:
    x, y = text.split(",")[:2]
    return float(x), float(y)


def inches(pixels: float) -> str:
    """Returns a length as DOT wants it."""
    return f"{pixels / _POINTS_PER_INCH:.4f}"
