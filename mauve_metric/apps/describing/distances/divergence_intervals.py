"""f-divergences of the distributions that two sets of texts are drawn from, with intervals, on one partition.

The jackknife of the scores takes the bias of sampling off bucket by bucket and gives the delete-one error. Where an
empty bucket would make a divergence infinite, a part of a text is added to every bucket before, and the jackknife takes
the bias of that off as well. Nothing is resampled: a bootstrap of these numbers would be centred
beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from mauve_metric.arrays import Counts, Floats, MeasuredValue
from mauve_metric.clustering.histograms import Histograms
from mauve_metric.measures.frontier import kl_terms
from mauve_metric.measures.groups import FEWEST_GROUPS, GroupCounts
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.runtime.checks import check_known
from mauve_metric.uncertainty import intervals
from mauve_metric.uncertainty.jackknife import (
    debiased_frontier,
    group_jackknife,
    hidden_overlap,
    jackknifed,
    variance_of_effects,
)
from mauve_metric.uncertainty.score_warnings import FEW_IN_BUCKET, few_texts_a_bucket

Divergence = Literal["kl", "chi_square", "hellinger", "total_variation", "le_cam", "jensen_shannon"]


def _kl(p: Floats, q: Floats) -> Floats:
    return kl_terms(p, q, np.zeros(1), np.ones(1))[..., 0, :]


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    """½·p·log(p/m) + ½·q·log(q/m) with m = (p + q)/2."""
    u = (p - q) / (p + q)
    logs = (1 + u) * np.log1p(u) + np.where(u < 1, (1 - u) * np.log1p(-u), 0.0)
    logs = np.where(u > -1, logs, 2 * np.log(2))
    total: Floats = (p + q) / 4 * np.where(np.abs(u) < 1e-4, u * u, np.where(u < 1, logs, 2 * np.log(2)))
    return total


DIVERGENCES: dict[Divergence, Callable[[Floats, Floats], Floats]] = {
    # f(t) = t·log t, in nats
    "kl": _kl,
    # (t - 1)²
    "chi_square": lambda p, q: (p - q) * (p - q) / q,
    # (1 - √t)², twice the square of the distance that is normed to 1
    "hellinger": lambda p, q: np.square((p - q) / (np.sqrt(p) + np.sqrt(q))),
    # ½|t - 1|
    "total_variation": lambda p, q: np.abs(p - q) / 2,
    # (1 - t)² / (2(1 + t))
    "le_cam": lambda p, q: (p - q) * (p - q) / (2 * (p + q)),
    # ½·t·log t - ½(1 + t)·log((1 + t)/2), in nats
    "jensen_shannon": _jensen_shannon,
}


def divergence_terms(p: Floats, q: Floats, kind: Divergence = "kl") -> Floats:
    """Compute the contribution of each bucket to D_f(p‖q), for shares of any sum: (..., k) → (..., k).

    KL Σp·log(p/q) in nats; χ² Σ(p-q)²/q; squared Hellinger Σ(√p-√q)²; total variation ½Σ|p-q|;
    Le Cam ½Σ(p-q)²/(p+q); Jensen–Shannon ½KL(p‖m) + ½KL(q‖m) in nats, m = (p+q)/2.

    Returns:
        Terms whose sum over probabilities is at least 0, lower is better, 0 only for p = q. KL and χ² have no bound and
        are +∞ where q leaves out a bucket of p; squared Hellinger is at most 2, total variation and Le Cam 1,
        Jensen–Shannon log 2.

    >>> p, q = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    >>> divergence_terms(p, q).sum(), divergence_terms(p, q, "total_variation").sum()
    (np.float64(inf), np.float64(0.5))
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((p > 0) | (q > 0), DIVERGENCES[kind](p, q), 0.0)


_SHARES, _STEPS = 100, 200  # grid and EM steps of the shares of P among a bucket's texts
TEXTS_OF_ROUGH = 8  # texts a bucket below which intervals of KL and Hellinger hold the truth in 0 to 90 % of draws
_MOST_UNSEEN = 0.2  # of P's texts; at a quarter intervals still hold the truth in 86 % of draws, at a half in 5 %


