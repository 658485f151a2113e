"""Buckets that could be noise: the exact binomial test with Holm's correction."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.uncertainty import buckets


def test_noise_is_the_exact_binomial_test_with_holm() -> None:
    from scipy.stats import binomtest

    rng = np.random.default_rng(0)
    p_counts, q_counts = rng.integers(0, 15, 20), rng.integers(0, 15, 20)
    p_counts[4], q_counts[4], q_counts[7] = 0, 0, 60
    share = p_counts.sum() / (p_counts + q_counts).sum()
    filled = np.nonzero(p_counts + q_counts)[0]
    plain = {i: binomtest(int(p_counts[i]), int(p_counts[i] + q_counts[i]), share).pvalue for i in filled}
    found, worst = buckets.noise_p_values(p_counts, q_counts), 0.0
    for step, bucket in enumerate(sorted(plain, key=lambda i: plain[i])):
        worst = max(worst, min(1.0, (len(plain) - step) * plain[bucket]))
        assert found[bucket] == pytest.approx(worst, abs=1e-12)
    assert found[4] == 1 and found[7] < 1e-3


def test_equal_populations_hardly_ever_have_a_bucket_that_is_not_noise() -> None:
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(40):
        counts = rng.multinomial(300, np.full(30, 1 / 30), size=2)
        alarms += bool((buckets.noise_p_values(counts[0], counts[1]) <= 0.05).any())
    # at most 5 % are expected: 2 of 40, standard deviation 1.4, four of them
    assert alarms <= 2 + 4 * 1.4
