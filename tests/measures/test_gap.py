"""The exact share of each bucket in the gap."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.measures import gap
from mauve_metric.measures.frontier import curve_area, divergence_curve

Floats = NDArray[np.float64]


def histograms(seed: int, k: int = 40, n: int = 0) -> tuple[Floats, Floats]:
    """Two random histograms; of n texts each when n > 0, with empty buckets then."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(k, 0.3)), rng.dirichlet(np.full(k, 0.3))
    return (rng.multinomial(n, p) / n, rng.multinomial(n, q) / n) if n else (p, q)


@pytest.mark.parametrize("c", [0.1, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("points", [2, 25, 200])
def test_contributions_sum_to_the_gap(c: float, points: int) -> None:
    for seed in range(6):
        for n in (0, 100):
            p, q = histograms(seed, n=n)
            parts = gap.contributions(p, q, c, points)
            # 24 nodes a panel leave 1e-14 of quadrature error, and sums of 40 terms as much rounding
            assert parts.sum() == pytest.approx(1 - curve_area(divergence_curve(p, q, c, points)), abs=1e-12)
            assert (parts >= 0).all()


def test_contributions_are_the_slow_integral() -> None:
    """Against a plain midpoint rule with plain formulas."""
    p, q = histograms(3, k=5)
    weights, parts, steps = np.linspace(1e-6, 1 - 1e-6, 25), np.zeros(5), 4000
    for step in range(steps):
        c = 5 * (step + 0.5) / steps
        r = weights[:, None] * p + (1 - weights[:, None]) * q
        t_q, t_p = q * np.log(q / r) - q + r, p * np.log(p / r) - p + r
        x, y = np.exp(-c * t_q.sum(axis=1)), np.exp(-c * t_p.sum(axis=1))
        for j in range(25):
            rise = (y[j + 1] if j < 24 else 1) - (y[j - 1] if j else 0)
            fall = (x[j - 1] if j else 1) - (x[j + 1] if j < 24 else 0)
            parts += 5 / steps * (rise * x[j] * t_q[j] + fall * y[j] * t_p[j]) / 2
    # the midpoint rule errs by h²/24·f'' with h = 5/4000 and f'' of a few tens
    np.testing.assert_allclose(gap.contributions(p, q), parts, atol=1e-5)


def test_contributions_move_with_their_buckets_and_do_not_know_the_sides() -> None:
    p, q = histograms(1)
    order = np.random.default_rng(0).permutation(len(p))
    np.testing.assert_allclose(gap.contributions(p[order], q[order]), gap.contributions(p, q)[order], atol=1e-14)
    np.testing.assert_allclose(gap.contributions(q, p), gap.contributions(p, q), atol=1e-14)


def test_a_bucket_with_equal_shares_adds_nothing() -> None:
    p, q = np.array([0.3, 0.3, 0.4, 0.0]), np.array([0.3, 0.5, 0.2, 0.0])
    parts = gap.contributions(p, q)
    assert parts[0] == parts[3] == 0 and parts[1] > 0 and parts[2] > 0
    assert gap.contributions(p, p).tolist() == [0, 0, 0, 0]


def test_disjoint_sets_make_the_largest_gap() -> None:
    parts = gap.contributions([1.0, 0.0], [0.0, 1.0])
    # the grid of 25 weights adds about 1e-4 to the floor 1/C(10, 5)
    assert parts.sum() == pytest.approx(1 - 1 / comb(10, 5), abs=2e-4)
    assert parts[0] == pytest.approx(parts[1], abs=1e-12)
