"""Description of the machine that a benchmark ran on."""

from __future__ import annotations

from pathlib import Path

from mauve_metric.runtime.low_precision import has_units
from mauve_metric.runtime.threads import usable_cpus


def machine() -> str:
    """The processor, how many of its cores this process may use, and whether bounds are made in bfloat16 there."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    widest = next(
        (name for name in ("amx_bf16", "avx512f", "avx2") if any(name in line.split() for line in lines)), "?"
    )
    processor = names[0] if names else "an unnamed processor"
    return f"{usable_cpus()} cores of {processor}, {widest}, bfloat16 bounds: {has_units()}"
