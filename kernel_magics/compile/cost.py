"""What a compiled function costs: time to compile, work, memory."""

from dataclasses import dataclass
from typing import Any

import jax

_UNITS = ("", "k", "M", "G", "T", "P")


@dataclass(frozen=True, slots=True)
class CompileCost:
    """Figures of one compile; None where the platform reports none."""

    platform: str
    """XLA's word, such as `cpu`."""
    compile_time_s: float
    flops: float | None
    """Floating point operations of one call."""
    bytes_accessed: float | None
    """Memory read and written by one call."""
    temporary_bytes: int | None
    """Memory held only while a call runs."""
    code_size_bytes: int | None

    def __str__(self) -> str:
        parts = [f"compiled for {self.platform} in {_seconds(self.compile_time_s)}"]
        if self.flops is not None:
            parts.append(_scaled(self.flops, "FLOP", 1000))
        if self.bytes_accessed is not None:
            parts.append(f"{_scaled(self.bytes_accessed, 'B', 1024)} moved")
        if self.temporary_bytes:
            parts.append(f"{_scaled(self.temporary_bytes, 'B', 1024)} temporary")
        return " · ".join(parts)


def read_cost(compiled: jax.stages.Compiled, platform: str, compile_time_s: float) -> CompileCost:
    """Reads what XLA knows about a compiled function."""
    work: Any = compiled.cost_analysis()
    work = work[0] if isinstance(work, list) and work else work
    work = work if isinstance(work, dict) else {}
    memory: Any = compiled.memory_analysis()
    return CompileCost(
        platform=platform,
        compile_time_s=compile_time_s,
        flops=work.get("flops"),
        bytes_accessed=work.get("bytes accessed"),
        temporary_bytes=getattr(memory, "temp_size_in_bytes", None),
        code_size_bytes=getattr(memory, "generated_code_size_in_bytes", None),
    )


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms" if seconds >= 1e-3 else "under 1 ms"  # noqa: PLR2004
    return f"{seconds:.1f} s"


def _scaled(amount: float, unit: str, base: int) -> str:
    """Three digits and a prefix: `1.50 kFLOP`, `12 B`."""
    step = 0
    while amount >= base and step < len(_UNITS) - 1:
        amount /= base
        step += 1
    return f"{amount:.3g} {_UNITS[step]}{unit}"
