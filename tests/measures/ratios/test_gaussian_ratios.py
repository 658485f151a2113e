"""Log-ratios by Gaussians: one direction of difference among many."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.measures.ratios.gaussian_ratios import gaussian_log_ratios

Floats = NDArray[np.float64]


def sides(n: int, d: int, shift: float, scale: float, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows of N(0, 1), those of Q shifted and scaled in the first column."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, n, d))
    q[:, 0] = q[:, 0] * scale + shift
    return p, q


def test_gaussian_sees_one_direction_among_many() -> None:
    p, q = sides(1000, 30, 0.0, 3.0)
    found = gaussian_log_ratios(p, q)
    # KL(p‖q) of N(0, 1) and N(0, 9): log 3 + 1/18 - ½ = .654; .05 is four errors of a variance at 1000 rows
    assert found.p.mean() == pytest.approx(np.log(3) + 1 / 18 - 0.5, abs=0.07)
