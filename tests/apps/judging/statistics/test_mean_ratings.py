"""Errors of mean ratings against the textbook and against a naive loop."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.apps.judging.statistics.mean_ratings import rating_errors

RNG = np.random.default_rng(0)
VALUES, MODELS = RNG.normal(size=40), np.arange(40) % 3
ANNOTATORS, ITEMS = RNG.integers(0, 6, 40), RNG.integers(0, 8, 40)


def naive(units: np.ndarray) -> np.ndarray:
    """Sum the residuals of each unit and model in a loop."""
    total = np.zeros((3, 3))
    for unit in np.unique(units):
        sums = np.zeros(3)
        for model in range(3):
            own = VALUES[model == MODELS]
            n = len(own)
            for value in VALUES[(model == MODELS) & (units == unit)]:
                sums[model] += (value - own.mean()) * np.sqrt(n / (n - 1)) / n
        total += np.outer(sums, sums)
    return total


def test_single_ratings_have_the_textbook_error() -> None:
    errors = rating_errors(VALUES, MODELS, 3)
    for model in range(3):
        own = VALUES[model == MODELS]
        assert errors.covariances[0][model, model] == pytest.approx(own.var(ddof=1) / len(own))
    assert errors.units == 40 and len(errors.covariances) == 1


def test_annotators_and_items_cross() -> None:
    errors = rating_errors(VALUES, MODELS, 3, [ANNOTATORS, ITEMS])
    by_annotator, by_item = naive(ANNOTATORS) * 6 / 5, naive(ITEMS) * 8 / 7
    assert errors.covariances[1] == pytest.approx(by_annotator)
    assert errors.covariances[2] == pytest.approx(by_item)
    assert errors.covariances[3] == pytest.approx(by_annotator + by_item - naive(ANNOTATORS * 100 + ITEMS))
    assert errors.units == 6


def test_one_annotator_is_no_way_of_clustering() -> None:
    assert len(rating_errors(VALUES, MODELS, 3, [np.zeros(40, int)]).covariances) == 1
    with pytest.raises(ValueError, match="at least two ratings, got 1"):
        rating_errors(np.ones(1), np.zeros(1, int), 1)
