"""Compiles programs, and reads the HLO text of what was compiled back as programs.

`python round_trip_run.py FOLDER COUNT PART PARTS` takes COUNT programs, evenly spread, and of
these every PARTSth from PART on. Prints one JSON line for each: what was wrong with the text and,
where that leaves constants out, with the serialized module; or null.
"""

import json
import sys


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def spread(cases: list, count: int) -> list:
    """So many of them, the first included, at distances that differ by one at most."""
    return [cases[number * len(cases) // count] for number in range(count)]


def main(folder: str, count: str, part: str, parts: str) -> None:
    sys.path.insert(0, folder)
    import jax
    import load

    import kernel_magics as km

    jax.config.update("jax_enable_x64", True)

    def attempt(form, case, args):
        try:
            return load.check(case, km.hlo_call(form, *args))
        except km.KernelMagicsError as error:
            return f"{type(error).__name__}: {error}"

    cases = spread(list(load.cases("modules.jsonl", {"pass"})), int(count))
    for case in cases[int(part) :: int(parts)]:
        args = load.args(case)
        say(json.dumps({"start": case["id"]}))
        call = jax.jit(lambda *a, text=case["text"]: km.hlo_call(text, *a))
        compiled = call.lower(*args).compile()
        # What the first compile gives wrong is no fault of the reading back.
        first = load.check(case, compiled(*args))
        forms = [compiled.as_text()]
        if "{...}" in forms[0]:
            # The text leaves large constants out; the serialized module has them.
            module = compiled.runtime_executable().hlo_modules()[0]
            forms.append(module.as_serialized_hlo_module_proto())
        problems = [attempt(form, case, args) for form in forms]
        say(json.dumps({"id": case["id"], "first": first, "problems": problems}))


if __name__ == "__main__":
    main(*sys.argv[1:])
