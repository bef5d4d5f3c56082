"""A saved session comes back whole or not at all."""

import hashlib
import os
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import mlir
from jax.extend.mlir import ir

import kernel_magics as km
from kernel_magics.errors import KernelMagicsError, SessionError
from kernel_magics.ir import archive
from kernel_magics.ir.context import new_context
from kernel_magics.ir.parse import bytecode
from kernel_magics.ir.seal import seal, unsealed
from kernel_magics.ir.source import Source

X = np.arange(3, dtype=np.float32)


def program(op: str, name: str = "main") -> str:
    return f"""func.func @{name}(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = stablehlo.{op} %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""


@pytest.fixture
def saved(session, tmp_path) -> Path:
    """A file of two units, and beside it the session that holds them and one more."""
    session.define(program("add"), name="double")
    session.define(program("multiply"), name="square")
    path = tmp_path / "session.mlir.bc"
    session.save(path)
    session.define(program("subtract"), name="zero")
    return path


def refusals(session: km.Session, path: Path, contents: Iterable[bytes]) -> list[str]:
    """The messages of files that are not restored, and change nothing."""
    before = session.module_text(), dict(session.units), dict(session.functions)
    messages: list[str] = []
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(KernelMagicsError) as error:
            session.restore(path)
        messages.append(str(error.value))
    assert (session.module_text(), dict(session.units), dict(session.functions)) == before
    return messages


def refused(session: km.Session, path: Path) -> str:
    """The message of a file that is not restored, and changes nothing."""
    (message,) = refusals(session, path, [path.read_bytes()])
    return message


def altered(content: bytes, place: int, by: int) -> bytes:
    """The content with some bits of one byte turned round."""
    changed = bytearray(content)
    changed[place] ^= by
    return bytes(changed)


def never(*_, **__):
    raise AssertionError


@pytest.fixture
def without_parser(monkeypatch):
    """Bytes that nobody wrote can end the process when MLIR reads them: nothing may."""
    monkeypatch.setattr(archive, "parse", never)


HELPER = "func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }\n"
MAIN = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{ {0}\n return %x : tensor<3xf32> }}"
KIND = "(tensor<3xf32>) -> tensor<3xf32>"
EXACT = {
    "other dialects": MAIN.format("%0 = arith.mulf %x, %x : tensor<3xf32>"),
    "globals": "memref.global constant @w : memref<2xf32> = dense<1.0>\n" + MAIN.format(""),
    "kernels": "gpu.module @k { gpu.func @s() kernel { gpu.return } }\n" + MAIN.format(""),
    "ops that nothing uses": MAIN.format("%0 = stablehlo.negate %x : tensor<3xf32>"),
    "ops without symbols": "stablehlo.constant dense<1> : tensor<i32>\n" + HELPER,
    "references in attributes": "func.func @main() attributes {test.at = [@f, {at = @f}]} { return }\n"
    + HELPER,
    "nested references": "module @m { func.func @f() { return } }\n"
    "func.func @main() attributes {test.at = @m::@f} { return }",
    "references in configurations": HELPER
    + MAIN.format(
        f"%0 = stablehlo.custom_call @t(%x) {{api_version = 4 : i32, backend_config = {{a = @f}}}} : {KIND}"
    ),
    "references in composites": HELPER
    + MAIN.format(
        f'%0 = stablehlo.composite "a.b" %x {{composite_attributes = {{a = @f}}, decomposition = @f}} : {KIND}'
    ),
}
"""Programs of which StableHLO's portable form may say less."""


@pytest.mark.parametrize("text", EXACT.values(), ids=EXACT.keys())
def test_what_is_restored_is_what_was_saved_to_the_last_attribute(session, tmp_path, text):
    session.define(text, name="unit")
    before = session.module_text()
    session.save(tmp_path / "s.mlir.bc")
    session.restore(tmp_path / "s.mlir.bc")
    assert session.module_text() == before


def test_stablehlo_is_saved_in_its_portable_form(saved):
    context = new_context()
    module = ir.Module.parse(saved.read_bytes(), context)
    kinds = [view.operation.name for view in module.body.operations]
    assert [kind.partition(".")[0] for kind in kinds] == ["vhlo", "vhlo"]
    again = mlir.deserialize_portable_artifact(saved.read_bytes(), context)
    assert "stablehlo.multiply" in str(again)


def test_equal_constants_stay_apart(session, tmp_path):
    constant = "stablehlo.constant dense<1.0> : tensor<3xf32>"
    text = MAIN.format(f"%0 = stablehlo.abs %x : tensor<3xf32>\n %1 = {constant}\n %2 = {constant}")
    session.define(text.replace("return %x", "return %2"), name="unit")
    before = session.module_text()
    session.save(tmp_path / "s.mlir.bc")
    session.restore(tmp_path / "s.mlir.bc")
    assert session.module_text() == before