class _Treatment(NamedTuple):
    """Constants with which one divergence is estimated.

    most: its largest value. smoothing: texts added to each bucket first. least_texts: a bucket, for an interval.
    most_unseen: of P's texts in buckets without Q's, for an interval. has_interval: False where none holds the truth.
    is_skewed: the interval reaches further up. has_kink: where p = q, so that no jackknife helps, see `_variation`.
    """

    most: float
    smoothing: float = 0.0
    least_texts: int = FEW_IN_BUCKET
    most_unseen: float = 1.0
    has_interval: bool = True
    is_skewed: bool = False
    has_kink: bool = False


_TREATMENTS: dict[Divergence, _Treatment] = {  # more texts a bucket where it is steep at a nearly empty one
    "kl": _Treatment(math.inf, 0.5, TEXTS_OF_ROUGH, most_unseen=_MOST_UNSEEN, is_skewed=True),
    "chi_square": _Treatment(math.inf, 1.0, has_interval=False),
    "hellinger": _Treatment(2.0, least_texts=TEXTS_OF_ROUGH),
    "total_variation": _Treatment(1.0, has_kink=True),
    "le_cam": _Treatment(1.0),
    "jensen_shannon": _Treatment(math.log(2)),
}


def estimate_divergence(
    p_counts: Counts,
    q_counts: Counts,
    kind: Divergence = "kl",
    level: float = 0.95,
    groups: GroupCounts | None = None,
) -> MeasuredValue:
    """D_f(p‖q) without the bias of sampling, and its interval, from the texts of both sets in common buckets.

    KL(p‖q): how unlikely human texts are for the model (Pimentel et al. 2023). χ²: Σ(p-q)²/q. Squared Hellinger
    distance Σ(√p-√q)², from 0 to 2. Total variation ½Σ|p-q| and Le Cam ½Σ(p-q)²/(p+q), from 0 to 1 (Pillutla et al.
    2023). Jensen–Shannon ½KL(p‖m) + ½KL(q‖m) with m = (p+q)/2, from 0 to log 2 (Lin 1991).

    The binomial jackknife of Σ `divergence_terms`, after ½ a text was added to every bucket for KL and 1 for χ²:
    finite always, also where the divergence of the histograms as they are is infinite. The interval
    is estimate ± m with m = z times the delete-one error; that of KL, which is skewed, goes to estimate + m +
    m²/(2·max(estimate, m)) upwards, the first terms of an interval of logarithms. Total variation has a kink where
    p = q, at which no jackknife helps: see `_variation`.

    Args:
        p_counts, q_counts: texts of P and of Q in each bucket, shape (k,), at least 2 each.
        kind: of `divergences.DIVERGENCES`. level: of the interval, in (0, 1).
        groups: of the texts, where some share prompts: bias and error are those of leaving out a group at a time, and
            the interval is of Student's t.

    Returns:
        Value and interval from 0 to the largest value of the divergence; lower is better. No interval for χ², whose
        error depends on the few buckets that Q hardly fills, nor for a KL whose value depends on what was added: where
        more than a fifth of P's texts are in buckets without a text of Q, nor, but for total variation, where a
        bucket has fewer than five texts (eight for KL and Hellinger): the jackknife then leaves a bias that is larger
        than the error.

    Raises:
        ValueError: counts that are no counts, fewer than 2 texts.

    >>> estimate = estimate_divergence(np.array([40, 10]), np.array([10, 40]), "le_cam")
    >>> round(estimate.value, 3), [round(end, 3) for end in estimate.ci]
    (0.351, [0.16, 0.542])
    """
    check_known("kind", kind, DIVERGENCES)
    counted = Histograms(p_counts, q_counts)
    sides = (counted.p_counts, counted.q_counts) if groups is None else (groups.p_sizes > 0, groups.q_sizes > 0)
    independent = min(int(side.sum()) for side in sides)
    if groups is not None and independent < FEWEST_GROUPS:
        raise ValueError(f"there are fewer than {FEWEST_GROUPS} prompts on a side")
    filled = counted.p_counts + counted.q_counts > 0
    p_counts, q_counts = counted.p_counts[filled], counted.q_counts[filled]
    if groups is not None:
        groups = replace(groups, bucket=(np.cumsum(filled) - 1)[groups.bucket])
    highest = float(divergence_terms(*hidden_overlap(independent, level), kind).sum())  # of the interval's lower end
    treatment = _TREATMENTS[kind]
    if treatment.has_kink:
        variation = _variation if groups is None else partial(_grouped_variation, groups=groups)
        estimate = variation(p_counts, q_counts, level)
        return estimate._replace(ci=estimate.ci and (min(estimate.ci[0], highest), estimate.ci[1]))
    of_shares = partial(divergence_terms, kind=kind)
    if groups is None:
        terms, p_effect, q_effect = jackknifed(of_shares, p_counts, q_counts, smoothing=treatment.smoothing)
        error = math.sqrt(variance_of_effects(p_effect, q_effect, p_counts, q_counts))
        value, margin = float(terms.sum()), t_quantile(level) * error
    else:
        summed, effects = group_jackknife(of_shares, p_counts, q_counts, groups, treatment.smoothing)
        value, margin = float(summed), effects.margin(np.array(1.0), level)
    skew = margin**2 / (2 * max(value, margin)) if treatment.is_skewed and margin > 0 else 0.0
    low, middle, high = (
        float(np.clip(end, 0.0, treatment.most)) for end in (min(value - margin, highest), value, value + margin + skew)
    )
    unseen = float(p_counts[q_counts == 0].sum() / p_counts.sum())
    few = few_texts_a_bucket(p_counts, q_counts, treatment.least_texts)
    is_known = treatment.has_interval and not few and unseen <= treatment.most_unseen
    return MeasuredValue(middle, (low, high) if is_known else None)


