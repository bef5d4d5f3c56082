"""Derivatives or batches of conformance programs: `derivatives_run.py FOLDER WHAT COUNT`.

The programs get their inputs from a function of theirs; here they are made to take them. Prints
one JSON line for each program of the sample: what was wrong with it, null, or why it was skipped.
"""

import json
import random
import re
import sys

SEED = 1
CALL = re.compile(r"^ *(%\w+)(?::\d+)? = call @inputs\(\) : \(\) -> \(?(.*?)\)?\n", re.MULTILINE)
TYPE = re.compile(r"tensor<(?:[^<>]|<[^<>]*>)*>")
WIDE = ("float32", "float64", "complex64", "complex128")
EXTREME = 1e2
DRAWS = 3
"""So many draws of arguments are tried: a wrong derivative is wrong at each."""


def say(line: dict) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def as_function(text: str) -> str | None:
    """The program with its inputs as arguments; None where it has none."""
    found = CALL.search(text)
    if found is None:
        return None
    name, types = found[1], TYPE.findall(found[2])
    parameters = ", ".join(f"%input{i}: {t}" for i, t in enumerate(types))
    head, _, rest = text.partition("@main()")
    rest = rest.replace(found[0], "", 1)
    main, end, others = rest.partition("\n  }\n")
    if len(types) == 1:
        main = re.sub(rf"{name}\b", "%input0", main)
    else:
        main = re.sub(rf"{name}#(\d+)", r"%input\1", main)
    return f"{head}@main({parameters}){main}{end}{others}"


def _of_type(values, dtype):
    return (values * (1 + 0.5j)).astype(dtype) if dtype.kind == "c" else values.astype(dtype)


def derivatives(function, inputs):
    import numpy as np

    failures: list[AssertionError] = []
    for seed in range(DRAWS):
        try:
            return check_at(function, inputs, np.random.default_rng(seed))
        except AssertionError as error:
            # A kink of the function may lie within the difference that is taken.
            failures.append(error)
    raise failures[0]


def check_at(function, inputs, draw):
    import jax
    import numpy as np
    from jax import numpy as jnp
    from jax.test_util import check_grads

    floats = [i for i, x in enumerate(inputs) if x.dtype.name in WIDE]
    if not floats:
        return "no float input"
    for lowest in (0.2, 1.2):
        chosen = [draw.uniform(lowest, lowest + 0.7, inputs[i].shape) for i in floats]
        values = [_of_type(c, inputs[i].dtype) for c, i in zip(chosen, floats, strict=True)]

        def of_floats(*given):
            args = list(inputs)
            for place, value in zip(floats, given, strict=True):
                args[place] = value
            results = function(*args)
            return [r for r in results if r.dtype.name in WIDE]

        results = of_floats(*values)
        if not results:
            return "no float result"
        if all(np.isfinite(r).all() and np.abs(r).max(initial=0) < EXTREME for r in results):
            break
    else:
        return "not finite where it is smooth"
    slopes = jax.jvp(of_floats, tuple(map(jnp.asarray, values)), tuple(map(jnp.ones_like, values)))
    if not all(np.isfinite(s).all() for s in slopes[1]):
        return "its slope is not finite"
    # Small, as a kink of the function must not lie within the difference that is taken.
    is_double = all(v.dtype.name in ("float64", "complex128") for v in values)
    close = {"atol": 5e-2, "rtol": 5e-2, "eps": 1e-6 if is_double else 2e-4}
    try:
        check_grads(of_floats, tuple(values), 2, ("fwd", "rev"), **close)
    except ValueError as error:
        if "Reverse-mode differentiation does not work for lax.while_loop" not in str(error):
            raise
        check_grads(of_floats, tuple(values), 2, ("fwd",), **close)
    return None


def batches(function, inputs):
    import jax
    import numpy as np

    if not inputs:
        return "no input"
    stacked = [np.stack([x, np.roll(x.ravel(), 1).reshape(x.shape)]) for x in inputs]
    count = len(inputs)
    each = [tuple(0 if i == j else None for j in range(count)) for i in range(count)]
    for axes in {*each, (0,) * count}:
        args = [s if axis == 0 else x for s, x, axis in zip(stacked, inputs, axes, strict=True)]
        found = jax.vmap(function, axes)(*args)
        for row in range(2):
            one = function(
                *(a[row] if axis == 0 else a for a, axis in zip(args, axes, strict=True))
            )
            for batch, alone in zip(found, one, strict=True):
                wide = np.complex128 if alone.dtype.kind == "c" else np.float64
                a, b = (np.asarray(x).astype(wide) for x in (batch[row], alone))
                tolerance = 1e-5 if alone.dtype.itemsize > 2 else 2e-2
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    return None


def main(folder: str, what: str, count: str) -> None:
    sys.path.insert(0, folder)
    import jax
    import load
    import numpy as np

    import kernel_magics as km
    from kernel_magics.call.program import read_program
    from kernel_magics.call.replay.replay import to_jax
    from kernel_magics.ir.source import Source

    jax.config.update("jax_enable_x64", True)
    check = {"derivatives": derivatives, "batches": batches}[what]
    cases = [c for n in ("modules.jsonl", "interpret.jsonl") for c in load.cases(n, {"pass"})]
    random.Random(SEED).shuffle(cases)  # noqa: S311 - a sample
    done = 0
    for case in cases:
        if done == int(count):
            break
        text, inputs = case["text"], load.args(case)
        if not inputs:
            text = as_function(text)
            if text is None:
                continue
            inputs = [np.asarray(x) for x in km.hlo_call(case["text"], func_name="inputs")]
        function = to_jax(read_program(Source(text), "main"))
        try:
            skipped = check(function, inputs)
            say({"id": case["id"], "problem": None, "skipped": skipped})
            done += skipped is None
        except Exception as error:  # noqa: BLE001 - one more that is wrong
            say({"id": case["id"], "problem": f"{type(error).__name__}: {error}"[:500]})
            done += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
