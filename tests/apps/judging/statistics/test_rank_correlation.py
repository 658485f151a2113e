"""Spearman's correlation against counts of ranks, and its test against all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import spearmanr

from mauve_metric.apps.judging.statistics.rank_correlation import bootstrap_correlations, spearman


def rho(x: list[float], y: list[float]) -> float:
    """The correlation of ranks counted one by one."""
    ranks = [[sum(b < a for b in side) + sum(b == a for b in side) / 2 for a in side] for side in (x, y)]
    return float(np.corrcoef(ranks)[0, 1])


@pytest.mark.parametrize("n", [3, 8, 30])
def test_it_is_the_correlation_of_ranks_also_with_ties(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        x, y = rng.integers(0, 2 * n, n).tolist(), rng.normal(size=n).tolist()
        if len(set(x)) > 1:
            assert spearman(x, y).value == pytest.approx(rho(x, y), abs=1e-12)


def test_the_p_value_counts_all_orders() -> None:
    x, y = [1.0, 2.0, 2.0, 4.0, 5.0], [2.0, 1.0, 3.0, 5.0, 4.0]
    seen = abs(rho(x, y))
    orders = [abs(rho(x, list(order))) for order in permutations(y)]
    assert spearman(x, y).p_value == pytest.approx(np.mean(np.array(orders) >= seen - 1e-9))


def test_the_p_value_of_many_things_is_close_to_students() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = 0.4 * x + rng.normal(size=40)
    found = spearman(x, y)
    assert found.p_value == pytest.approx(spearmanr(x, y).pvalue, abs=0.01)  # 40 320 draws: ± 0.0025 at most
    assert found == spearman(x, y)
    assert found.ci is None


def test_perfect_orders() -> None:
    assert spearman([1, 2, 3], [10, 20, 30]).value == 1.0
    assert spearman([1, 2, 3], [3, 2, 1]).value == -1.0


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 1, 1], [1, 2, 3], "x has no order: all of its 3 values are 1"),
        ([1, 2, 3], [1, float("nan"), 3], "y must be finite, got nan at position 1"),
        ([1, None, 3], [1, 2, 3], "x must be finite, got nan at position 1"),
        ([1, "a", 3], [1, 2, 3], "x must be numbers"),
        ([1, 2], [1, 2], "at least three"),
        ([1, 2, 3], [1, 2, 3, 4], "same length, got 3 and 4"),
    ],
)
def test_what_has_no_correlation_is_refused(x: list[object], y: list[object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        spearman(x, y)  # type: ignore[arg-type]


@pytest.mark.slow
def test_bootstrap_intervals_are_those_of_a_naive_loop() -> None:
    rng = np.random.default_rng(0)
    x, z, y = rng.normal(size=(3, 9)).round(1)
    found = bootstrap_correlations([x, z], y, seed=3)
    draws = np.random.default_rng(3).integers(0, 9, (2_000, 9))
    of_x, of_z = (np.array([spearmanr(side[i], y[i]).statistic for i in draws]) for side in (x, z))
    assert found.intervals[0] == pytest.approx(np.quantile(of_x, [0.025, 0.975]), abs=1e-9)
    assert found.leading == pytest.approx(np.quantile(of_x - of_z, [0.025, 0.975]), abs=1e-9)


def test_no_interval_of_too_few_things_or_of_one_order() -> None:
    assert bootstrap_correlations([[1, 2, 3, 5]], [1, 3, 2, 4]).intervals == [None]
    assert bootstrap_correlations([range(8), range(8)], range(8)) == ([None, None], None)
