"""MAUVE without buckets, from a density ratio of the projected rows."""

from __future__ import annotations

import numpy as np

from mauve_metric.apps.describing.distances.density_ratios import estimate_mauve
from mauve_metric.arrays import Array, MeasuredValue
from mauve_metric.clustering.projection import project


def mauve_without_buckets(
    p: Array, q: Array, *, estimator: str, seed: int = 25, level: float = 0.95, scaling_factor: float = 5.0
) -> MeasuredValue:
    """MAUVE by an estimate of log p/q in place of histograms; in [floor, 1], higher is better (Pillutla et al. 2023).

    The rows are projected as for buckets. There is no interval, ceiling or p-value: none is known that holds.

    Args:
        p, q: features of the human texts and of the model's, (n_p, d) and (n_q, d).
        estimator: "neighbours", "classifier" or "gaussian", see `density_ratios`.
        seed: of what is drawn. level: not used; there is no interval. scaling_factor: c.

    Raises:
        ValueError: too few rows for the estimator, or one that is not known.

    >>> rows = np.random.default_rng(0).normal(size=(200, 4))
    >>> mauve_without_buckets(rows[:100], rows[100:], estimator="gaussian").value > 0.9
    True
    """
    rows = np.asarray(project(np.concatenate([q, p]), seed=seed), dtype=np.float64)
    return MeasuredValue(estimate_mauve(rows[len(q) :], rows[: len(q)], estimator, scaling_factor, seed))
