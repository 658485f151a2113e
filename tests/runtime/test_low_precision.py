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
def test_products_are_off_by_at_most_the_bound(make: object, r: int) -> None:
    a, b = make(30, r, 0), make(50, r, 1)  # type: ignore[operator]
    found, error = low_precision.products(low_precision.rounded(a), low_precision.rounded(b))
    off = np.abs(found - a.astype(np.float64) @ b.T.astype(np.float64))
    assert found.dtype == np.float32 and found.shape == (30, 50)
    assert (off <= error).all()
    largest = np.linalg.norm(a.astype(np.float64), axis=1).max() * np.linalg.norm(b.astype(np.float64), axis=1)
    assert (error <= 0.013 * largest + 1e-29).all()  # three roundings to 8 bits: it is a bound of some use


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
