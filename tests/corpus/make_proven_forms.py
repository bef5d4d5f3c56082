"""Writes the table of proven forms: `python -m tests.corpus.make_proven_forms FOLDER`.

FOLDER holds the conformance programs (`load.py`, `*.jsonl`). A form is proven where a program
with known values uses it, is of class `pass`, and so gives just those values; the programs
of our own beside this file count, too.
"""

import json
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from jax.extend.mlir import ir

import kernel_magics.ir
from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import default_entry
from kernel_magics.ir.forms import CALCULATIONS, CARRIERS, QUIET, TypeReader, exact_form
from kernel_magics.ir.preflight import assess
from kernel_magics.ir.source import Source
from kernel_magics.ir.unit import ParsedUnit, read_unit

TABLE = Path(kernel_magics.ir.__file__).with_name("proven_forms.json")

OWN = Path(__file__).with_name("proven")
"""Programs of our own, whose values `test_own_programs.py` knows."""

FILES = ("interpret.jsonl", "modules.jsonl", "bytecode.jsonl")

OPEN_ATTRIBUTES = {"mhlo.frontend_attributes"}
"""What they say is not settled by their name, so that no example proves them."""

MORE_ELEMENTS = ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU", "f16?", "f32?", "i32?")
"""Beyond those that are proven, asked of MLIR's verifier too; `?` has a dynamic dimension."""


@cache
def programs(folder: Path, kinds: tuple[str, ...] = ("pass",)) -> list[tuple[str, ParsedUnit]]:
    """The programs of some classes, read."""
    sys.path.insert(0, str(folder))
    import load

    found = []
    for name in FILES:
        for case in load.cases(name, set(kinds)):
            text = load.bytecode(case) if "bytecode_b64" in case else case["text"]
            found.append((case["id"], read_unit(Source(text), new_context())))
    if "pass" in kinds:
        found += [(p.stem, read_unit(Source(p.read_text()), new_context())) for p in own_programs()]
    return found


def own_programs() -> list[Path]:
    return sorted(OWN.glob("*.mlir"))


def make_table(folder: Path) -> str:
    """The table as it stands in the package."""
    forms, bodies = defaultdict(set), defaultdict(set)
    targets, annotations, ranks = set(), set(), {0}
    samples = {}
    for _, unit in programs(folder):
        reader = TypeReader()
        for op in unit.index.ops:
            for around, inside in op.bodies.items():
                bodies[around].update(inside)
            targets.update(op.custom_calls)
            annotations.update(op.annotations)
            for operation in operations(op.operation):
                kind, elements = exact_form(operation, reader)
                types = [value.type for value in (*operation.results, *operation.operands)]
                ranks.update(reader.read(t).rank for t in types)
                if kind in CALCULATIONS or kind not in QUIET | CARRIERS:
                    forms[kind].update(elements)
                if kind in CALCULATIONS:
                    samples.setdefault(kind, (unit, operation))
            forms["func.func"].update(signature_elements(op, reader))
        annotations.update(name for name in unit.module.operation.attributes if "." in name)
    elements = {element for seen in forms.values() for element in seen}
    refused = {
        kind: sorted(e for e in elements.union(MORE_ELEMENTS) if not takes(operation, e))
        for kind, (_, operation) in samples.items()
    }
    return as_json(forms, refused, bodies, targets, annotations - OPEN_ATTRIBUTES, max(ranks))


def operations(operation: ir.Operation) -> list[ir.Operation]:
    """The ops inside, at any depth."""
    found = []

    def visit(inner):
        found.append(inner)
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def signature_elements(op, reader: TypeReader) -> set[str]:
    if op.function_type is None:
        return set()
    function = ir.FunctionType(op.function_type.value)
    return set(reader.elements((*function.inputs, *function.results)))


def takes(operation: ir.Operation, element: str, *, only_first: bool = False) -> bool:
    """Whether MLIR verifies an op with another element type, on all its values or on one."""
    values = [*operation.operands, *operation.results]
    before = [(value, value.type) for value in values]
    changed = values[:1] if only_first else values
    try:
        for value, kind in before:
            if any(value == other for other in changed):
                value.set_type(with_element(kind, element))
        return operation.verify()
    except ir.MLIRError:
        # Not verified, or no element of a tensor at all.
        return False
    finally:
        for value, kind in before:
            value.set_type(kind)


def with_element(kind: ir.Type, element: str) -> ir.Type:
    tensor = ir.RankedTensorType(kind)
    shape = [tensor.get_dim_size(i) for i in range(tensor.rank)]
    if element.endswith("?") and shape:
        shape[0] = ir.ShapedType.get_dynamic_size()
    text = "x".join("?" if d < 0 else str(d) for d in shape)
    name = element.rstrip("?").removesuffix(" encoded")
    return ir.Type.parse(f"tensor<{text}{'x' if shape else ''}{name}>", kind.context)


def as_json(forms, refused, bodies, targets, annotations, rank) -> str:
    table = {
        "forms": {kind: " ".join(sorted(forms[kind])) for kind in sorted(forms)},
        "refused": {kind: " ".join(refused[kind]) for kind in sorted(refused)},
        "bodies": {kind: " ".join(sorted(bodies[kind])) for kind in sorted(bodies)},
        "targets": sorted(targets),
        "annotations": sorted(annotations),
        "highest_rank": rank,
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def verdicts(folder: Path, kind: str) -> Counter[str]:
    """How many programs of a class are refused, safe and unproven."""
    units = [unit for _, unit in programs(folder, (kind,))]
    entries = [(unit.index, default_entry(unit.index)) for unit in units]
    return Counter(assess(index, entry.name).verdict for index, entry in entries)


if __name__ == "__main__":
    wanted = Path(sys.argv[1])
    TABLE.write_text(make_table(wanted))
    for name in ("pass", "crash"):
        print(name, dict(verdicts(wanted, name)))
