"""Everything that follows from the histograms: the scores, and how far they can be believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from mauve_metric import divergence, precision_recall, uncertainty
from mauve_metric.config import MauveConfig
from mauve_metric.quantize import Histograms


def score_histograms(histograms: Histograms, config: MauveConfig) -> dict[str, Any]:
    """Every score that follows from the histograms alone, by the names of `MauveResult`."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    p, q = histograms.probabilities()
    p_star, q_star = histograms.probabilities(smoothing=0.5)
    curve = divergence.divergence_curve(p, q, c, points)
    prd = precision_recall.prd_curve(p, q)
    type_one, type_two = divergence.frontier(p, q, [0.5])
    return {
        "mauve": divergence.curve_area(curve),
        "mauve_star": divergence.curve_area(divergence.divergence_curve(p_star, q_star, c, points)),
        "frontier_integral": divergence.frontier_integral(p, q),
        "frontier_integral_star": divergence.frontier_integral(p_star, q_star),
        "mauve_exact": divergence.exact_area(p, q, c),
        "mauve_floor": divergence.mauve_floor(c),
        "jensen_shannon": float(type_one[0] + type_two[0]) / 2,
        "prd_precision": prd.prd_precision,
        "prd_recall": prd.prd_recall,
        "prd_area": prd.area,
        "p_hist": p,
        "q_hist": q,
        "divergence_curve": curve,
        "prd_curve": np.stack([prd.recall, prd.precision], axis=1),
    }


def score_uncertainty(
    mauve: float, histograms: Histograms, others: list[Histograms], config: MauveConfig
) -> dict[str, Any]:
    """Debiased scores, errors, intervals, ceiling and the spread over clusterings; None with one text on a side.

    Args:
        mauve: of the histograms. others: the histograms of other clusterings.
    """
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    areas = (divergence.curve_area(divergence.divergence_curve(*run.probabilities(), c, points)) for run in others)
    plug_in = [mauve, *areas]
    null = uncertainty.null_scores(histograms.p_counts, histograms.q_counts, c)
    scores: dict[str, Any] = {
        "mauve_ceiling": float(null.mean()),
        "mauve_ceiling_std": float(null.std(ddof=1)),
        "mauve_runs": np.array(plug_in),
        "mauve_mean": float(np.mean(plug_in)),
        "mauve_std": float(np.std(plug_in, ddof=1)) if others else None,
        "ci_scope": "over clusterings" if others else "for this partition",
    }
    names = [f"{score}_{part}" for score in ("mauve", "frontier_integral") for part in ("debiased", "stderr", "ci")]
    if min(histograms.p_counts.sum(), histograms.q_counts.sum()) < 2:
        return scores | dict.fromkeys(names)
    frontiers = [uncertainty.debiased_frontier(run.p_counts, run.q_counts) for run in [histograms, *others]]
    variances = np.zeros(2)
    if others:
        spread = [[estimate.value for estimate in uncertainty.estimate_scores(frontier, c)] for frontier in frontiers]
        variances = np.var(spread, axis=0, ddof=1)
    debiased = uncertainty.estimate_scores(
        frontiers[0], c, config.confidence_level, float(variances[0]), float(variances[1])
    )
    return scores | dict(zip(names, [*debiased[0], *debiased[1]], strict=True))