def kl_backward(
    p_counts: Counts, q_counts: Counts, level: float = 0.95, groups: GroupCounts | None = None
) -> MeasuredValue:
    """KL(q‖p), how unlikely the model's texts are among human ones, debiased (Pimentel et al. 2023).

    >>> round(kl_backward(np.array([40, 10]), np.array([10, 40])).value, 3)
    0.79
    """
    if groups is not None:
        groups = replace(groups, p=groups.q, q=groups.p, p_sizes=groups.q_sizes, q_sizes=groups.p_sizes)
    return estimate_divergence(q_counts, p_counts, "kl", level, groups)


def kl_exponentiated(
    p_counts: Counts, q_counts: Counts, level: float = 0.95, groups: GroupCounts | None = None
) -> MeasuredValue:
    """exp(-KL(p‖q)/10) of the debiased KL, in (0, 1], higher is better (Pimentel et al. 2023).

    >>> round(kl_exponentiated(np.array([40, 10]), np.array([10, 40])).value, 3)
    0.924
    """
    value, ci, _ = estimate_divergence(p_counts, q_counts, "kl", level, groups)
    return MeasuredValue(math.exp(-0.1 * value), ci and (math.exp(-0.1 * ci[1]), math.exp(-0.1 * ci[0])))


def _grouped_variation(p_counts: Counts, q_counts: Counts, level: float, groups: GroupCounts) -> MeasuredValue:
    """Total variation of texts that share prompts.

    Each bucket's p-q is about normal with the variance that the groups tell, and the expectation of its absolute value
    too large by what that of a normal variable is.
    """
    from scipy.special import ndtr

    n_p, n_q, number = int(p_counts.sum()), int(q_counts.sum()), len(groups.codes)
    p, q = p_counts / n_p, q_counts / n_q
    difference = p - q
    side, plug_in = np.sign(difference) / 2, float(divergence_terms(p, q, "total_variation").sum())
    moved, p_mass, q_mass = groups.p / n_p - groups.q / n_q, groups.p_sizes / n_p, groups.q_sizes / n_q
    expected = p_mass[groups.group] * p[groups.bucket] - q_mass[groups.group] * q[groups.bucket]
    variance = p**2 * (p_mass @ p_mass) + q**2 * (q_mass @ q_mass) - 2 * p * q * (p_mass @ q_mass)
    variance += np.bincount(groups.bucket, weights=moved**2 - 2 * moved * expected, minlength=len(p))
    deviation = np.sqrt(np.maximum(variance, 0.0) * number / (number - 1))
    ratio = np.divide(difference, deviation, out=np.zeros(len(p)), where=deviation > 0)
    size = deviation * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + difference * (1 - 2 * ndtr(-ratio))
    excess = np.where(deviation > 0, size - np.abs(difference), 0.0)
    of_texts = np.bincount(groups.group, weights=side[groups.bucket] * moved, minlength=number)
    effects = of_texts - p_mass * (side @ p) + q_mass * (side @ q)
    margin = t_quantile(level, number - 1) * math.sqrt(float(effects @ effects) * number / (number - 1))
    bias = float(deviation.sum()) * math.sqrt(2 / math.pi) / 2
    value = max(plug_in - float(excess.sum()) / 2, 0.0)
    return MeasuredValue(value, (max(min(plug_in - bias - margin, value), 0.0), min(plug_in + margin, 1.0)))


