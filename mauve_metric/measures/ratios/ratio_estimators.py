"""The ways to log p/q without buckets, by name."""

from __future__ import annotations

from collections.abc import Callable

from mauve_metric.arrays import Array
from mauve_metric.measures.ratios.classifier_ratios import classifier_log_ratios
from mauve_metric.measures.ratios.density_ratios import LogRatios, RatioScores, ratio_scores
from mauve_metric.measures.ratios.gaussian_ratios import gaussian_log_ratios
from mauve_metric.measures.ratios.neighbour_ratios import neighbour_log_ratios
from mauve_metric.runtime.checks import check_known

ESTIMATORS: dict[str, Callable[[Array, Array, int], LogRatios]] = {
    "neighbours": lambda p, q, seed: neighbour_log_ratios(p, q, seed=seed),
    "classifier": lambda p, q, seed: classifier_log_ratios(p, q, seed=seed),
    "gaussian": lambda p, q, seed: gaussian_log_ratios(p, q, seed=seed),
}


def estimate_ratio_scores(
    p: Array, q: Array, estimator: str, scaling_factor: float = 5.0, num_points: int = 25, seed: int = 25
) -> RatioScores:
    """MAUVE, frontier integral and curve without buckets (Pillutla et al. 2023): see the estimator for how.

    Args:
        p, q: rows, shapes (n_p, d) and (n_q, d). estimator: of `ESTIMATORS`. scaling_factor: c. seed: of what is drawn.

    Raises:
        ValueError: an unknown estimator, or rows that it cannot work with.

    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> estimate_ratio_scores(rows, rows + 100, "neighbours").mauve < 0.01
    True
    """
    check_known("estimator", estimator, ESTIMATORS)
    return ratio_scores(ESTIMATORS[estimator](p, q, seed), scaling_factor, num_points)
