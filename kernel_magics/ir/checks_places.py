"""Checks of the place: devices, shardings and memory that a program asks for."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from jax.extend.mlir import ir

from kernel_magics.ir.problems import Problem, Scope

_COUNTS = (("mhlo.num_partitions", "partitions"), ("mhlo.num_replicas", "replicas"))
SHARDING = "mhlo.sharding"
"""An attribute that says how a value lies over devices, as XLA wrote it before Shardy."""

_NUMBERS = r"\d+(,\d+)*"
_ONE = (
    r"(replicated|manual|unknown|unreduced|maximal device=\d+"
    rf"|devices=\[{_NUMBERS}\](<=\[{_NUMBERS}\](T\({_NUMBERS}\))?|{_NUMBERS})"
    r"( last_tile_dim_replicate| last_tile_dims=\{[a-z, ]*\})?)"
    r"( shard_(as|like) \d+)?( metadata=\{.*\})?"
)
_GRAMMAR = re.compile(rf"\{{({_ONE}|\{{{_ONE}\}}(,\s*\{{{_ONE}\}})*|mesh\[.*|@.*)?\}}", re.DOTALL)
"""What XLA's parser of shardings takes; named meshes, which are new, are left to it."""

_LARGEST_BYTES = 1 << 63
"""XLA counts bytes in 64 bits with a sign, and ends the process where that is not enough."""

_CGROUP_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")


def devices(scope: Scope) -> Iterator[Problem]:
    """Partitions and replicas that are more than the devices."""
    if scope.device_count is None:
        return
    attributes = scope.index.module.operation.attributes
    for name, words in _COUNTS:
        if name not in attributes:
            continue
        count = attributes[name]
        if isinstance(count, ir.IntegerAttr) and not 1 <= count.value <= scope.device_count:
            yield Problem(
                "devices",
                f"it is written for {count.value:,} {words}, "
                f"and the devices in use are {scope.device_count:,}",
                scope.index.module.operation.location,
                f"Remove `{name}`, or use as many devices.",
            )


def shardings(scope: Scope) -> Iterator[Problem]:
    """Shardings that XLA cannot parse: it says nothing, and leaves them out."""
    for op in scope.ops:
        if SHARDING not in op.annotations:
            continue
        for text, location in sharding_texts(op.operation):
            if _is_malformed(text):
                yield Problem(
                    "malformed-sharding",
                    f"XLA cannot read the sharding {text!r}",
                    location,
                    'Write it as XLA prints it, such as "{devices=[2,1]<=[2]}".',
                )


def memory(scope: Scope) -> Iterator[Problem]:
    """Values that no machine, or not this one, can hold."""
    limit = machine_memory_bytes() if scope.memory_bytes is None else scope.memory_bytes
    for (kind, _), types, location in scope.read_forms:
        for value in map(scope.types.read, types):
            if value.size_bytes >= _LARGEST_BYTES:
                yield _too_large(f"`{kind}` works on `{value.text}`", location)
                break
            if kind == "stablehlo.sort" and value.size_bytes > limit:
                yield Problem(
                    "memory",
                    f"`{kind}` works on `{value.text}`, more than the memory of this machine, "
                    "which ends the process",
                    location,
                    "Sort less at a time.",
                )
                break
    for types, location in scope.signatures:
        for value in map(scope.types.read, types):
            if value.size_bytes >= _LARGEST_BYTES:
                yield _too_large(f"a function takes or gives `{value.text}`", location)
                break
    yield from _arguments_and_results(scope, limit)


def machine_memory_bytes() -> int:
    """The memory of this machine, or of the container that we run in."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in _CGROUP_LIMITS:
        # No file: another kind of container, or none. No number: no limit.
        with suppress(OSError, ValueError):
            found.append(int((Path("/sys/fs/cgroup") / name).read_text()))
    return min(found)


def _arguments_and_results(scope: Scope, limit: int) -> Iterator[Problem]:
    op = scope.index.by_name.get(scope.entry)
    if op is None or op.function_type is None:
        return
    function = ir.FunctionType(op.function_type.value)
    sizes = [scope.types.read(kind).size_bytes for kind in (*function.inputs, *function.results)]
    if max(sizes, default=0) < _LARGEST_BYTES and sum(sizes) > limit:
        yield Problem(
            "memory",
            f"its arguments and results take {sum(sizes):,} bytes, this machine has {limit:,}",
            op.location,
            "Make the shapes smaller.",
        )


def _too_large(what: str, location: ir.Location) -> Problem:
    return Problem(
        "fatal-size",
        f"{what}, whose bytes XLA cannot count, which ends the process",
        location,
        "Make the shape smaller.",
    )


def sharding_texts(operation: ir.Operation) -> Iterator[tuple[str, ir.Location]]:
    """The shardings of a function's arguments and results, and of its ops."""
    for name in ("arg_attrs", "res_attrs"):
        if name not in operation.attributes:
            continue
        values = operation.attributes[name]
        for entry in values if isinstance(values, ir.ArrayAttr) else ():
            if isinstance(entry, ir.DictAttr) and SHARDING in entry:
                yield from _text(entry[SHARDING], operation.location)
    found: list[tuple[str, ir.Location]] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if SHARDING in inner.attributes:
            found.extend(_text(inner.attributes[SHARDING], inner.location))
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    yield from found


def _text(attribute: ir.Attribute, location: ir.Location) -> Iterator[tuple[str, ir.Location]]:
    # Bytes that are no text are a serialized sharding.
    with suppress(UnicodeDecodeError):
        if isinstance(attribute, ir.StringAttr):
            yield attribute.value_bytes.decode(), location


def _is_malformed(text: str) -> bool:
    """Whether it is text and does not follow the grammar; else it is a serialized sharding."""
    return bool(text) and text.isprintable() and not _GRAMMAR.fullmatch(text)