def _variation(p_counts: Counts, q_counts: Counts, level: float) -> MeasuredValue:
    """Total variation of independent texts, and an interval that holds it at least as often as its level says.

    Of a bucket's m texts x are P's, a binomial number with some share θ; the distribution of θ over the buckets with
    the largest likelihood (Kiefer and Wolfowitz 1956; by EM on a grid) gives the expected |p-q| of each. The value of
    the histograms is too large on average, by at most ½Σ√(2(p/n + q/n')/π): the interval goes from that value less the
    bound and z errors up to that value and z errors.
    """
    from scipy.special import xlogy

    n_p, n_q = int(p_counts.sum()), int(q_counts.sum())
    p, q = p_counts / n_p, q_counts / n_q
    plug_in, side = float(divergence_terms(p, q, "total_variation").sum()), np.sign(p - q) / 2
    error = math.sqrt(variance_of_effects(side, -side, p_counts, q_counts))
    margin = t_quantile(level) * error
    bias = float(np.sqrt(2 / math.pi * (p / n_p + q / n_q)).sum() / 2)
    grid = np.unique(np.append(np.linspace(0, 1, _SHARES + 1), n_p / (n_p + n_q)))
    logs = xlogy(p_counts[:, None], grid) + xlogy(q_counts[:, None], 1 - grid)
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = np.full(len(grid), 1 / len(grid))
    for _ in range(_STEPS):
        prior = prior * (likelihood.T @ (1 / (likelihood @ prior))) / len(p_counts)
    expected = likelihood @ (prior * np.abs(grid / n_p - (1 - grid) / n_q)) / (likelihood @ prior)
    value = min(float((p_counts + q_counts) @ expected) / 2, plug_in)
    return MeasuredValue(value, (max(min(plug_in - bias - margin, value), 0.0), min(plug_in + margin, 1.0)))


kl_forward = partial(estimate_divergence, kind="kl")
chi_square = partial(estimate_divergence, kind="chi_square")
hellinger = partial(estimate_divergence, kind="hellinger")
total_variation = partial(estimate_divergence, kind="total_variation")
le_cam = partial(estimate_divergence, kind="le_cam")
jensen_shannon = partial(estimate_divergence, kind="jensen_shannon")


def frontier_integral(
    p_counts: Counts, q_counts: Counts, level: float = 0.95, groups: GroupCounts | None = None
) -> MeasuredValue:
    """The frontier integral, debiased, as a result has it (Liu et al. 2021, §3): from 0 to 1, lower is better.

    >>> round(frontier_integral(np.array([40, 10]), np.array([10, 40])).value, 3)
    0.25
    """
    counted = Histograms(p_counts, q_counts)
    frontier = debiased_frontier(counted.p_counts, counted.q_counts, groups)
    _, integral = intervals.estimate_scores(frontier, level=level)
    few = few_texts_a_bucket(counted.p_counts, counted.q_counts)
    return MeasuredValue(integral.value, None if few else integral.ci)
