"""Runs conformance programs as traced JAX in one process: `python replay_run.py FOLDER FILE`.

Only programs of class `pass`. Prints one JSON line for each: what was wrong with it, or null.
"""

import json
import sys


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(folder: str, name: str) -> None:
    sys.path.insert(0, folder)
    import jax
    import load

    from kernel_magics.call.program import read_program
    from kernel_magics.call.replay.replay import to_jax
    from kernel_magics.errors import KernelMagicsError
    from kernel_magics.ir.source import Source

    jax.config.update("jax_enable_x64", True)
    for case in load.cases(name, {"pass"}):
        bytecode = "bytecode_b64" in case
        code = load.bytecode(case) if bytecode else case["text"]
        args = load.arrays(case["inputs"]) if bytecode else load.args(case)
        say(json.dumps({"start": case["id"]}))
        try:
            results = to_jax(read_program(Source(code), "main"))(*args)
        except KernelMagicsError as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            expected = load.arrays(case["expected"]) if bytecode else None
            problem = load.check_close(results, expected) if bytecode else load.check(case, results)
        say(json.dumps({"id": case["id"], "problem": problem}))


if __name__ == "__main__":
    main(*sys.argv[1:])
