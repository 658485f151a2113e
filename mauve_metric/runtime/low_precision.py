"""Lower bounds of squared distances by products in bfloat16, for processors that have units for them.

With x̃ and c̃ the rounded rows, x·c ≤ x̃·c̃ + ‖x - x̃‖‖c‖ + ‖x̃‖‖c - c̃‖, where both differences are known. Further
columns beside those of x̃ and c̃ bring these terms, ‖x‖² and ‖c‖² into the same product, rounded to the side on which
it stays a bound. The units add up in float32. The rounding of their sum to bfloat16 keeps the order of numbers, and so
does taking the bits of a number that is not negative for an integer: no bound that is at most a limit comes out above
the limit rounded up.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Rows
from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    import torch

_CPU_INFO = Path("/proc/cpuinfo")
_UNITS = frozenset({"amx_bf16", "avx512_bf16"})  # as Linux names them
_WORTH_IMPORTING = 10**13  # multiplications; fewer take less time in float32 than the import of torch
_WORTH_ROUNDING = 10**8  # multiplications
_SAFE = 1e-12, 1e12  # lengths of rows between which nothing that matters under- or overflows
_LEAST = 1e-30  # of an error: units may take what is below 10⁻³⁸ for 0
INFINITY = np.int16(0x7F80)  # its bits

Bits = NDArray[np.int16]


@cache
def has_units() -> bool:
    """Return whether the processor multiplies bfloat16 matrices faster than float32 ones, by Linux's CPU flags."""
    try:
        lines = _CPU_INFO.read_text(encoding="ascii", errors="replace").split("\n")
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


def row_factor(rows: Rows) -> torch.Tensor:
    """Rows (n, r), float32, as the right factor of `lower_bounds`, (n, r + 6)."""
    low, lengths, moved = _rounded(rows)
    return _with_columns(low, *_two_parts(lengths), _ONE, _ONE, _up(moved), _up(lengths + moved))


def lower_bounds(centres: Rows, rows: torch.Tensor) -> Bits:
    """The bits of lower bounds of ‖c - x‖², (k, n), for centres (k, r) and the factor of rows.

    Compare them with `limit_bits`: they may be above the square by (r + 16)·2⁻²²·(‖c‖ + ‖x‖)², by its rounding, and by
    10⁻³⁶ a column where products underflow.
    """
    import torch

    low, lengths, moved = _rounded(centres)
    factor = _with_columns(low * -2, _ONE, _ONE, *_two_parts(lengths), -2 * _up(lengths), -2 * _up(moved))
    bits: Bits = (factor @ rows.T).view(torch.int16).numpy()
    return bits


def limit_bits(limits: Rows) -> Bits:
    """Limits, rounded up to bfloat16, as bits to compare with those of bounds; negative ones as 0."""
    return _bits(_up(limits))


def bound_bits(bounds: Rows) -> Bits:
    """Other lower bounds, rounded down; negative ones as 0."""
    return _bits(_down(bounds))


_ONE = np.float32(1)


def _rounded(rows: Rows) -> tuple[torch.Tensor, Rows, Rows]:
    """Rows in bfloat16, each entry to the nearest; their lengths (n,) before, and by how much rounding moved each."""
    torch = import_torch()
    low = torch.from_numpy(np.array(rows, dtype=np.float32)).to(torch.bfloat16)
    moved = _lengths(rows - low.float().numpy())  # the difference is exact: the two are that close
    return low, _lengths(rows), moved + np.float32(_LEAST)


def _lengths(rows: Rows) -> Rows:
    """The lengths of rows, (n,), not too small by rounding."""
    lengths: Rows = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * np.float32(1 + (rows.shape[1] + 16) * 2.0**-24)
    return lengths


def _two_parts(lengths: Rows) -> tuple[Rows, Rows]:
    """Squares of lengths as sums of two numbers in bfloat16, rounded down."""
    squares = np.square(lengths)
    first = _down(squares)
    return first, _down(squares - first)


def _with_columns(low: torch.Tensor, *columns: Rows | np.float32) -> torch.Tensor:
    import torch

    added = np.stack([np.broadcast_to(column, len(low)) for column in columns], axis=1)
    return torch.cat([low, torch.from_numpy(added).to(torch.bfloat16)], dim=1)


def _down(values: Rows) -> Rows:
    """Numbers that are not negative, or 0, rounded down to bfloat16, in float32."""
    bits = np.maximum(values, np.float32(0)).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def _up(values: Rows) -> Rows:
    """The same, rounded up."""
    bits = np.maximum(values, np.float32(0)).view(np.uint32) + np.uint32(0xFFFF)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def _bits(values: Rows) -> Bits:
    bits: Bits = (values.view(np.uint32) >> np.uint32(16)).astype(np.int16)
    return bits
