"""Test whether two models' scores differ: joint errors of scores against one human set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from mauve_metric.arrays import Floats, Integers, Labels
from mauve_metric.uncertainty import intervals, jackknife


def effect_covariance(
    frontiers: Sequence[jackknife.DebiasedFrontier],
    pairs: Sequence[tuple[Labels, Labels]],
    scaling_factor: float,
    codes: Sequence[tuple[Integers, Integers] | None] | None = None,
) -> Floats:
    """Covariance matrix (m, m) of the debiased scores of m models against one P by delete-one effects of texts.

    The texts of P are shared by all models; the models are independent but for what groups say. Like every delete-one
    variance (Efron and Stein 1981) it is too large if anything: it holds twice what pairs of texts add together.

    Args:
        frontiers: of P and each model. pairs: for each model the buckets of the texts of P, (n_p,), and of its own.
        codes: for each model of the groups of the texts of P and of its own; None: each text is alone.
    """
    if codes is None or not any(codes):
        p_effects, q_variances = [], []
        for frontier, (p_labels, q_labels) in zip(frontiers, pairs, strict=True):
            p_effect, q_effect = jackknife.mauve_effects(frontier, scaling_factor)
            p_effects.append(p_effect[p_labels])
            q_variances.append(q_effect[q_labels].var() / len(q_labels))
        covariance: Floats = np.atleast_2d(np.cov(p_effects, ddof=0)) / len(pairs[0][0])
        return covariance + np.diag(q_variances)
    by_group = [
        _group_effects(frontier, pair, groups, scaling_factor)
        for frontier, pair, groups in zip(frontiers, pairs, codes, strict=True)
    ]
    covariance = np.diag([np.square(effect).sum() for _, effect in by_group])
    for i, j in itertools.combinations(range(len(pairs)), 2):
        shared = _shared_groups(codes[i], codes[j], len(pairs[i][0])).T
        values = [
            effect[np.searchsorted(group_codes, some)]
            for (group_codes, effect), some in zip((by_group[i], by_group[j]), shared, strict=True)
        ]
        covariance[i, j] = covariance[j, i] = values[0] @ values[1]
    return covariance


def _group_effects(
    frontier: jackknife.DebiasedFrontier,
    pair: tuple[Labels, Labels],
    codes: tuple[Integers, Integers] | None,
    scaling_factor: float,
) -> tuple[Integers, Floats]:
    """The codes of the groups of a model and P in rising order, and how far each moves the score.

    Where each text is alone, the texts of P have their numbers, and those of the model negative ones.
    """
    if frontier.groups is not None:
        _, slopes = jackknife.area_and_slopes(*jackknife.monotone(frontier), scaling_factor)
        group_codes, moves = frontier.groups.codes, frontier.groups.weighted(slopes)
    else:
        moved = zip(jackknife.mauve_effects(frontier, scaling_factor), pair, strict=True)
        of_texts = [effect[side] for effect, side in moved]
        group_codes = np.concatenate(codes or (np.arange(len(pair[0])), -1 - np.arange(len(pair[1]))))
        moves = np.concatenate([(side - side.mean()) / len(side) for side in of_texts])
    order = np.argsort(group_codes)
    return group_codes[order], moves[order]


def _shared_groups(
    codes: tuple[Integers, Integers] | None, others: tuple[Integers, Integers] | None, n_p: int
) -> Integers:
    """The groups of two models that share a text of P or a declared prompt: codes of both, (m, 2), each pair once."""
    of_p = [np.arange(n_p) if pair is None else pair[0] for pair in (codes, others)]
    shared = np.stack(of_p, axis=1)
    if codes is not None and others is not None:
        common = np.intersect1d(np.concatenate(codes), np.concatenate(others))
        common = common[common >= 0]  # see `dependence.with_dependence`
        shared = np.concatenate([shared, np.stack([common, common], axis=1)])
    distinct: Integers = np.unique(shared, axis=0)
    return distinct


def difference_of(
    estimates: Mapping[int, intervals.Estimate] | Sequence[intervals.Estimate],
    covariance: Floats,
    i: int,
    j: int,
    level: float = 0.95,
) -> intervals.Estimate:
    """The difference of model i and model j, whose scores have this covariance, (m, m)."""
    scale = math.sqrt(covariance[i, i] * covariance[j, j])
    correlation = min(max(float(covariance[i, j]) / scale, -1.0), 1.0) if scale > 0 else 0.0
    return intervals.estimate_difference(estimates[i], estimates[j], correlation, level)
