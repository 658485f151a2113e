"""Buckets that could be noise: the exact binomial test with Holm's correction."""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.uncertainty import gap_buckets as buckets


def test_noise_is_the_exact_binomial_test_with_holm() -> None:
    from scipy.stats import binomtest

    rng = np.random.default_rng(0)
    p_counts, q_counts = rng.integers(0, 15, 20), rng.integers(0, 15, 20)
    p_counts[4], q_counts[4], q_counts[7] = 0, 0, 60
    p_counts[9], q_counts[9] = 1, 0
    share = p_counts.sum() / (p_counts + q_counts).sum()
    filled = np.nonzero(p_counts + q_counts)[0]
    plain = {i: binomtest(int(p_counts[i]), int(p_counts[i] + q_counts[i]), share).pvalue for i in filled}
    found, worst = buckets.noise_p_values(p_counts, q_counts), 0.0
    for step, bucket in enumerate(sorted(plain, key=lambda i: plain[i])):
        worst = max(worst, min(1.0, (len(plain) - step) * plain[bucket]))
        assert found[bucket] == pytest.approx(worst, abs=1e-12)
    assert found[4] == 1 and found[7] < 1e-3


def test_the_best_overlap_is_the_jaccard_index_also_of_empty_buckets() -> None:
    best, jaccard = buckets.best_overlaps(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]), 3)
    assert best.tolist() == [1, 0, 0] and jaccard.tolist() == [2 / 3, 1 / 2, 0]
    renamed, equal = buckets.best_overlaps(np.array([0, 0, 1, 2, 2]), np.array([1, 1, 2, 0, 0]), 3)
    assert renamed.tolist() == [1, 2, 0] and equal.tolist() == [1, 1, 1]


@pytest.mark.more
def test_equal_populations_hardly_ever_have_a_bucket_that_is_not_noise() -> None:
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(40):
        counts = rng.multinomial(300, np.full(30, 1 / 30), size=2)
        alarms += bool((buckets.noise_p_values(counts[0], counts[1]) <= 0.05).any())
    # at most 5 % are expected: 2 of 40, standard deviation 1.4, four of them
    assert alarms <= 2 + 4 * 1.4


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
            parts = buckets.contributions(p, q, c, points)
            # 24 nodes a panel leave 1e-14 of quadrature error, and sums of 40 terms as much rounding
            assert parts.sum() == pytest.approx(1 - curve_area(divergence_curve(p, q, c, points)), abs=1e-12)
            assert (parts >= 0).all()


@pytest.mark.more
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
    np.testing.assert_allclose(buckets.contributions(p, q), parts, atol=1e-5)


def test_contributions_move_with_their_buckets_and_do_not_know_the_sides() -> None:
    p, q = histograms(1)
    order = np.random.default_rng(0).permutation(len(p))
    np.testing.assert_allclose(
        buckets.contributions(p[order], q[order]), buckets.contributions(p, q)[order], atol=1e-14
    )
    np.testing.assert_allclose(buckets.contributions(q, p), buckets.contributions(p, q), atol=1e-14)


def test_a_bucket_with_equal_shares_adds_nothing() -> None:
    p, q = np.array([0.3, 0.3, 0.4, 0.0]), np.array([0.3, 0.5, 0.2, 0.0])
    parts = buckets.contributions(p, q)
    assert parts[0] == parts[3] == 0 and parts[1] > 0 and parts[2] > 0
    assert buckets.contributions(p, p).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("change", [1e-6, 9e-5, -9e-5, 2e-4, -2e-4])
def test_next_to_equal_shares_lose_no_digits(change: float) -> None:
    """The terms a·log(a/r) - a + r, against numbers of 50 digits."""
    with localcontext(prec=50):
        a, r = Decimal("0.25"), Decimal("0.25") + Decimal.from_float(0.25 * change)
        expected = float(a * (a / r).ln() - a + r)
    found = buckets._excess(np.array([0.25]), np.array([0.5 * change]), np.array([[0.5]]))
    assert found.item() == pytest.approx(expected, rel=1e-12 if abs(change) < 1e-4 else 1e-7, abs=0)


def test_disjoint_sets_make_the_largest_gap() -> None:
    parts = buckets.contributions([1.0, 0.0], [0.0, 1.0])
    # the grid of 25 weights adds about 1e-4 to the floor 1/C(10, 5)
    assert parts.sum() == pytest.approx(1 - 1 / comb(10, 5), abs=2e-4)
    assert parts[0] == pytest.approx(parts[1], abs=1e-12)
