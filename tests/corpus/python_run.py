"""Runs conformance programs by way of their Python source: `python_run.py FOLDER FILE STRIDE`.

Only programs of class `pass`, of which every STRIDE-th. Prints one JSON line for each: what was
wrong with it, or null.
"""

import json
import sys
from pathlib import Path


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(folder: str, name: str, stride: str, kept: str = "") -> None:
    sys.path.insert(0, folder)
    import jax
    import load

    from kernel_magics.call.program import read_program
    from kernel_magics.call.python.writer import to_python
    from kernel_magics.errors import KernelMagicsError
    from kernel_magics.ir.source import Source

    jax.config.update("jax_enable_x64", True)
    for case in list(load.cases(name, {"pass"}))[:: int(stride)]:
        bytecode = "bytecode_b64" in case
        code = load.bytecode(case) if bytecode else case["text"]
        args = load.arrays(case["inputs"]) if bytecode else load.args(case)
        say(json.dumps({"start": case["id"]}))
        try:
            source = to_python(read_program(Source(code), "main"))
        except KernelMagicsError as error:
            say(json.dumps({"id": case["id"], "problem": f"{type(error).__name__}: {error}"}))
            continue
        if kept:
            (Path(kept) / f"{case['id']}.py").write_text(source)
        namespace: dict = {}
        try:
            exec(compile(source, case["id"], "exec"), namespace)  # noqa: S102 - it is ours
            results = namespace["main"](*args)
        except Exception as error:  # noqa: BLE001 - one more that is wrong
            say(json.dumps({"id": case["id"], "problem": repr(error)}))
            continue
        expected = load.arrays(case["expected"]) if bytecode else None
        problem = load.check_close(results, expected) if bytecode else load.check(case, results)
        say(json.dumps({"id": case["id"], "problem": problem}))


if __name__ == "__main__":
    main(*sys.argv[1:])
