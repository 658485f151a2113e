"""Matrix products in bfloat16 with a bound on their error, for processors that have units for them.

With x̃ and c̃ the rounded rows, |x·c - x̃·c̃| ≤ ‖x - x̃‖‖c‖ + ‖x̃‖‖c - c̃‖, where both differences are known. The units
add up in float32, which is off by at most r·2⁻²³·‖x̃‖‖c̃‖ for r columns, and torch rounds the sum to bfloat16, which is
off by at most 2⁻⁸ of it.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Rows
from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    import torch

_CPU_INFO = Path("/proc/cpuinfo")
_UNITS = frozenset({"amx_bf16", "avx512_bf16"})  # as Linux names them
_WORTH_IMPORTING = 10**13  # multiplications; fewer take less time in float32 than the import of torch
_WORTH_ROUNDING = 10**8  # multiplications
_SAFE = 1e-12, 1e12  # lengths of rows between which nothing that matters under- or overflows
_OUTPUT_ERROR = 2.0**-8  # relative, of a sum rounded to bfloat16
_LEAST = 1e-30  # of an error: units may take what is below 10⁻³⁸ for 0


class Rounded(NamedTuple):
    """Rows (n, r) rounded to bfloat16, their lengths (n,) before, and by how much rounding moved each (n,)."""

    rows: torch.Tensor
    lengths: Floats
    moved: Floats


@cache
def has_units() -> bool:
    """Return whether the processor multiplies bfloat16 matrices faster than float32 ones, by Linux's CPU flags."""
    try:
        lines = _CPU_INFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    return any(_UNITS.intersection(line.split()) for line in lines if line.startswith("flags"))


def pays(multiplications: float) -> bool:
    """Return whether products of so many multiplications in all are faster in bfloat16 than in float32.

    The rule: torch is installed, the processor has units for bfloat16 (AMX or AVX512-BF16), and torch is in the process
    already or there is so much to do that its import is earned back. Nothing is imported to find that out.
    """
    least = _WORTH_ROUNDING if "torch" in sys.modules else _WORTH_IMPORTING
    return multiplications >= least and has_units() and importlib.util.find_spec("torch") is not None


def are_safe(rows: Rows) -> bool:
    """Return whether rows (n, r), or the longest of them, can be rounded with no loss outside the bound."""
    longest = float(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max(initial=0.0)))
    return _SAFE[0] < longest < _SAFE[1]


def rounded(rows: Rows) -> Rounded:
    """The rows in bfloat16, each entry to the nearest."""
    torch = import_torch()
    low = torch.from_numpy(np.array(rows, dtype=np.float32)).to(torch.bfloat16)
    moved = rows - low.float().numpy()  # exact: the two are that close
    return Rounded(low, _lengths(rows), _lengths(moved))


def products(a: Rounded, b: Rounded) -> tuple[Rows, Floats]:
    """All products a @ bᵀ, (m, n), and for each row of `b` what they are off by at most, (n,)."""
    out: Rows = (a.rows @ b.rows.T).float().numpy()
    longest, farthest = float(a.lengths.max(initial=0.0)), float(a.moved.max(initial=0.0))
    of_a, of_b = longest + farthest, b.lengths + b.moved  # at least the lengths of the rounded rows
    sums = a.rows.shape[1] * 2.0**-23
    error: Floats = b.moved * longest + of_b * farthest + (sums + _OUTPUT_ERROR * (1 + sums)) * of_a * of_b + _LEAST
    return out, error


def part(of: Rounded, some: slice) -> Rounded:
    """Some of the rows."""
    return Rounded(of.rows[some], of.lengths[some], of.moved[some])


def _lengths(rows: Rows) -> Floats:
    """The lengths of rows, (n,), not too small by rounding."""
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)) * (1 + 1e-12)
    return lengths
