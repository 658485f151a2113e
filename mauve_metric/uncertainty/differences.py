"""Whether two models' scores differ: how scores against one human set vary together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Labels
from mauve_metric.config import MauveConfig
from mauve_metric.quantize import histograms
from mauve_metric.uncertainty import intervals, jackknife

HALVES = 8  # random halves that tell how errors fall with the number of texts


class JointErrors(NamedTuple):
    """How the debiased scores of m models against one P vary together: covariance matrices, (m, m) each.

    first: of the delete-one effects of texts. Like every delete-one variance (Efron and Stein 1981) it holds twice what
    pairs of texts add together; second: that part once, so that first - second is the covariance. runs: over the
    clusterings.
    """

    first: Floats
    second: Floats
    runs: Floats

    def parts(self, i: int, j: int) -> tuple[float, float]:
        """Variance of the difference of two scores by sampling, and what of it is due to pairs of texts."""
        plain = _of_difference(self.first, i, j)
        pairs = min(max(_of_difference(self.second, i, j), 0.0), plain / 2)
        return plain - pairs, pairs

    def variance(self, i: int) -> tuple[float, float]:
        """Variance of one score, and its ratio to the delete-one variance."""
        plain, runs = float(self.first[i, i]), float(self.runs[i, i])
        variance = plain - min(max(float(self.second[i, i]), 0.0), plain / 2) + runs
        return variance, variance / (plain + runs) if plain + runs > 0 else 1.0


def _of_difference(matrix: Floats, i: int, j: int) -> float:
    return max(float(matrix[i, i] + matrix[j, j] - 2 * matrix[i, j]), 0.0)


def joint_errors(runs: Sequence[Sequence[Labels]], config: MauveConfig, aligned: bool = False) -> JointErrors:
    """The joint errors of several models' scores against one P.

    The texts of P are shared by all models; with `aligned`, row i of all models is drawn at once, otherwise the models
    are independent. What pairs of texts add falls with n², everything else with n, which random halves of the texts
    tell apart: second = (first of halves - 2·first) / 4.

    Args:
        runs: for each clustering the buckets of the texts of P, (n_p,), and of each of m models, (n_i,).
        config: without "auto". aligned: all n_i are equal.
    """
    k, c = int(config.num_buckets), config.mauve_scaling_factor
    labels = _in_order(runs[0], aligned)
    first = score_covariance(labels, k, c, aligned)
    second = np.zeros_like(first)
    if min(map(len, labels)) >= 4:
        rng = np.random.default_rng(config.seed)
        halves = [score_covariance(_half(labels, aligned, rng), k, c, aligned) for _ in range(HALVES)]
        second = (np.mean(halves, axis=0) - 2 * first) / 4
    over_runs = np.zeros_like(first)
    if len(runs) > 1:
        values = [[intervals.debiased_scores(frontier, c).mauve for frontier in _frontiers(run, k)] for run in runs]
        over_runs = np.atleast_2d(np.cov(np.array(values), rowvar=False, ddof=1))
    return JointErrors(first, second, over_runs)


def _in_order(labels: Sequence[Labels], aligned: bool) -> list[Labels]:
    """The buckets of each set in an order that does not depend on that of its texts; aligned rows stay together."""
    if not aligned:
        return [np.sort(side) for side in labels]
    order = np.lexsort(labels[1:])
    return [np.sort(labels[0]), *(side[order] for side in labels[1:])]


def _frontiers(labels: Sequence[Labels], k: int) -> list[jackknife.DebiasedFrontier]:
    """Of P, the first, and each model."""
    counted = [histograms.count_labels(labels[0], side, k) for side in labels[1:]]
    return [jackknife.debiased_frontier(item.p_counts, item.q_counts) for item in counted]


def _half(labels: Sequence[Labels], aligned: bool, rng: np.random.Generator) -> list[Labels]:
    """A random half of each set; with `aligned` the same rows of every model."""
    rows = [rng.permutation(len(side))[: len(side) // 2] for side in labels]
    return [side[rows[1] if aligned and number else rows[number]] for number, side in enumerate(labels)]


def score_covariance(labels: Sequence[Labels], k: int, scaling_factor: float = 5.0, aligned: bool = False) -> Floats:
    """Covariance matrix (m, m) of the debiased scores of m models by the delete-one effects of their texts.

    Args:
        labels: buckets of the texts of P, (n_p,), and of each model, (n_i,).
        k: number of buckets. scaling_factor: c. aligned: see `joint_errors`.
    """
    effects = [jackknife.mauve_effects(frontier, scaling_factor) for frontier in _frontiers(labels, k)]
    p_effects = np.stack([p_effect[labels[0]] for p_effect, _ in effects])
    q_effects = [q_effect[side] for (_, q_effect), side in zip(effects, labels[1:], strict=True)]
    covariance: Floats = np.atleast_2d(np.cov(p_effects, ddof=0)) / len(labels[0])
    if aligned:
        return covariance + np.atleast_2d(np.cov(np.stack(q_effects), ddof=0)) / len(q_effects[0])
    return covariance + np.diag([effect.var() / len(effect) for effect in q_effects])


def difference_of(
    estimates: Sequence[intervals.Estimate], errors: JointErrors, i: int, j: int, level: float = 0.95
) -> intervals.DifferenceEstimate:
    """The difference of model i and model j.

    Its interval and standard error follow from the corrected errors. Its p-value does not: a decision among many pairs
    looks far into the tails, where the correction, itself an estimate, would call too many equal models different; the
    delete-one errors, which are too large if anything, keep that rate.
    """
    (one, one_ratio), (two, two_ratio) = errors.variance(i), errors.variance(j)
    scale = math.sqrt(one * two)
    between = errors.parts(i, j)[0] + _of_difference(errors.runs, i, j)
    correlation = min(max((one + two - between) / (2 * scale), -1.0), 1.0) if scale > 0 else 0.0
    a, b = _narrowed(estimates[i], one_ratio), _narrowed(estimates[j], two_ratio)
    found = intervals.estimate_difference(a, b, correlation, level)
    whole = errors.first + errors.runs
    scale = math.sqrt(whole[i, i] * whole[j, j])
    correlation = min(max(float(whole[i, j]) / scale, -1.0), 1.0) if scale > 0 else 0.0
    careful = intervals.estimate_difference(estimates[i], estimates[j], correlation, level)
    return found._replace(p_value=max(found.p_value, careful.p_value))


def pairing_gain(runs: Sequence[Sequence[Labels]], errors: JointErrors, config: MauveConfig, i: int, j: int) -> float:
    """By what the pairing of aligned rows divides the error of the difference of model i and model j, at least 1."""
    alone = score_covariance(runs[0], int(config.num_buckets), config.mauve_scaling_factor)
    paired, unpaired = _of_difference(errors.first, i, j), _of_difference(alone, i, j)
    return max(math.sqrt(unpaired / paired), 1.0) if paired > 0 else 1.0


def _narrowed(estimate: intervals.Estimate, ratio: float) -> intervals.Estimate:
    """An estimate with the squares of its error and of its interval's two arms times a ratio; a cut end stays cut."""
    factor, (low, high) = math.sqrt(ratio), estimate.ci
    arm = estimate.value - factor * (estimate.value - low)
    return estimate._replace(
        stderr=factor * estimate.stderr,
        ci=(arm, high if high >= 1 else estimate.value + factor * (high - estimate.value)),
    )
