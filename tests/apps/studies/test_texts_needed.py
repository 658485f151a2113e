"""The forecast of texts needed against how often sets of that size do show the difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.apps.studies.texts_needed import at_score, texts_needed
from mauve_metric.measures import frontier
from mauve_metric.uncertainty.closeness import Bound, joint_covariance
from mauve_metric.uncertainty.differences import difference_of
from mauve_metric.uncertainty.forecast import MOST_FORECAST
from mauve_metric.uncertainty.intervals import estimate_scores
from mauve_metric.uncertainty.jackknife import debiased_frontier

Floats = NDArray[np.float64]
K = 20


@pytest.fixture(scope="module", autouse=True)
def short_forecasts() -> None:
    """Forecasts with all of their draws."""


def shifted(p: Floats, shift: float, seed: int) -> Floats:
    q = p * np.exp(shift * np.random.default_rng(seed).normal(size=len(p)))
    return np.asarray(q / q.sum())


def needed_exactly(p: Floats, a: Floats, b: Floats, n: int, **options: Any) -> int | None:
    """The forecast from histograms without noise, and the true scores."""
    scores = frontier.exact_area(p, a), frontier.exact_area(p, b)
    human, *counts = (np.round(n * q).astype(np.int64) for q in (p, a, b))
    return texts_needed(human, (counts[0], counts[1]), scores, n, **options)


def power(p: Floats, models: list[Floats], n: int, repeats: int) -> float:
    """Share of sets of n texts whose test finds the difference at 5 %."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(repeats):
        labels = [rng.choice(K, n, p=q) for q in (p, *models)]
        counts = [np.bincount(side, minlength=K) for side in labels]
        scores = [estimate_scores(debiased_frontier(counts[0], side))[0] for side in counts[1:]]
        bounds = [Bound("groups", [(labels[0], side)], None) for side in labels[1:]]
        found += difference_of(scores, joint_covariance(bounds, scores, 5.0), 0, 1).p_value < 0.05
    return found / repeats


@pytest.mark.slow
@pytest.mark.parametrize(("shifts", "seen_at"), [((0.1, 0.35), 200), ((0.4, 0.7), 2000), ((1.0, 2.0), 200)])
def test_four_of_five_sets_of_that_size_show_the_difference(shifts: tuple[float, float], seen_at: int) -> None:
    p = np.random.default_rng(0).dirichlet(np.full(K, 5.0))
    models = [shifted(p, shift, seed) for seed, shift in enumerate(shifts)]
    needed = needed_exactly(p, models[0], models[1], seen_at)
    assert needed is not None
    # with half the texts a power of .8 is about .5, with twice as many .98; four standard errors of 30 repeats
    assert power(p, models, round(needed / 2), 30) < 0.5 + 4 * 0.09
    assert power(p, models, needed * 2, 30) > 0.98 - 4 * 0.03


@pytest.mark.slow
def test_forecasts_follow_difference_level_and_clusterings() -> None:
    p = np.random.default_rng(0).dirichlet(np.full(K, 5.0))
    near, far = shifted(p, 0.5, 1), shifted(p, 0.9, 2)
    middle = 0.5 * near + 0.5 * far
    plain = needed_exactly(p, near, far, 400) or 0
    assert needed_exactly(p, far, near, 400) == pytest.approx(plain, rel=0.3)
    assert (needed_exactly(p, near, middle, 400) or 0) > 2 * plain
    assert (needed_exactly(p, near, far, 400, level=0.999) or 0) > 1.5 * plain
    assert (needed_exactly(p, near, far, 400, run_variance=0.01) or 0) > 1.5 * plain
    again = needed_exactly(p, near, far, 400)
    assert again == plain  # the draws are seeded


@pytest.mark.more
def test_no_forecast_where_there_is_no_difference() -> None:
    p = np.full(K, 1 / K)
    assert needed_exactly(p, p, p, 500) is None
    q = shifted(p, 1.0, 1)
    score, counts = frontier.exact_area(p, q), np.round(500 * q).astype(np.int64)
    assert texts_needed(np.round(500 * p).astype(np.int64), (counts, counts), (score, score - 1e-9), 500) is None
    assert MOST_FORECAST == 10**9


def test_mixtures_have_the_score_asked_for() -> None:
    p = np.full(K, 1 / K)
    q = shifted(p, 0.8, 1)
    for score in (0.98, 0.99, 1.0):
        assert frontier.exact_area(p, at_score(p, q, score)) == pytest.approx(score, abs=1e-5)
    assert at_score(p, q, 0.01) is q
    # buckets that a model never fills are no obstacle
    empty = np.r_[np.zeros(K // 2), np.full(K // 2, 2 / K)]
    assert frontier.exact_area(p, at_score(p, empty, 0.9)) == pytest.approx(0.9, abs=1e-5)
