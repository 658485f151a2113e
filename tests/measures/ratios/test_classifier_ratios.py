"""Log-ratios by a classifier: against known densities, and on points that it has not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from mauve_metric.measures.ratios.classifier_ratios import classifier_log_ratios

Floats = NDArray[np.float64]


def sides(n: int, d: int, shift: float, scale: float, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows of N(0, 1), those of Q shifted and scaled in the first column."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, n, d))
    q[:, 0] = q[:, 0] * scale + shift
    return p, q


def test_log_odds_of_shifted_and_scaled_normal_rows() -> None:
    p, q = sides(4000, 2, 0.5, 1.5)
    found = classifier_log_ratios(p, q)
    for rows, t in ((p, found.p), (q, found.q)):
        truth = norm.logpdf(rows[:, 0]) - norm.logpdf(rows[:, 0], 0.5, 1.5)
        # standard errors of five parameters of 6400 rows are about 1/sqrt(6400), times a row of length 2
        assert np.sqrt(np.mean(np.square(t - truth))) < 4 * 2 / np.sqrt(6400)


def test_copies_of_a_point_do_not_give_it_away() -> None:
    rng = np.random.default_rng(3)
    p, q = (np.repeat(rng.normal(size=(40, 60)), 5, axis=0) for _ in "pq")
    found = classifier_log_ratios(p, q)
    # chance, of 40 points a side: .5 with a standard error of .08; with copies in other folds all are known
    assert (found.p > 0).mean() < 0.82 and (found.q < 0).mean() < 0.82


def test_classifier_has_not_seen_the_points() -> None:
    """Far more columns than rows, and nothing to find: held-out ratios are no better than chance."""
    p, q = np.random.default_rng(2).normal(size=(2, 40, 200))
    found = classifier_log_ratios(p, q)
    assert (found.p > 0).mean() < 0.75 and (found.q < 0).mean() < 0.75
    assert np.abs(found.p).max() <= np.log(80) + 1e-12
