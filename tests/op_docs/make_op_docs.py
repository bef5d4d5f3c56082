"""Writes `kernel_magics/ir/op_docs.json`: what each op does, takes, and is told by attributes.

The sentences are in `docs.txt`, written by hand. Operands, attributes and regions come from the
classes of jaxlib's MLIR binding. Run it with the newest jaxlib, which knows the most:

    python -m tests.op_docs.make_op_docs
"""

import json
import re
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).with_name("docs.txt")
TABLE = Path(__file__).parents[2] / "kernel_magics/ir/op_docs.json"

_LINE = re.compile(r"([\w.-]+)(?:\(([\w, ]*)\))?: (.+?)(?: \| ([^|]+))?")
_CLASS = re.compile(r'^  OPERATION_NAME = "([^"]+)"$', re.MULTILINE)
_INTERNAL = {"operandSegmentSizes", "resultSegmentSizes"}
_PROPERTY = re.compile(r"^  def (\w+)\(self\)[^\n]*:\n((?:    .*\n)+)", re.MULTILINE)
_ATTRIBUTE = re.compile(r'self\.operation\.attributes\["([^"]+)"\]')
_OPERANDS = "self.operation.operands"


def hand_written() -> dict[str, dict[str, object]]:
    """What `docs.txt` says of each op."""
    found: dict[str, dict[str, object]] = {}
    dialect = ""
    for line in DOCS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            dialect = line.strip("[]")
        elif line and not line.startswith("#"):
            read = _LINE.fullmatch(line)
            assert read, f"This line is none of an op: {line}"
            operands = read[2].split(", ") if read[2] else []
            found[f"{dialect}.{read[1]}"] = {
                "line": read[3],
                "operands": operands,
                "attributes": [],
                "words": read[4].split() if read[4] else [],
            }
    return found


def bound(dialect: str) -> dict[str, tuple[list[str], list[str]]]:
    """Ops of a dialect to their operands and attributes, as the binding's classes name them."""
    file = Path(_folder(), f"_{dialect}_ops_gen.py")
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8")
    found: dict[str, tuple[list[str], list[str]]] = {}
    for part in text.split("(_ods_ir.OpView):")[1:]:
        body = part.split("(_ods_ir.OpAdaptor):")[0]
        name = _CLASS.search(body)
        assert name, body[:80]
        operands: list[str] = []
        attributes: dict[str, None] = {}
        for key, lines in _PROPERTY.findall(body):
            attributes.update((a, None) for a in _ATTRIBUTE.findall(lines) if a not in _INTERNAL)
            if _OPERANDS in lines:
                operands.append(key.rstrip("_"))
        found[name[1]] = operands, list(attributes)
    return found


def table() -> dict[str, dict[str, object]]:
    """The whole table, sorted by name."""
    found = hand_written()
    for name, entry in list(found.items()):
        twin = name.replace("stablehlo.", "mhlo.")
        if twin != name and twin in bound("mhlo"):
            found.setdefault(twin, entry | {"words": []})
    for dialect in {name.split(".")[0] for name in found}:
        for name, (operands, attributes) in bound(dialect).items():
            if name in found:
                found[name] = found[name] | {"operands": operands, "attributes": attributes}
    return dict(sorted(found.items()))


def text(rows: dict[str, dict[str, object]]) -> str:
    """One line an op, so that a change is seen."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}" for name, row in rows.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _folder() -> Path:
    spec = find_spec("jaxlib")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0], "mlir/dialects")


if __name__ == "__main__":
    TABLE.write_text(text(table()), encoding="utf-8")
    print(f"{TABLE}: {len(table())} ops")  # noqa: T201
