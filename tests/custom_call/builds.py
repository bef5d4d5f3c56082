"""Sources of handlers, and the cache that the tests of builds share: its headers take seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

RMS = """ffi::Error RmsNorm(float eps, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  int64_t n = x.dimensions().back();
  for (int64_t row = 0; row < (int64_t)x.element_count(); row += n) {
    float sum = 0;
    for (int64_t i = row; i < row + n; ++i) sum += x.typed_data()[i] * x.typed_data()[i];
    float scale = 1 / std::sqrt(sum / n + eps);
    for (int64_t i = row; i < row + n; ++i) y->typed_data()[i] = scale * x.typed_data()[i];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(rms_norm, RmsNorm, ffi::Ffi::Bind().Attr<float>("eps").Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
"""
"""Whole functions in C++."""

BODY = """// contract: (x: f32[b, n], eps: f32 = 1e-6) -> (y: f32[b, n])
for (int64_t row = 0; row < b; ++row) {
  float sum = 0;
  for (int64_t i = row * n; i < (row + 1) * n; ++i) sum += x[i] * x[i];
  for (int64_t i = row * n; i < (row + 1) * n; ++i) y[i] = x[i] / sqrtf(sum / n + eps);
}
"""
"""A body, in C and in C++."""


def cache_of(folder: Path) -> Iterator[Path]:
    """Has the product keep its builds in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNEL_MAGICS_CACHE", str(folder))
        yield folder


def doubling(body: str = "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];") -> str:
    """A body that doubles an argument, or does something else with it."""
    return f"// contract: (x: f32[n]) -> (y: f32[n])\n{body}\n"


def trace(*lines: str) -> str:
    """An excerpt as it stands in a message."""
    return "\n".join(f"  {line}" for line in lines)
