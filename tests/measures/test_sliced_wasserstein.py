"""Sliced Wasserstein against sorted copies, a linear program, SciPy and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from mauve_metric.measures import sliced_wasserstein as module
from mauve_metric.measures.sliced_wasserstein import sliced_wasserstein

Floats = NDArray[np.float64]


def rows(seed: int, n: int, d: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, d))


def by_copies(p: Floats, q: Floats) -> float:
    """W2² in one dimension: each point as often as makes the sets equally large, both sorted."""
    common = math.lcm(len(p), len(q))
    p, q = (np.sort(np.repeat(side, common // len(side))) for side in (p, q))
    return float(np.mean((p - q) ** 2))


def by_transport(p: Floats, q: Floats) -> float:
    """W2² in one dimension as the cheapest transport plan."""
    n, m = len(p), len(q)
    sums = np.concatenate([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    return float(linprog(np.square(p[:, None] - q).ravel(), A_eq=sums, b_eq=masses).fun)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (6, 6), (4, 6), (7, 3), (1, 5)])
def test_one_dimension(n: int, m: int) -> None:
    p, q = rows(0, n), 2 * rows(1, m) + 0.3
    found = sliced_wasserstein(p, q, directions=3)
    assert found == pytest.approx(by_copies(p[:, 0], q[:, 0]), rel=1e-12)  # a few float64 operations
    assert found == pytest.approx(by_transport(p[:, 0], q[:, 0]), rel=1e-6)  # the solver's tolerance


def test_points_at_one_distance_agree_with_scipy() -> None:
    p, q = np.arange(5.0), np.arange(5.0) + 0.4  # the plan moves every point by 0.4: W2 = W1
    expected = wasserstein_distance(p, q) ** 2
    assert sliced_wasserstein(p[:, None], q[:, None]) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("block", [10, 4_000_000])
def test_mean_over_directions(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(module, "_BLOCK_ELEMENTS", block)
    p, q = rows(2, 9, 4), rows(3, 6, 4) + 1
    vectors = np.random.default_rng(7).normal(size=(20, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = np.mean([by_copies(p @ u, q @ u) for u in vectors])
    assert sliced_wasserstein(p, q, directions=20, seed=7) == pytest.approx(float(expected), rel=1e-12)


def test_closed_forms_of_a_shift_and_of_a_factor() -> None:
    d, p = 8, rows(4, 200, 8)
    shift = np.arange(d) / 3
    # u·v has mean square ‖v‖²/d; one of 4000 directions has a standard deviation of at most √2 of it
    expected = float(shift @ shift) / d
    found = sliced_wasserstein(p, p + shift, directions=4000)
    assert found == pytest.approx(expected, rel=4 * math.sqrt(2 / 4000))
    # every projection is stretched about 0: its mean square, which has mean tr(XᵀX/n)/d
    expected = float(np.square(p).sum(axis=1).mean()) / d
    assert sliced_wasserstein(p, 2 * p, directions=4000) == pytest.approx(expected, rel=4 * math.sqrt(2 / 4000))


def test_equal_sets_sides_order_seeds_and_units() -> None:
    p, q = rows(5, 30, 3), rows(6, 20, 3) + 1
    assert sliced_wasserstein(p, p[::-1]) == pytest.approx(0, abs=1e-28)
    expected = sliced_wasserstein(p, q)
    assert sliced_wasserstein(q, p) == pytest.approx(expected, rel=1e-12)
    assert sliced_wasserstein(p, q) == expected
    assert sliced_wasserstein(p, q, seed=1) != expected
    assert sliced_wasserstein(10 * p, 10 * q) == pytest.approx(100 * expected, rel=1e-12)
    single = [side.astype(np.float32) for side in (p, q)]
    assert sliced_wasserstein(*single) == sliced_wasserstein(*(side.astype(np.float64) for side in single))


@pytest.mark.filterwarnings("error")
def test_what_cannot_be_computed_is_refused() -> None:
    p = rows(8, 4, 3)
    with pytest.raises(ValueError, match=r"^q must have at least 1 row of features, got an array of shape \(0, 3\)"):
        sliced_wasserstein(p, p[:0])
    with pytest.raises(ValueError, match=r"^p and q must have rows of one length, got 3 and 2"):
        sliced_wasserstein(p, p[:, :2])
    with pytest.raises(ValueError, match=r"^directions must be at least 1, got 0"):
        sliced_wasserstein(p, p, directions=0)
    with pytest.raises(ValueError, match=r"^p and q must be finite, and not too large"):
        sliced_wasserstein(p * 1e200, p)
