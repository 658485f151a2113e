"""The order of several models, and which of their differences are real."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.features.dependence import PairGroups
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.options import MauveConfig
from mauve_metric.results.comparison import Difference, ranking_score, tested_differences
from mauve_metric.results.result import MauveResult
from mauve_metric.uncertainty import intervals
from mauve_metric.uncertainty.closeness import Bound, joint_covariance
from mauve_metric.uncertainty.differences import difference_of
from mauve_metric.uncertainty.forecast import LEAST_FORECAST, MOST_FORECAST, detectable_difference
from mauve_metric.uncertainty.learned_score import Learned, learned_estimates

NEAR_0 = 0.05  # closeness of sets that next to every text tells apart: there it does not order models


def ranked_by_closeness(results: Mapping[str, MauveResult], config: MauveConfig) -> dict[str, Any]:
    """The fields of a comparison on order and differences: by closeness; where it is near 0 for all, by precision.

    The closeness of texts without their layout is taken where layout makes a difference and it is known. The errors of
    a difference are those of the sharpest partition of each model, and allow for shared human texts. Where closeness is
    near 0 for all models, it orders nothing: then they are in two orders, by precision and by recall, or by groups
    where these are not known.
    """
    near_0 = len(results) > 1 and all((ranking_score(result) or 0.0) < NEAR_0 for result in results.values())
    if near_0 and all(result.precision_ci and result.recall_ci for result in results.values()):
        by_precision, by_recall = (_ranked_by_support(results, name, config) for name in ("precision", "recall"))
        none = {"smallest_difference": None, "texts_needed": None}
        first = {"ranking": by_precision[0], "ranked_by": "precision", "differences": by_precision[1]}
        return {**first, "recall_ranking": by_recall[0], "recall_differences": by_recall[1], **none}
    bounds: dict[str, Bound] = {}
    estimates: dict[str, intervals.Estimate | None] = {}
    values: dict[str, float] = {}
    for name, result in results.items():
        of_result = result.bounds if result.closeness_without_layout is None else result.bounds_without_layout
        candidates = [(bound, bound.estimates(config)) for bound in of_result]
        if near_0:
            candidates = [pair for pair in candidates if pair[0].kind == "groups"] or candidates
        bounds[name], lowest = min(
            candidates, key=lambda pair: (pair[1].mauve is None, pair[1].values[0] if pair[1].values else np.inf)
        )
        estimates[name], values[name] = lowest.mauve, lowest.values[0] if lowest.values else result.mauve
    ranking = tuple(sorted(results, key=lambda name: (values[name], _quality(results[name])), reverse=True))
    covariance = joint_covariance([*bounds.values()], [*estimates.values()], config.mauve_scaling_factor)
    differences = ranked_differences(estimates, values, ranking, covariance, config.confidence_level)
    smallest, needed = _forecasts(differences, results, config)
    return {
        "ranking": ranking,
        "ranked_by": "groups" if near_0 else "closeness",
        "differences": differences,
        "recall_ranking": (),
        "recall_differences": (),
        "smallest_difference": smallest,
        "texts_needed": needed,
    }


def _ranked_by_support(
    results: Mapping[str, MauveResult], score: Literal["precision", "recall"], config: MauveConfig
) -> tuple[tuple[str, ...], tuple[Difference, ...]]:
    """Models by falling precision or recall, and the differences of all their pairs.

    The errors of two models are taken as independent. They share the human texts, so that the tests err on the safe
    side.
    """
    level, estimates = config.confidence_level, {}
    for name, result in results.items():
        low, high = getattr(result, f"{score}_ci")
        error = (high - low) / (2 * t_quantile(level))
        estimates[name] = intervals.Estimate(getattr(result, score), error, (low, high))
    ranking = tuple(sorted(estimates, key=lambda name: estimates[name].value, reverse=True))
    pairs = {
        (a, b): intervals.estimate_difference(estimates[a], estimates[b], 0.0, level)
        for a, b in itertools.combinations(ranking, 2)
    }
    return ranking, tested_differences({names: pair.value for names, pair in pairs.items()}, pairs, level)


def _forecasts(
    differences: Sequence[Difference], results: Mapping[str, MauveResult], config: MauveConfig
) -> tuple[float | None, int | None]:
    """Return the smallest difference of the two best models that these sets would show, and texts a set to show theirs.

    With 80 % probability; None where a score has no interval. At 1 the score has no slope, so its delta-method error is
    0 there: for a model whose interval reaches 1, the difference is at least the width of that. Errors fall with the
    root of the number of texts.
    """
    best = differences[0] if differences else None
    if best is None or best.stderr is None:
        return None, None
    pair = results[best.a], results[best.b]
    smallest = detectable_difference(best.stderr, config.confidence_level)
    ends = [
        result.closeness_ci if result.closeness_without_layout is None else result.closeness_without_layout_ci
        for result in pair
    ]
    smallest = max(smallest, 1 - min((ci[0] for ci in ends if ci and ci[1] >= 1), default=1.0))
    n = min(pair[0].n_p, pair[0].n_q, pair[1].n_p, pair[1].n_q)
    needed = n * (smallest / best.difference) ** 2 if best.difference else np.inf
    texts = max(round(needed), LEAST_FORECAST) if needed < MOST_FORECAST else None
    return min(smallest, 1.0), texts


def _quality(result: MauveResult) -> tuple[float, float, float]:
    """Ranking key of a model: debiased MAUVE, then the debiased frontier integral, then MAUVE."""
    debiased, integral = result.mauve_debiased, result.frontier_integral_debiased
    return (
        result.mauve if debiased is None else debiased,
        -result.frontier_integral if integral is None else -integral,
        result.mauve,
    )


def ranked_by_learned_score(
    scored: Mapping[str, tuple[Learned, PairGroups]], config: MauveConfig
) -> tuple[tuple[str, ...], tuple[Difference, ...]]:
    """Models that have a learned score, in falling order of it, and the differences of all their pairs.

    Args:
        scored: the learned score of each, with the codes of the groups of both sides.
    """
    if not scored:
        return (), ()
    scores = {name: learned.mauve for name, (learned, _) in scored.items()}
    ranking = tuple(sorted(scores, key=scores.__getitem__, reverse=True))
    learned, groups = zip(*scored.values(), strict=True)
    estimates, covariance = learned_estimates(learned, groups, config)
    by_name = dict(zip(scored, estimates, strict=True))
    return ranking, ranked_differences(by_name, scores, ranking, covariance, config.confidence_level)


def ranked_differences(
    estimates: Mapping[str, intervals.Estimate | None],
    values: Mapping[str, float],
    ranking: Sequence[str],
    covariance: Floats,
    level: float,
) -> tuple[Difference, ...]:
    """Every pair in the order of the ranking, with Holm's correction over all that are tested.

    Args:
        estimates: by name; those of scores without an interval are None. covariance: in the order of the estimates.
    """
    names, differences, tested = list(estimates), {}, {}
    for a, b in itertools.combinations(ranking, 2):
        i, j = names.index(a), names.index(b)
        differences[a, b] = values[a] - values[b]
        estimate_a, estimate_b = estimates[a], estimates[b]
        if estimate_a is not None and estimate_b is not None:
            tested[a, b] = difference_of({i: estimate_a, j: estimate_b}, covariance, i, j, level)
    return tested_differences(differences, tested, level)
