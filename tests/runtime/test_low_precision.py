"""Products in bfloat16: the bound on their error against float64, and the rule that chooses them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.runtime import low_precision

Rows = NDArray[np.float32]
pytest.importorskip("torch")


def sided(n: int, r: int, seed: int) -> Rows:
    """Rows along one diagonal, so that all roundings point the same way."""
    along = 1 + np.random.default_rng(seed).random(size=(n, 1)) / 300
    return np.asarray(along * np.ones(r), dtype=np.float32)


def mixed(n: int, r: int, seed: int) -> Rows:
    """Rows of lengths from 1e-30, whose squares are no numbers in float32, to 1."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, r)) * 10.0 ** rng.integers(-30, 1, size=(n, 1)), dtype=np.float32)


def plain(n: int, r: int, seed: int) -> Rows:
    return np.random.default_rng(seed).normal(size=(n, r)).astype(np.float32)


@pytest.mark.parametrize("make", [plain, sided, mixed])
@pytest.mark.parametrize("r", [1, 40, 700])
def test_bounds_are_below_the_distances_and_close(make: object, r: int) -> None:
    centres, rows = make(30, r, 0), make(50, r, 1)  # type: ignore[operator]
    bits = low_precision.lower_bounds(centres, low_precision.row_factor(rows))
    c, x = centres.astype(np.float64), rows.astype(np.float64)
    squared = np.square(c[:, None] - x).sum(axis=2)
    lengths = np.linalg.norm(c, axis=1)[:, None], np.linalg.norm(x, axis=1)
    rounding = (r + 16) * 2.0**-22 * (lengths[0] + lengths[1]) ** 2 + r * 1e-36  # and underflow
    limits = low_precision.limit_bits((squared + rounding).astype(np.float32))
    assert bits.dtype == np.int16 and bits.shape == (30, 50) and (bits <= limits).all()
    # of some use: a factor is off by 2⁻⁸, twice in 2x·c and again in what allows for it; a square in two parts by 2⁻¹⁵
    loss = 0.033 * lengths[0] * lengths[1] + 2.0**-15 * (lengths[0] + lengths[1]) ** 2
    useful = squared - rounding - loss - 0.01 * squared
    assert (bits >= low_precision.bound_bits(useful.astype(np.float32)))[useful > 1e-28].all()


def test_bits_of_numbers_are_rounded_outwards() -> None:
    numbers = np.array([-1.0, 0.0, 1.0, 1.001, 3e20], dtype=np.float32)
    up, down = low_precision.limit_bits(numbers), low_precision.bound_bits(numbers)
    widened = [(bits.astype(np.uint32) << 16).view(np.float32) for bits in (down, up)]
    assert (widened[0] <= np.maximum(numbers, 0)).all() and (widened[1] >= numbers).all()
    assert widened[0][:3].tolist() == widened[1][:3].tolist() == [0.0, 0.0, 1.0]
    assert (np.diff(up) >= 0).all() and (up < low_precision.INFINITY).all()


def test_rows_that_cannot_be_rounded_are_known() -> None:
    rows = plain(5, 4, 0)
    assert low_precision.are_safe(rows)
    assert not any(low_precision.are_safe(rows * np.float32(scale)) for scale in (0, 1e-30, 1e30))


@pytest.mark.parametrize(
    ("flags", "units"),
    [("flags : fpu avx2 fma", False), ("flags : avx512f avx512_bf16", True), ("flags : amx_tile amx_bf16", True)],
)
def test_the_processor_says_what_it_can(
    flags: str, units: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text(f"model name : amx_bf16 in name only\n{flags}\n")
    monkeypatch.setattr(low_precision, "_CPU_INFO", tmp_path / "cpuinfo")
    low_precision.has_units.cache_clear()
    assert low_precision.has_units() is units
    monkeypatch.setattr(low_precision, "_CPU_INFO", tmp_path / "no such file")
    low_precision.has_units.cache_clear()
    assert low_precision.has_units() is False
    low_precision.has_units.cache_clear()


def test_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(low_precision, "has_units", lambda: True)
    assert low_precision.pays(1e9) and not low_precision.pays(1e6)
    monkeypatch.delitem(sys.modules, "torch")
    assert not low_precision.pays(1e9) and low_precision.pays(1e14)
    monkeypatch.setattr(low_precision, "has_units", lambda: False)
    assert not low_precision.pays(1e14)
