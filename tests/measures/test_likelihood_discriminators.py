"""Cross-fitted classifiers: against scikit-learn, on sets that cannot or must be told apart, and on equal sets."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.measures.likelihood_discriminators import (
    Fit,
    cross_fitted_accuracy,
    group_folds,
    logistic,
    nearest_mean,
)


def alone(human: np.ndarray, model: np.ndarray) -> dict[str, np.ndarray]:
    numbers = np.arange(len(human) + len(model))
    return {"groups_p": numbers[: len(human)], "groups_q": numbers[len(human) :]}


def test_logistic_regression_is_scikit_learns() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    human, model = rng.normal(size=(80, 4)) * [1, 10, 0.1, 1], rng.normal(size=(30, 4)) * [2, 10, 0.1, 1] + 0.5
    human[:, 3] = model[:, 3] = 7.0  # says nothing
    rows, labels = np.concatenate([human, model]), np.repeat([0, 1], [80, 30])
    scaler = StandardScaler().fit(rows)
    expected = LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=1000).fit(scaler.transform(rows), labels)
    found = logistic(human, model)(rows)
    # both stop where the slope is about 1e-6 of texts that weigh 1
    np.testing.assert_allclose(found, expected.decision_function(scaler.transform(rows)), atol=1e-4)


def test_folds_keep_groups_whole_and_sides_even() -> None:
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 60, size=500)
    groups = np.unique(groups, return_inverse=True)[1]
    sides = (rng.random(500) < 0.3).astype(int)
    folds = group_folds(groups, sides, seed=3)
    assert set(folds) == set(range(5))
    for group in range(groups.max() + 1):
        assert len(set(folds[groups == group])) == 1
    for side in (0, 1):
        shares = np.bincount(folds[sides == side]) / (sides == side).sum()
        assert abs(shares - 0.2).max() < 0.08  # a group is up to 3 % of a side
    assert (group_folds(groups, sides, seed=4) != folds).any()


@pytest.mark.parametrize("fit", [logistic, nearest_mean])
def test_sets_that_must_be_told_apart(fit: Fit) -> None:
    human, model = np.arange(20.0)[:, None], 100 + np.arange(8.0)[:, None]
    found = cross_fitted_accuracy(human, model, fit, **alone(human, model))
    assert found.value == 1 and found.ci is not None and 0.5 < found.ci[0] < 0.9 and found.ci[1] == 1
    assert found.p_value is not None and found.p_value < 0.01


@pytest.mark.parametrize("fit", [logistic, nearest_mean])
def test_copies_on_both_sides_cannot_be_told_apart(fit: Fit) -> None:
    rows = np.random.default_rng(2).normal(size=(50, 1))
    numbers = np.arange(50)
    found = cross_fitted_accuracy(rows, rows, fit, groups_p=numbers, groups_q=numbers)
    assert found.value == 0.5
    assert found.p_value == pytest.approx(0.5)


def test_equal_numbers_are_on_the_border() -> None:
    rows = np.ones((10, 3))
    assert cross_fitted_accuracy(rows, rows[:6], logistic, **alone(rows, rows[:6])).value == 0.5
    assert cross_fitted_accuracy(rows[:, :1], rows[:, :1], nearest_mean, **alone(rows, rows)).value == 0.5


def test_copies_within_a_side_count_once() -> None:
    """Five texts, fifty times each: what is seen of them is less than of 250 texts, whatever the side."""
    rng = np.random.default_rng(3)
    human, model = np.repeat(rng.normal(size=(5, 1)), 50, axis=0), np.repeat(rng.normal(size=(5, 1)), 50, axis=0)
    numbers = np.repeat(np.arange(5), 50)
    together = cross_fitted_accuracy(human, model, nearest_mean, groups_p=numbers, groups_q=numbers + 5)
    apart = cross_fitted_accuracy(human, model, nearest_mean, **alone(human, model))
    assert together.ci is not None and apart.ci is not None
    assert np.diff(together.ci) > 4 * np.diff(apart.ci)


@pytest.mark.parametrize(("fit", "columns", "repeats"), [(nearest_mean, 1, 300), (logistic, 4, 100)])
def test_equal_sets_are_seldom_told_apart(fit: Fit, columns: int, repeats: int) -> None:
    rng, misses, rejected = np.random.default_rng(4), 0, 0
    for seed in range(repeats):
        human, model = rng.normal(size=(40, columns)), rng.normal(size=(60, columns))
        found = cross_fitted_accuracy(human, model, fit, **alone(human, model), seed=seed, level=0.9)
        assert found.ci is not None and found.p_value is not None
        misses += not found.ci[0] <= 0.5 <= found.ci[1]
        rejected += found.p_value < 0.05
    # no more than the level and four standard errors
    assert misses <= 0.1 * repeats + 4 * np.sqrt(0.1 * 0.9 * repeats)
    assert rejected <= 0.05 * repeats + 4 * np.sqrt(0.05 * 0.95 * repeats)
    assert misses > 0  # and not because the interval is everything


def test_too_few_texts() -> None:
    rows = np.zeros((3, 1))
    with pytest.raises(ValueError, match=r"at least 2 texts a side that are neither copies .* got 1"):
        cross_fitted_accuracy(rows, rows[:1], logistic, **alone(rows, rows[:1]))
    with pytest.raises(ValueError, match="got 1"):
        cross_fitted_accuracy(rows, rows, logistic, groups_p=np.zeros(3, dtype=int), groups_q=np.arange(3))
