"""Runs conformance programs on a plugin: `python plugin_run.py FOLDER PLUGIN COUNT`.

Prints one JSON line for each program: what was wrong with it, or null, and where it ran.
"""

import json
import sys


def main(folder: str, plugin: str, count: str) -> None:
    sys.path.insert(0, folder)
    import jax
    import load
    from jax import numpy as jnp

    import kernel_magics as km

    jax.config.update("jax_enable_x64", True)
    # After a first computation.
    jnp.arange(3).block_until_ready()
    km.plugins.load(plugin)
    km.plugins.use(plugin)
    cases = [*load.cases("interpret.jsonl", {"pass"}), *load.cases("modules.jsonl", {"pass"})]
    for case in cases[:: len(cases) // int(count)][: int(count)]:
        places = ""
        try:
            results = km.hlo_call(case["text"], *load.args(case))
        except km.KernelMagicsError as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            problem, places = load.check(case, results), km.plugins.where(results)
        print(json.dumps({"id": case["id"], "problem": problem, "where": places}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
