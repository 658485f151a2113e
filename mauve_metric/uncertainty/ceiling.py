"""The ceiling: MAUVE that two sets of one distribution reach at this size, on these buckets."""

from __future__ import annotations

from mauve_metric.arrays import Floats
from mauve_metric.clustering.histograms import Histograms
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty import resampling


def scores_of_equal_sets(histograms: Histograms, config: MauveConfig) -> Floats:
    """MAUVE of random splits of all texts in the same buckets."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    return resampling.null_scores(histograms.p_counts, histograms.q_counts, c, points, groups=histograms.groups)
