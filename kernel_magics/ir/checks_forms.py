"""Checks of forms: kinds that XLA does not take, and kinds on types that end the process.

All of them were met in child processes with JAX 0.10.2 and JAX 0.12.
"""

from collections.abc import Iterator

from kernel_magics.ir.forms import bit_width
from kernel_magics.ir.problems import Problem, Scope, first

# XLA's translation knows these and no others; of `arith` it knows constants alone.
_XLA_DIALECTS = frozenset(
    ("builtin", "chlo", "func", "mhlo", "sdy", "shape", "stablehlo", "tensor")
)
_XLA_OPS = frozenset(("arith.constant", "cf.assert", "cf.br"))

_HOST_TRANSFERS = ("infeed", "outfeed", "recv", "send")

_FATAL_ELEMENTS = frozenset(("f6E2M3FN", "f6E3M2FN"))
_COMPLEX = frozenset(("complex<f32>", "complex<f64>"))

_FATAL_FORMS = (
    ("stablehlo.remainder", _COMPLEX, "Take real and imaginary part apart first."),
    ("stablehlo.concatenate", frozenset(("i2", "ui2")), "Convert to `i8` first."),
    ("stablehlo.rng", frozenset(("i1", "i8")), "Draw `i32`, and convert."),
)
"""Kind, element types on which it ends the process, what to do."""

_EMITTED = frozenset(
    ("stablehlo.map", "stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.scatter")
)
_FATAL_BODIES = {
    "stablehlo.all_reduce": _EMITTED - {"stablehlo.map"},
    "stablehlo.custom_call": _EMITTED - {"stablehlo.map"},
    "stablehlo.fft": _EMITTED,
    "stablehlo.partition_id": _EMITTED,
    "stablehlo.replica_id": _EMITTED,
    "stablehlo.rng": _EMITTED,
}
"""Kind to the ops in whose function of scalars it ends the process."""


def foreign_ops(scope: Scope) -> Iterator[Problem]:
    """Ops of dialects that XLA does not translate."""
    for kind, op in scope.kinds.items():
        if kind.partition(".")[0] not in _XLA_DIALECTS and kind not in _XLA_OPS:
            yield Problem(
                "foreign-op",
                f"`{kind}` is not an op that XLA takes",
                first(op, kind),
                "Lower the program to StableHLO first.",
            )


def host_transfers(scope: Scope) -> Iterator[Problem]:
    """Ops that wait for a host that answers; `infeed` and `outfeed` then wait for ever."""
    for kind, op in scope.kinds.items():
        dialect, _, name = kind.partition(".")
        if name in _HOST_TRANSFERS and dialect in ("mhlo", "stablehlo"):
            yield Problem(
                "host-transfer",
                f"nobody is at the other end of a `{kind}`",
                first(op, kind),
                "Take the value as an argument, or give it as a result.",
            )


def fatal_types(scope: Scope) -> Iterator[Problem]:
    """Element types on which XLA's CPU compiler ends the process."""
    if not any(element.rstrip("?") in _FATAL_ELEMENTS for element in scope.elements):
        return
    advice = "Convert to a wider float outside of the program."
    ends = "on which XLA's CPU compiler ends the process"
    for (kind, elements), types, location in scope.read_forms:
        if _FATAL_ELEMENTS.intersection(elements):
            text = next(t.text for t in map(scope.types.read, types) if _is_fatal(t.elements))
            yield Problem("fatal-type", f"`{kind}` works on `{text}`, {ends}", location, advice)
            return
    for types, location in scope.signatures:
        for value in map(scope.types.read, types):
            if _is_fatal(value.elements):
                sentence = f"a function takes or gives `{value.text}`, {ends}"
                yield Problem("fatal-type", sentence, location, advice)
                return


def fatal_forms(scope: Scope) -> Iterator[Problem]:
    """Kinds that end the process on some element types."""
    for (kind, elements), _, location in scope.read_forms:
        if kind == "stablehlo.bitcast_convert" and _changes_complex(elements):
            yield Problem(
                "fatal-bitcast",
                "a `stablehlo.bitcast_convert` between complex types of other widths "
                "ends the process in XLA's CPU compiler",
                location,
                "Take real and imaginary part apart first.",
            )
    for kind, fatal, advice in _FATAL_FORMS:
        found = scope.find_form(kind, fatal.intersection)
        if found is not None:
            text = scope.types.read(found.results.types[0]).text
            yield Problem(
                "fatal-form",
                f"`{kind}` on `{text}` ends the process in XLA's CPU compiler",
                found.location,
                advice,
            )


def fatal_bodies(scope: Scope) -> Iterator[Problem]:
    """Functions of scalars that XLA's CPU compiler cannot emit."""
    for op in (op for op in scope.ops if op.bodies):
        inside = [(a, k, where) for a, ks in op.bodies.items() for k, where in ks.items()]
        for around, kind, location in inside:
            if around in _FATAL_BODIES.get(kind, ()):
                yield Problem(
                    "fatal-body",
                    f"`{kind}` inside of `{around}` ends the process in XLA's CPU compiler",
                    location,
                    f"Compute it before the `{around}`.",
                )


def _is_fatal(elements: tuple[str, ...]) -> bool:
    return any(element.rstrip("?") in _FATAL_ELEMENTS for element in elements)


def _changes_complex(elements: tuple[str, ...]) -> bool:
    widths = {bit_width(element) for element in elements}
    return len(widths) > 1 and any(element.startswith("complex<") for element in elements)
