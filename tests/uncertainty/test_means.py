"""Intervals of means against scipy's, and by simulation where texts come in groups."""

from __future__ import annotations

import numpy as np
from scipy import stats

from mauve_metric.uncertainty.means import difference_interval, mean_interval


def test_against_scipy() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, 12), rng.normal(0.5, 3, 30)
    welch = stats.ttest_ind(p, q, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(difference_interval(p, q, 0.9), welch, rtol=1e-12)
    np.testing.assert_allclose(mean_interval(p, 0.95), stats.ttest_1samp(p, 0).confidence_interval(0.95), rtol=1e-12)
    same = difference_interval(p, q, 0.9, range(12), range(30))  # every text a prompt of its own
    np.testing.assert_allclose(same, welch, rtol=1e-12)


def test_groups_of_one_size_count_by_their_means() -> None:
    values, players = np.random.default_rng(0).normal(size=30), np.repeat(np.arange(6), 5)
    expected = stats.ttest_1samp(values.reshape(6, 5).mean(axis=1), 0).confidence_interval(0.95)
    np.testing.assert_allclose(mean_interval(values, 0.95, players.tolist()), expected, rtol=1e-12)
    assert mean_interval(np.array([1.0, 2.0]), 0.95, ["a", "a"]) is None


def test_too_few_and_constant() -> None:
    assert mean_interval(np.ones(1), 0.95) is None
    assert difference_interval(np.ones(3), np.ones(1), 0.95) is None
    assert difference_interval(np.ones(4), np.zeros(4), 0.95, [1, 1, 1, 1], [1, 2, 3, 4]) is None
    assert difference_interval(np.ones(4), np.zeros(4), 0.95) == (1.0, 1.0)


def test_coverage_with_texts_in_groups() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(15), 4)
    hits = plain = 0
    for _ in range(400):
        p, q = (rng.normal(size=15)[groups] + 0.3 * rng.normal(size=60) for _ in range(2))
        low, high = difference_interval(p, q, 0.95, groups.tolist(), groups.tolist()) or (1, -1)
        hits += low <= 0 <= high
        low, high = difference_interval(p, q, 0.95) or (1, -1)
        plain += low <= 0 <= high
    assert hits / 400 > 0.95 - 4 * 0.011  # the standard error of a share of .95
    assert plain / 400 < 0.8  # what the groups are for: about .65, with a standard error of .024
