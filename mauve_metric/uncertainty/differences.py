"""Test whether two models' scores differ: joint errors of scores against one human set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers, Labels
from mauve_metric.clustering import histograms
from mauve_metric.measures.groups import codes_by_content
from mauve_metric.options import ResolvedConfig
from mauve_metric.uncertainty import intervals, jackknife

HALVES = 8  # random halves that show the decrease of errors with the number of texts


class JointErrors(NamedTuple):
    """Joint errors of the debiased scores of m models against one P: covariance matrices, (m, m) each.

    first: of the delete-one effects of texts. Like every delete-one variance (Efron and Stein 1981) it holds twice what
    pairs of texts add together; second: that part once, so that first - second is the covariance. runs: over the
    clusterings.
    """

    first: Floats
    second: Floats
    runs: Floats

    def variance(self, i: int) -> tuple[float, float]:
        """Variance of one score, and its ratio to the delete-one variance."""
        plain, runs = float(self.first[i, i]), float(self.runs[i, i])
        variance = plain - min(max(float(self.second[i, i]), 0.0), plain / 2) + runs
        return variance, variance / (plain + runs) if plain + runs > 0 else 1.0


def _of_difference(matrix: Floats, i: int, j: int) -> float:
    return max(float(matrix[i, i] + matrix[j, j] - 2 * matrix[i, j]), 0.0)


Groups = Sequence[Integers | None]  # codes of P's texts and of those of each model


def joint_errors(runs: Sequence[Sequence[Labels]], config: ResolvedConfig, groups: Groups = ()) -> JointErrors:
    """The joint errors of several models' scores against one P.

    The texts of P are shared by all models; the models are independent but for what groups say. What pairs of texts add
    falls with n², everything else with n, which random halves of the texts tell apart: second = (first of halves -
    2·first) / 4. Of groups it is left in: halves of few groups are too unsure to take anything off.

    Args:
        runs: for each clustering the buckets of the texts of P, (n_p,), and of each of m models, (n_i,).
        groups: see `measures.groups`; without any, texts are independent.
    """
    k, c = config.num_buckets, config.mauve_scaling_factor
    codes = [found for found in groups if found is not None]
    labels, codes = (runs[0], codes_by_content(runs[0], codes)) if codes else ([np.sort(side) for side in runs[0]], [])
    first = score_covariance(labels, k, c, codes)
    second = np.zeros_like(first)
    if min(map(len, labels)) >= 4 and not codes:
        rng = np.random.default_rng(config.seed)
        rows = [[rng.permutation(len(side))[: len(side) // 2] for side in labels] for _ in range(HALVES)]
        halves = [score_covariance([side[own] for side, own in zip(labels, of, strict=True)], k, c) for of in rows]
        second = (np.mean(halves, axis=0) - 2 * first) / 4
    over_runs = np.zeros_like(first)
    if len(runs) > 1:
        values = [[intervals.debiased_scores(found, c).mauve for found in _frontiers(run, k, codes)] for run in runs]
        over_runs = np.atleast_2d(np.cov(np.array(values), rowvar=False, ddof=1))
    return JointErrors(first, second, over_runs)


def _frontiers(labels: Sequence[Labels], k: int, codes: Sequence[Integers] = ()) -> list[jackknife.DebiasedFrontier]:
    """Of P, the first, and each model."""
    counted = [
        histograms.count_labels(labels[0], side, k, *((codes[0], codes[number]) if codes else ()))
        for number, side in enumerate(labels[1:], start=1)
    ]
    return [jackknife.frontier_of(item) for item in counted]


def score_covariance(
    labels: Sequence[Labels], k: int, scaling_factor: float = 5.0, codes: Sequence[Integers] = ()
) -> Floats:
    """Covariance matrix (m, m) of the debiased scores of m models by the delete-one effects of their texts.

    Args:
        labels: buckets of the texts of P, (n_p,), and of each model, (n_i,).
        k: number of buckets. scaling_factor: c.
        codes: of the groups of the same texts; a group at a time is left out then. None given: texts are independent.
    """
    frontiers = _frontiers(labels, k, codes)
    pairs = [(labels[0], side) for side in labels[1:]]
    return effect_covariance(
        frontiers, pairs, scaling_factor, [(codes[0], own) for own in codes[1:]] if codes else None
    )


def effect_covariance(
    frontiers: Sequence[jackknife.DebiasedFrontier],
    pairs: Sequence[tuple[Labels, Labels]],
    scaling_factor: float,
    codes: Sequence[tuple[Integers, Integers] | None] | None = None,
) -> Floats:
    """`score_covariance` of models each of which has buckets, and groups, of its own.

    Args:
        frontiers: of P and each model. pairs: for each model the buckets of the texts of P, (n_p,), and of its own.
        codes: for each model of the groups of the texts of P and of its own; None: each text is alone.
    """
    if codes is None or not any(codes):
        effects = [jackknife.mauve_effects(frontier, scaling_factor) for frontier in frontiers]
        p_effects = np.stack([p_effect[own] for (p_effect, _), (own, _) in zip(effects, pairs, strict=True)])
        q_effects = [q_effect[own] for (_, q_effect), (_, own) in zip(effects, pairs, strict=True)]
        covariance: Floats = np.atleast_2d(np.cov(p_effects, ddof=0)) / p_effects.shape[1]
        return covariance + np.diag([effect.var() / len(effect) for effect in q_effects])
    by_group = [
        _group_effects(frontier, pair, own, scaling_factor)
        for frontier, pair, own in zip(frontiers, pairs, codes, strict=True)
    ]
    covariance = np.diag([np.square(effect).sum() for _, effect in by_group])
    for i, j in itertools.combinations(range(len(pairs)), 2):
        one, other = _shared_groups(codes[i], codes[j], len(pairs[i][0])).T
        values = [
            effect[np.searchsorted(known, some)] for (known, effect), some in ((by_group[i], one), (by_group[j], other))
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
        known, own = frontier.groups.codes, frontier.groups.of(slopes)
    else:
        moved = zip(jackknife.mauve_effects(frontier, scaling_factor), pair, strict=True)
        of_texts = [effect[side] for effect, side in moved]
        known = np.concatenate(codes or (np.arange(len(pair[0])), -1 - np.arange(len(pair[1]))))
        own = np.concatenate([(side - side.mean()) / len(side) for side in of_texts])
    order = np.argsort(known)
    return known[order], own[order]


def _shared_groups(
    one: tuple[Integers, Integers] | None, other: tuple[Integers, Integers] | None, n_p: int
) -> Integers:
    """The groups of two models that share a text of P or a declared prompt: codes of both, (m, 2), each pair once."""
    of_p = [np.arange(n_p) if codes is None else codes[0] for codes in (one, other)]
    shared = np.stack(of_p, axis=1)
    if one is not None and other is not None:
        common = np.intersect1d(np.concatenate(one), np.concatenate(other))
        common = common[common >= 0]  # see `dependence.with_dependence`
        shared = np.concatenate([shared, np.stack([common, common], axis=1)])
    found: Integers = np.unique(shared, axis=0)
    return found


def difference_of(
    estimates: Mapping[int, intervals.Estimate] | Sequence[intervals.Estimate],
    errors: JointErrors,
    i: int,
    j: int,
    level: float = 0.95,
) -> intervals.DifferenceEstimate:
    """The difference of model i and model j.

    Its interval and standard error follow from the corrected errors. Its p-value does not: a decision among many pairs
    looks far into the tails, where the correction, itself an estimate, would call too many equal models different; the
    delete-one errors, which are too large if anything, keep that rate.
    """
    (one, one_ratio), (two, two_ratio) = errors.variance(i), errors.variance(j)
    scale = math.sqrt(one * two)
    plain = _of_difference(errors.first, i, j)
    between = plain - min(_of_difference(errors.second, i, j), plain / 2) + _of_difference(errors.runs, i, j)
    correlation = min(max((one + two - between) / (2 * scale), -1.0), 1.0) if scale > 0 else 0.0
    a, b = _scale_error(estimates[i], one_ratio), _scale_error(estimates[j], two_ratio)
    found = intervals.estimate_difference(a, b, correlation, level)
    whole = errors.first + errors.runs
    scale = math.sqrt(whole[i, i] * whole[j, j])
    correlation = min(max(float(whole[i, j]) / scale, -1.0), 1.0) if scale > 0 else 0.0
    careful = intervals.estimate_difference(estimates[i], estimates[j], correlation, level)
    return found._replace(p_value=max(found.p_value, careful.p_value))


def design_effect(
    runs: Sequence[Sequence[Labels]], errors: JointErrors, config: ResolvedConfig, i: int, j: int
) -> float:
    """Factor of the design on the variance of the difference of model i and model j: below 1, pairing helps.

    Between 1/1000 and 1000.
    """
    alone = score_covariance(runs[0], config.num_buckets, config.mauve_scaling_factor)
    grouped, independent = _of_difference(errors.first, i, j), _of_difference(alone, i, j)
    return min(max(grouped / independent, 1e-3), 1e3) if independent > 0 else 1.0


def _scale_error(estimate: intervals.Estimate, ratio: float) -> intervals.Estimate:
    """An estimate with the squares of its error and of its interval's two arms times a ratio; a cut end stays cut."""
    factor, (low, high) = math.sqrt(ratio), estimate.ci
    arm = estimate.value - factor * (estimate.value - low)
    return estimate._replace(
        stderr=factor * estimate.stderr,
        ci=(arm, high if high >= 1 else estimate.value + factor * (high - estimate.value)),
    )
