"""Log-ratios by nearest neighbours against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from mauve_metric.measures.ratios.neighbour_ratios import neighbour_log_ratios

Floats = NDArray[np.float64]


def sides(n: int, d: int, shift: float, scale: float, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows of N(0, 1), those of Q shifted and scaled in the first column."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, n, d))
    q[:, 0] = q[:, 0] * scale + shift
    return p, q


def test_neighbours_against_brute_force() -> None:
    p, q = sides(60, 4, 0.5, 1.0)
    q, k, rows = q[:45], 7, np.concatenate([p, q[:45]])
    near = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(rows).kneighbors(return_distance=False)
    of_p = (near < 60).sum(axis=1)
    found = neighbour_log_ratios(p, q, k)
    t = np.log((of_p + 0.5) / (k - of_p + 0.5))
    assert found.p == pytest.approx(t[:60] + np.log(45 / 59), rel=1e-12)
    assert found.q == pytest.approx(t[60:] + np.log(44 / 60), rel=1e-12)


def test_neighbours_of_copies() -> None:
    """A point with many copies is not its own neighbour."""
    p, q = np.zeros((6, 2)), np.ones((6, 2))
    found = neighbour_log_ratios(p, q, k=5)
    assert found.p == pytest.approx(np.full(6, np.log(5.5 / 0.5) + np.log(6 / 5)), rel=1e-12)
    assert found.q == pytest.approx(-found.p, rel=1e-12)
