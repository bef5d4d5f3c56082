"""Writes `src/protocol.ts` from `kernel_magics/widgets/protocol*.py`.

The Python files are read as text, not imported: `python3 jupyter_ext/write_protocol.py`.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = [
    ROOT / "kernel_magics/widgets" / name
    for name in (
        "protocol.py",
        "protocol_diff.py",
        "protocol_ops.py",
        "protocol_commands.py",
        "protocol_panel.py",
    )
]
TARGET = ROOT / "jupyter_ext/src/protocol.ts"

_HEAD = """\
// What kernel and front end say to each other.
// Written by jupyter_ext/write_protocol.py from kernel_magics/widgets/protocol*.py: do not edit.
"""
_PLAIN = {"str": "string", "int": "number", "float": "number", "bool": "boolean", "None": "null"}


def typescript(sources: Iterable[str]) -> str:
    """Returns the declarations of files of `TypedDict`s and unions in TypeScript."""
    parts = [_HEAD]
    for source in sources:
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.ClassDef):
                parts.append(_interface(statement))
            elif isinstance(statement, ast.Assign):
                assert isinstance(statement.targets[0], ast.Name)
                words = _type(statement.value)
                parts.append(f"export type {statement.targets[0].id} = {words};\n")
    return "\n".join(parts)


def written() -> str:
    """Returns what `protocol.ts` shall hold."""
    return typescript(path.read_text(encoding="utf-8") for path in SOURCES)


def _interface(declared: ast.ClassDef) -> str:
    lines = [f"/** {ast.get_docstring(declared)} */", f"export interface {declared.name} {{"]
    notes: list[str] = []
    fields: list[tuple[str, list[str]]] = []
    for statement in declared.body[1:]:
        if isinstance(statement, ast.AnnAssign):
            assert isinstance(statement.target, ast.Name)
            fields.append((_field(statement.target.id, statement.annotation), notes := []))
        elif isinstance(statement, ast.Expr):
            assert isinstance(statement.value, ast.Constant)
            notes.append(" ".join(str(statement.value.value).split()))
    for field, said in fields:
        lines += [f"  /** {note} */" for note in said]
        lines.append(f"  {field}")
    return "\n".join([*lines, "}\n"])


def _field(name: str, annotation: ast.expr) -> str:
    if isinstance(annotation, ast.Subscript) and _name(annotation.value) == "NotRequired":
        return f"{name}?: {_type(annotation.slice)};"
    return f"{name}: {_type(annotation)};"


def _type(node: ast.expr) -> str:
    if isinstance(node, ast.BinOp):
        return f"{_type(node.left)} | {_type(node.right)}"
    if isinstance(node, ast.Subscript) and _name(node.value) == "list":
        inner = _type(node.slice)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if isinstance(node, ast.Subscript) and _name(node.value) == "Literal":
        values = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return " | ".join(_literal(value) for value in values)
    if isinstance(node, ast.Constant):
        return "null" if node.value is None else str(node.value)
    return _PLAIN.get(_name(node), _name(node))


def _literal(node: ast.expr) -> str:
    assert isinstance(node, ast.Constant)
    return f'"{node.value}"' if isinstance(node.value, str) else str(node.value)


def _name(node: ast.expr) -> str:
    assert isinstance(node, ast.Name), ast.dump(node)
    return node.id


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
