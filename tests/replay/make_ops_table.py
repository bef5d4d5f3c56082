"""Writes the table of all ops of StableHLO and CHLO: `python -m tests.replay.make_ops_table`.

What it says of an op is what the tests prove with the op's sample: `test_every_op.py`.
"""

import sys
from pathlib import Path
from typing import Any

import jax
from jax.extend.mlir.dialects import chlo, stablehlo

from kernel_magics.call.program import read_program
from kernel_magics.call.replay import rules
from kernel_magics.call.replay.replay import make_jaxpr
from kernel_magics.ir.source import Source
from tests.replay.samples import ELEMENTWISE, Sample
from tests.replay.samples_of_arrays import ARRAYS

TABLE = Path(rules.__file__).with_name("OPS.md")
SAMPLES = {**ELEMENTWISE, **ARRAYS}

WITHOUT = {
    "stablehlo.collective_reduce": "JAX has no collective that reduces to one device",
    "stablehlo.cross-replica-sum": "joins replicas, of which JAX's programs have one",
    "stablehlo.infeed": "JAX has no infeed",
    "stablehlo.outfeed": "JAX has no outfeed",
    "stablehlo.recv": "JAX has no such transfer",
    "stablehlo.return": "ends a region; is no operation",
    "stablehlo.rng": "its numbers follow from no state, so no second form gives the same",
    "stablehlo.send": "JAX has no such transfer",
    "stablehlo.uniform_dequantize": "jaxlib's reader knows no quantised types",
    "stablehlo.uniform_quantize": "jaxlib's reader knows no quantised types",
    "chlo._asin_acos_kernel": "internal to the lowering of CHLO",
}
"""Ops that have no form in JAX, and why."""

COLLECTIVES = {
    "stablehlo.all_gather": "`all_gather`",
    "stablehlo.all_reduce": "`psum`, `pmax`, `pmin`",
    "stablehlo.all_to_all": "`all_to_all`",
    "stablehlo.collective_broadcast": "`all_gather`, `slice`",
    "stablehlo.collective_permute": "`ppermute`",
    "stablehlo.partition_id": "`axis_index`",
    "stablehlo.reduce_scatter": "`reduce_scatter`",
    "stablehlo.replica_id": "a constant",
}
"""Ops that speak to other devices: inside `jax.shard_map`, tested in `test_collectives.py`."""

OLD_JAX = {
    "asin_float32": "JAX 0.10's CHLO lowering of asin is less accurate near one, replayed or not",
    "asin_float64": "JAX 0.10's CHLO lowering of asin is less accurate near one, replayed or not",
}
EXCEPTIONS = {
    "cpu_eig_lapack_geev_156": "LAPACK gives its eigenvectors in another order, replayed or not",
}
"""Conformance programs that have other values than their authors expect, and why."""

HEAD = """# StableHLO and CHLO as JAX

Every op that jaxlib's StableHLO and CHLO have, and what replay makes of it: the JAX primitives of
the op's sample program, its derivatives, and its batches. Written by
`python -m tests.replay.make_ops_table` from the samples that `tests/replay/test_every_op.py`
checks: values against XLA, derivatives of second order against differences of values, batches over
each argument and over all against a loop. MHLO ops of the same names are served alike.

| op | in JAX | forward | reverse | batches | notes |
| --- | --- | --- | --- | --- | --- |
"""


TAIL = """## Exceptions

Of the conformance programs that XLA runs, these have other values through replay than their authors
expect. `tests/corpus/test_replay.py` holds that there are no others.
"""


def names(dialect: Any) -> set[str]:
    """The ops of a dialect."""
    classes = [value for value in vars(dialect).values() if isinstance(value, type)]
    return {c.OPERATION_NAME for c in classes if hasattr(c, "OPERATION_NAME")}


def all_names() -> list[str]:
    """The ops of both dialects, those of StableHLO first."""
    return [*sorted(names(stablehlo)), *sorted(names(chlo))]


def primitives(jaxpr: Any) -> list[str]:
    """The primitives of a jaxpr and of those inside, each once, in order."""
    found: dict[str, None] = {}
    for equation in jaxpr.eqns:
        values = [
            v for p in equation.params.values() for v in (p if isinstance(p, tuple) else (p,))
        ]
        inner = [getattr(v, "jaxpr", v) for v in values if hasattr(getattr(v, "jaxpr", v), "eqns")]
        if equation.primitive.name not in ("jit", "pjit", "custom_jvp_call", "custom_vmap_call"):
            found[equation.primitive.name] = None
        for each in inner:
            found.update(dict.fromkeys(primitives(each)))
    return list(found)


def row(name: str) -> str:
    """The line of one op."""
    if name in WITHOUT:
        return _line(name, "—", "—", "—", "—", WITHOUT[name])
    if name in COLLECTIVES:
        is_number = name.endswith("_id")
        yes = "—" if is_number else "yes"
        return _line(name, COLLECTIVES[name], yes, yes, "yes", "inside `jax.shard_map`")
    sample = SAMPLES[name]()
    jaxpr = make_jaxpr(read_program(Source(sample.text), "main")).jaxpr
    used = ", ".join(f"`{p}`" for p in primitives(jaxpr))
    used = used or ("the value itself" if sample.smooth else "a constant")
    forward, reverse = (_mode(sample, mode) for mode in ("fwd", "rev"))
    return _line(name, used, forward, reverse, "yes" if sample.args else "—", sample.note)


def _mode(sample: Sample, mode: str) -> str:
    if not sample.smooth:
        return "—"
    return "yes" if mode in sample.modes else "no"


def _line(name: str, *cells: str) -> str:
    return f"| `{name}` | {' | '.join(cells)} |".replace("  |", " |")


def make_table() -> str:
    """The whole file."""
    with jax.enable_x64(True):
        exceptions = [
            f"- `{name}`: {why}." for name, why in sorted({**OLD_JAX, **EXCEPTIONS}.items())
        ]
        return "\n".join([HEAD + "\n".join(map(row, all_names())), "", TAIL, *exceptions, ""])


if __name__ == "__main__":
    TABLE.write_text(make_table())
    sys.stdout.write(f"{TABLE}\n")
