"""Runs the conformance programs in one process: `python conformance_run.py FOLDER FILE`.

Prints one JSON line for each program: what was wrong with it, or null.
"""

import json
import sys


def main(folder: str, name: str) -> None:
    sys.path.insert(0, folder)
    import jax
    import load

    import kernel_magics as km

    jax.config.update("jax_enable_x64", True)
    for case in load.cases(name):
        bytecode = "bytecode_b64" in case
        code = load.bytecode(case) if bytecode else case["text"]
        args = load.arrays(case["inputs"]) if bytecode else load.args(case)
        print(json.dumps({"start": case["id"]}), flush=True)
        try:
            results = km.hlo_call(code, *args)
        except km.KernelMagicsError as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            expected = load.arrays(case["expected"]) if bytecode else None
            problem = load.check_close(results, expected) if bytecode else load.check(case, results)
        line = {"id": case["id"], "class": case["cls"], "problem": problem}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