@pytest.mark.usefixtures("without_parser")
def test_files_that_are_cut_short_are_refused(session, saved):
    content = saved.read_bytes()
    # What is left of four bytes and fewer is text.
    sizes = {5, 6, 7, 8, len(content) - 1, *range(9, len(content), len(content) // 150)}
    messages = refusals(session, saved, [content[:size] for size in sorted(sizes)])
    assert all("damaged" in message.split("\n")[0] for message in messages)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_files_of_which_hardly_anything_is_left_are_refused(session, saved, size):
    saved.write_bytes(saved.read_bytes()[:size])
    refused(session, saved)


@pytest.mark.usefixtures("without_parser")
def test_files_with_one_altered_byte_are_refused(session, saved):
    content = saved.read_bytes()
    draw = random.Random(8)  # noqa: S311 - a fixed spread, not a secret
    places = {*range(8), *range(len(content) - 8, len(content))}
    places |= {draw.randrange(len(content)) for _ in range(600)}
    changed = [altered(content, place, draw.randrange(1, 256)) for place in sorted(places)]
    messages = refusals(session, saved, changed)
    assert all("damaged" in message.split("\n")[0] for message in messages)


@pytest.mark.usefixtures("without_parser")
def test_every_digit_of_the_checksum_counts(session, saved):
    content = saved.read_bytes()
    start = re.search(rb'sha256": "', content).end()
    # In ASCII the other digit of a pair, such as 6 and 7, or a and `.
    refusals(session, saved, [altered(content, start + digit, 1) for digit in range(64)])


@pytest.mark.usefixtures("without_parser")
@pytest.mark.parametrize("change", ["longer", "twice", "hole", "swapped"])
def test_files_with_other_damage_are_refused(session, saved, change):
    content = saved.read_bytes()
    middle = len(content) // 2
    changed = {
        "longer": content + b"\0",
        "twice": content + content,
        "hole": content[:middle] + bytes(64) + content[middle + 64 :],
        "swapped": content[middle:] + content[:middle],
    }[change]
    saved.write_bytes(changed)
    assert refused(session, saved) == (
        "`session.mlir.bc` is damaged: its content does not have the checksum it was saved with\n"
        f"  {len(changed):,} bytes were read\n"
        "  The file was cut short or altered: save the session again, or copy it again."
    )


def test_bytes_without_a_checksum_are_refused(session, saved):
    unit = session.read(Source(program("add")))
    content = bytecode(unit.module)
    saved.write_bytes(content)
    assert refused(session, saved) == (
        "`session.mlir.bc` is not a saved session, or is damaged\n"
        f"  its {len(content):,} bytes hold no checksum of a session\n"
        "  Use `load` for programs; save a damaged session again."
    )


def test_text_of_a_saved_session_is_a_program(session, saved):
    text = 'module attributes {kernel_magics.units = "no record"} {\n}'
    saved.write_text(text)
    assert refused(session, saved) == (
        "`session.mlir.bc` is a program, but not a saved session\n  Use `load` for programs."
    )


def test_other_forms_are_refused_by_their_number(session, saved, monkeypatch):
    monkeypatch.setattr(archive, "VERSION", 99)
    session.save(saved)
    monkeypatch.undo()
    assert refused(session, saved) == (
        f"`session.mlir.bc` was saved in form 99; form {archive.VERSION} is read\n"
        "  Install the version of Kernel Magics that saved it."
    )


def test_files_of_another_jaxlib_are_refused_as_such(session, saved):
    record = unsealed({"version": archive.VERSION, "units": []})
    saved.write_bytes(seal(b"ML\xefR\xc7" + record.encode(), record))
    assert refused(session, saved) == (
        "`session.mlir.bc` is as it was saved, but this jaxlib cannot read it\n"
        "  The 124 bytes of bytecode cannot be read: "
        "bytecode version 99 is newer than the current version 6\n"
        "  Restore it with the jaxlib that saved it, or run the cells again."
    )


def test_checksum_is_that_of_the_file_with_its_place_blank(saved):
    content = saved.read_bytes()
    found = re.search(rb'sha256": "([0-9a-f]{64})"', content)
    blank = content.replace(found[1], b"0" * 64)
    assert hashlib.sha256(blank).hexdigest() == found[1].decode()


def test_the_same_session_is_the_same_file(session, saved):
    session.save(saved)
    content = saved.read_bytes()
    session.restore(saved)
    session.save(saved)
    assert saved.read_bytes() == content


def test_units_may_say_what_a_saved_file_says(session, saved):
    record = '{"kernel_magics.sha256": "' + "0" * 64
    note = record.replace('"', '\\"')
    attributes = f'-> tensor<3xf32> attributes {{test.note = "{note}"}} {{'
    text = program("add", "noted").replace("-> tensor<3xf32> {", attributes)
    session.define(text, name="noted")
    before = session.module_text()
    session.save(saved)
    session.restore(saved)
    assert session.module_text() == before
    np.testing.assert_array_equal(session.functions["noted"](X)[0], 2 * X)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file_alone(session, saved, monkeypatch, error):
    content = saved.read_bytes()

    def fail(_):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((SessionError, KeyboardInterrupt)):
        session.save(saved)
    assert saved.read_bytes() == content
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_process_that_dies_while_it_writes_leaves_the_old_file(saved):
    content = saved.read_bytes()
    code = f"""
import os
import kernel_magics as km
km.session.define({program("negate").replace("%x, %x", "%x")!r})
os.fsync = lambda _: os._exit(9)
km.session.save({str(saved)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == 9
    assert saved.read_bytes() == content
    session = km.Session()
    session.restore(saved)
    np.testing.assert_array_equal(session.functions["square"](X)[0], X * X)


def test_nothing_is_pickled(session, saved, monkeypatch):
    for name in ("load", "loads", "dump", "dumps", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, never)
    session.save(saved)
    session.restore(saved)
    assert list(session.units) == ["double", "square", "zero"]
    assert b"\x80\x04\x95" not in saved.read_bytes()


def test_programs_of_jax_are_saved_as_portable_artifacts(session, tmp_path):
    x = np.ones((4, 4), "f4")
    session.offer(lambda x: jnp.tanh(x @ x) @ jnp.sort(x), x, name="block")
    session.save(tmp_path / "session")
    assert b"StableHLO_v" in (tmp_path / "session").read_bytes()[:20]
    fresh = km.Session()
    fresh.restore(tmp_path / "session")
    expected = session.functions["block"](x)[0]
    np.testing.assert_array_equal(fresh.functions["block"](x)[0], expected)
    assert fresh.graph() == session.graph()
