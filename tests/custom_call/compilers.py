"""Libraries made for the tests, by the compilers of this machine."""

import shutil
import subprocess
from pathlib import Path

import jax
import pytest

HEAD = """
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "xla/ffi/api/c_api.h"
"""

PROBE = """
static int asks(XLA_FFI_CallFrame* frame) {
  if (!frame->extension_start || frame->extension_start->type != XLA_FFI_Extension_Metadata) return 0;
  XLA_FFI_Metadata* metadata = ((XLA_FFI_Metadata_Extension*)frame->extension_start)->metadata;
  metadata->api_version.major_version = MAJOR;
  metadata->api_version.minor_version = MINOR;
  return 1;
}
"""

TIMES = """
XLA_FFI_Error* NAME(XLA_FFI_CallFrame* frame) {
  if (asks(frame)) return 0;
  XLA_FFI_Buffer* from = frame->args.args[0];
  XLA_FFI_Buffer* to = frame->rets.rets[0];
  int64_t count = 1;
  for (int64_t i = 0; i < from->rank; i++) count *= from->dims[i];
  for (int64_t i = 0; i < count; i++) ((float*)to->data)[i] = FACTOR * ((float*)from->data)[i];
  return 0;
}
"""


def needs(name: str) -> str:
    """The path of a compiler; a test that needs it is skipped where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


def compile_c(path: Path, source: str, *flags: str) -> Path:
    """Makes a shared library of a C program."""
    written = path.with_suffix(".c")
    written.write_text(source)
    command = [needs("gcc"), "-shared", "-fPIC", "-I", jax.ffi.include_dir(), str(written)]
    subprocess.run([*command, "-o", str(path), *flags], check=True)
    return path


def times(
    path: Path, factor: int = 2, name: str = "times", version: tuple[int, int] = (0, 1)
) -> Path:
    """Makes a library with a handler that multiplies its argument."""
    text = TIMES.replace("NAME", name).replace("FACTOR", str(factor))
    probe = PROBE.replace("MAJOR", str(version[0])).replace("MINOR", str(version[1]))
    return compile_c(path, HEAD + probe + text)
