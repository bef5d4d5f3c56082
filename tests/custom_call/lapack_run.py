"""Runs each conformance program that calls LAPACK as the first thing of a process.

`python lapack_run.py FOLDER`: one JSON line for each, with what was wrong, or null. Processes are
forks of this one, which has imported all and started nothing.
"""

import json
import os
import sys
import traceback


def main(folder: str) -> None:
    sys.path.insert(0, folder)
    import jax
    import load

    import kernel_magics as km

    jax.config.update("jax_enable_x64", True)
    for case in load.cases("bytecode.jsonl", cls={"pass"}):
        if not any(target.startswith("lapack_") for target in case["custom_call_targets"]):
            continue
        child = os.fork()
        if not child:
            try:
                results = km.hlo_call(load.bytecode(case), *load.arrays(case["inputs"]))
                problem = load.check_close(results, load.arrays(case["expected"]))
            except BaseException:  # noqa: BLE001 - told to who started this
                problem = traceback.format_exc()
            tell(case["id"], problem)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            tell(case["id"], f"the process ended with status {status}")


def tell(name: str, problem: str | None) -> None:
    sys.stdout.write(json.dumps({"id": name, "problem": problem}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
