"""Separation of two sets by scores of held-out texts: area under the ROC curve, accuracy, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers, MeasuredValue
from mauve_metric.measures.groups import sizes_of_groups
from mauve_metric.measures.p_values import t_quantile, upper_tail

CROSS_FITTING = 2.0  # times the variance of independent folds: see `auc_of_scores`
_END = 1e-12  # from 0 and 1, where the variances vanish


class HeldOut(NamedTuple):
    """Scores of texts by classifiers that have not seen them, their copies, or texts of their prompt.

    scores: log odds of being the model's, (n,). is_model: (n,). fold_of: which classifier, from 0, (n,).
    groups: of texts of one origin, from 0, (n,).
    """

    scores: Floats
    is_model: np.ndarray[tuple[int], np.dtype[np.bool_]]
    fold_of: Integers
    groups: Integers


def auc_of_scores(held_out: HeldOut, level: float = 0.95) -> MeasuredValue:
    """Area under the ROC curve of held-out scores: the chance that a model's text scores above a human one.

    Σ_k m_k n_k AUC_k / Σ_k m_k n_k with AUC_k the share of pairs of fold k in the right order, ties one half: scores of
    two classifiers are never compared. The interval holds the θ with (AUC - θ)² ≤ z² f V(θ), V Hanley and McNeil's
    variance, so that it stays in [0, 1] and has a width at 0 and 1 as well (Newcombe 2006, method 5). f is the product
    of two factors: what texts of one group add by the variance of leaving out a group at a time (Obuchowski 1997, with
    the jackknife's correction for large groups), at least 1; and under cross-fitting 2, since any two of K folds share
    training texts: on equal sets the results of two folds correlate by 1/(K - 1). Far from ½ it is too much, and the
    interval up to √2 too wide. With groups, z is a quantile of Student's t: with (Σ m_g)²/Σ m_g² - 1 degrees of freedom
    for groups of m_g texts, of the side where that is less (Kish 1965).

    Returns:
        value in [0, 1], ½ for sets that cannot be told apart; p_value against that, one-sided.

    Raises:
        ValueError: level outside (0, 1).
    """
    # texts of each side in each fold; for each text the share of the other side's in its fold that it is ranked rightly
    # against; the AUC of each fold
    folds = int(held_out.fold_of.max()) + 1
    sizes, placements, right = np.zeros((folds, 2)), np.zeros(len(held_out.scores)), np.zeros(folds)
    for fold in range(folds):
        inside = np.nonzero(held_out.fold_of == fold)[0]
        model = held_out.is_model[inside]
        sizes[fold] = (~model).sum(), model.sum()
        below = average_ranks(held_out.scores[inside])
        for side in (False, True):
            of_side = inside[model == side]
            below_other = below[model == side] - average_ranks(held_out.scores[of_side])
            share = below_other / max(sizes[fold, int(not side)], 1)
            placements[of_side] = share if side else 1 - share
        right[fold] = placements[inside[model]].mean() if model.any() else 0.0
    pairs = sizes.prod(axis=1)
    weights, value = pairs / pairs.sum(), float(pairs @ right / pairs.sum())
    deviations = placements - value  # and not of its fold, which may be one group
    sizes_own = sizes[held_out.fold_of, held_out.is_model.astype(np.int64)]
    # 1/m_k for a human text of fold k, 1/n_k for the model's, with the correction of a variance by m - 1
    influences = weights[held_out.fold_of] * deviations * (1 / np.sqrt(sizes_own * np.maximum(sizes_own - 1, 1)))
    others = sizes.sum(axis=1) / 2 - 1

    def variance(theta: float) -> float:
        """Hanley and McNeil's of exponential scores, the sizes symmetrised."""
        of_folds = 1 + others * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return float(np.square(weights) @ (theta * (1 - theta) * of_folds / np.maximum(pairs, 1)))

    return estimate_of_scores(value, variance, influences, held_out, level)


def estimate_of_scores(
    value: float, variance: Callable[[float], float], influences: Floats, held_out: HeldOut, level: float
) -> MeasuredValue:
    """Interval and p-value: the formula's variance, larger where groups require it."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    sizes = sizes_of_groups(held_out.groups, held_out.is_model)
    totals = sizes.sum(axis=1, keepdims=True)
    # without a group, the mean of its side changes by the sum of its influences over the share that is left
    sums = np.bincount(held_out.groups + sizes.shape[1] * held_out.is_model, influences, sizes.size)
    by_group = (sums.reshape(sizes.shape) / np.maximum(1 - sizes / totals, 1 / totals)).sum(axis=0)
    mean_sizes = np.square(sizes).sum(axis=1) / totals[:, 0]  # of a text's group
    if by_group.any() and _END < value < 1 - _END:
        grouping = max(1.0, float(np.square(by_group).sum()) / variance(value))
    else:  # without any error to go by
        grouping = float(mean_sizes.max())
    factor, freedom = CROSS_FITTING * grouping, math.inf
    if mean_sizes.max() > 1:
        freedom = max(float((totals[:, 0] / mean_sizes).min()) - 1, 1.0)
    z = t_quantile(level, freedom)
    ci = (_end(value, 0.0, z * z * factor, variance), _end(value, 1.0, z * z * factor, variance))
    return MeasuredValue(value, ci, upper_tail((value - 0.5) / math.sqrt(factor * variance(0.5)), freedom))


def _end(value: float, bound: float, factor: float, variance: Callable[[float], float]) -> float:
    """Solve (value - θ)² = factor V(θ) between the value and a bound of the range."""
    if abs(value - bound) < _END:
        return bound
    inside, outside = min(max(value, _END), 1 - _END), bound
    for _ in range(60):  # bisection: scipy.optimize takes longer to import than a score takes
        middle = (inside + outside) / 2
        if (value - middle) ** 2 < factor * variance(middle):
            inside = middle
        else:
            outside = middle
    return (inside + outside) / 2


def average_ranks(values: Array) -> Floats:
    """Ranks from 1; equal values share their mean, (n,). In every score, for which scipy.stats takes long to import.

    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, value_number, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[value_number]
    return ranks
