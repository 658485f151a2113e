"""Reliability of a score: bias, standard error, interval, value under pure noise, a test.

The plug-in score of a fixed partition is biased downwards by sampling noise. Every divergence is a sum over buckets
of a function of two binomial counts, so that its bias is removed bucket by bucket with the binomial jackknife, which
is exact to second order and, unlike a Taylor correction, stays good at a handful of texts a bucket. The same
differences give the delete-one standard error. Nothing is resampled.

Where texts of one prompt are not independent, a group at a time is left out. The share of each side in a bucket is a
ratio of sums over groups, so that leaving out a group moves every bucket a little and the buckets of its texts more.
Groups with equal sizes and equal counts have equal effects, so each distinct effect is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Bools, Counts, Floats, Integers
from mauve_metric.clustering.histograms import Histograms
from mauve_metric.measures import frontier
from mauve_metric.measures.groups import GroupCounts
from mauve_metric.measures.p_values import t_quantile

WEIGHTS = np.linspace(0, 1, 102)[1:-1]  # mixture weights λ of the debiased curve
_CHUNK = 4_000_000  # numbers of the terms of changed buckets that are computed at once


@dataclass(frozen=True)
class GroupEffects:
    """Effect on a sum over buckets of leaving a group out.

    changes: of the sum, (..., columns). column, group: (entries,) each; `changes[..., column[i]]` belongs to group
    `group[i]`.
    strata: the groups that are draws of one population, (G,) each: all of them, or those of P and those of Q where no
    group is on both sides. codes: of the groups, (G,).
    """

    changes: Floats
    column: Integers
    group: Integers
    strata: tuple[Bools, ...]
    codes: Integers

    def weighted(self, weights: Floats) -> Floats:
        """Centred, scaled effects (G,) of the groups on Σ weights·sum, whose squares add up to its variance."""
        changes = np.tensordot(weights, self.changes, axes=weights.ndim)
        effects: Floats = np.bincount(self.group, weights=changes[self.column], minlength=len(self.codes)).astype(float)
        for stratum in self.strata:
            number = int(stratum.sum())
            effects[stratum] -= effects[stratum].mean()
            effects[stratum] *= math.sqrt((number - 1) / number)
        return effects

    def freedom(self, effects: Floats) -> float:
        """Degrees of freedom of the variance of `weighted`: G - 1, or Welch's for two strata."""
        parts = [(float(effects[stratum] @ effects[stratum]), int(stratum.sum()) - 1) for stratum in self.strata]
        total = sum(variance for variance, _ in parts)
        if total == 0:
            return float(min(freedom for _, freedom in parts))
        return total**2 / sum(variance**2 / freedom for variance, freedom in parts)

    def margin(self, weights: Floats, level: float) -> float:
        """Half of the interval of Σ weights·sum."""
        effects = self.weighted(weights)
        return t_quantile(level, self.freedom(effects)) * math.sqrt(float(effects @ effects))

    def bias(self) -> Floats:
        """The bias of the sum, (...): Σ (G - 1)/G·Σ change over the groups of each stratum."""
        total = np.zeros(self.changes.shape[:-1])
        for stratum in self.strata:
            number = int(stratum.sum())
            times = np.bincount(self.column[stratum[self.group]], minlength=self.changes.shape[-1])
            total += (number - 1) / number * (self.changes @ times)
        return total


@dataclass(frozen=True)
class DebiasedFrontier:
    """The two divergences along the mixtures without their sampling bias, and the influence of each text.

    type_one, type_two: KL(q‖r_λ) and KL(p‖r_λ) on `WEIGHTS`, shape (m,), jackknifed; they may be negative.
    p_influence, q_influence: shape (2, m, k): (type one, type two) by bucket of a text of that side; without use where
    there are groups. p_counts, q_counts: shape (k,). groups: how each group of texts moves them; None: texts are
    independent.
    """

    type_one: Floats
    type_two: Floats
    p_influence: Floats
    q_influence: Floats
    p_counts: Counts
    q_counts: Counts
    groups: GroupEffects | None = None

    @property
    def independent(self) -> int:
        """The number of prompts, or of texts of the smaller side where each is alone."""
        if self.groups is None:
            return int(min(self.p_counts.sum(), self.q_counts.sum()))
        return min(int(stratum.sum()) for stratum in self.groups.strata)


def hidden_overlap(number: int, level: float) -> tuple[Floats, Floats]:
    """Shares of P and Q in two buckets with the most overlap that is not seen in (1 - level)/2 of all samples.

    n independent texts, or prompts, of a side miss an overlap s with a probability of (1 - s)ⁿ. Histograms without a
    common bucket vary in no sample: an interval is at least as wide as this overlap makes it.

    >>> hidden_overlap(100, 0.95)[0].round(4).tolist()
    [0.9638, 0.0362]
    """
    overlap = min(1 - ((1 - level) / 2) ** (1 / max(number, 1)), 0.5)
    shares = np.array([1 - overlap, overlap])
    return shares, shares[::-1]


def debiased_frontier(p_counts: Counts, q_counts: Counts, groups: GroupCounts | None = None) -> DebiasedFrontier:
    """Jackknife of KL(q‖r_λ) and KL(p‖r_λ) at a fixed partition.

    For a sum of functions f(x, y) of a binomial share x of n texts, the jackknife takes off
    (n-1)·[x·f(x⁻) + (1-x)·f(x⁰) - f(x)] with x⁻ and x⁰ the share after a text of this bucket, or of another one, was
    left out; the same for y.

    Args:
        p_counts, q_counts: shape (k,), at least 2 texts each.
        groups: of the texts, with at least 2 on each side; the jackknife then leaves out a group at a time.
    """
    if groups is not None:
        sums, effects = group_jackknife(_terms, p_counts, q_counts, groups)
        nothing = np.zeros((2, len(WEIGHTS), 0))
        return DebiasedFrontier(sums[0], sums[1], nothing, nothing, p_counts, q_counts, effects)
    value, p_influence, q_influence = jackknifed(_terms, p_counts, q_counts)
    sums = value.sum(axis=-1)
    return DebiasedFrontier(sums[0], sums[1], p_influence, q_influence, p_counts, q_counts)


def frontier_of(histograms: Histograms) -> DebiasedFrontier:
    """`debiased_frontier` of histograms, by their groups where texts share prompts."""
    return debiased_frontier(histograms.p_counts, histograms.q_counts, histograms.groups)


def jackknifed(
    terms: Callable[[Floats, Floats], Floats], p_counts: Counts, q_counts: Counts, smoothing: float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Binomial jackknife of a sum over buckets of a function of the shares of P and of Q in each.

    Args:
        terms: of shares (k,) and (k,), bucket by bucket, shape (..., k). p_counts, q_counts: shape (k,), at least 2
            texts each.
        smoothing: added to every count before the shares are taken, with and without the text that is left out.

    Returns:
        The terms without their bias, and what a text of P and of Q in each bucket adds, (..., k) each.

    Raises:
        ValueError: a side has fewer than 2 texts.
    """
    n_p, n_q = int(p_counts.sum()), int(q_counts.sum())
    if min(n_p, n_q) < 2:
        raise ValueError(f"the jackknife needs at least 2 texts on each side, got {n_p} and {n_q}")
    extra = smoothing * len(p_counts)

    def shares(counts: Counts, n: int) -> Floats:
        smoothed: Floats = (np.maximum(counts, 0) + smoothing) / (n + extra)
        return smoothed

    # of thousands of buckets most have the counts of others: the terms of equal counts are computed once
    base = q_counts.max() + 1
    pairs, bucket = np.unique(p_counts * base + q_counts, return_inverse=True)
    p_counts, q_counts = np.divmod(pairs, base)
    p, q, p_smooth, q_smooth = p_counts / n_p, q_counts / n_q, shares(p_counts, n_p), shares(q_counts, n_q)
    full = terms(p_smooth, q_smooth)
    value = full.copy()
    p_without, p_other = terms(shares(p_counts - 1, n_p - 1), q_smooth), terms(shares(p_counts, n_p - 1), q_smooth)
    q_without, q_other = terms(p_smooth, shares(q_counts - 1, n_q - 1)), terms(p_smooth, shares(q_counts, n_q - 1))
    value += (n_p - 1) * (full - p * p_without - (1 - p) * p_other)
    value += (n_q - 1) * (full - q * q_without - (1 - q) * q_other)
    p_influence, q_influence = (n_p - 1) * (p_other - p_without), (n_q - 1) * (q_other - q_without)
    return value.take(bucket, -1), p_influence.take(bucket, -1), q_influence.take(bucket, -1)


def group_jackknife(
    terms: Callable[[Floats, Floats], Floats],
    p_counts: Counts,
    q_counts: Counts,
    groups: GroupCounts,
    smoothing: float = 0.0,
) -> tuple[Floats, GroupEffects]:
    """Delete-one-group jackknife of a sum over buckets of a function of the shares of P and of Q in each.

    Args:
        terms: of shares (k,) and (k,), shape (..., k), bucket by bucket. p_counts, q_counts: shape (k,).
        groups: of these counts; at least two groups with texts on each side.
        smoothing: added to every count before the shares are taken, with and without the group that is left out.

    Returns:
        The sum over buckets without its bias, (...), and how each group moves it.

    Raises:
        ValueError: the texts of a side are all of one group.
    """
    numbers = [int((sizes > 0).sum()) for sizes in (groups.p_sizes, groups.q_sizes)]
    if min(numbers) < 2:
        raise ValueError(f"the jackknife needs at least 2 groups on each side, got {numbers[0]} and {numbers[1]}")
    sizes = np.array([p_counts.sum(), q_counts.sum()])
    extra = smoothing * len(p_counts)

    def shares(p: Floats | Counts, q: Floats | Counts, without: Counts) -> tuple[Floats, Floats]:
        return (p + smoothing) / (sizes[0] - without[0] + extra), (q + smoothing) / (sizes[1] - without[1] + extra)

    full = terms(*shares(p_counts, q_counts, np.zeros(2, dtype=np.int64)))
    kinds, kind = np.unique(np.stack([groups.p_sizes, groups.q_sizes], axis=1), axis=0, return_inverse=True)
    kind = kind.ravel()
    cells = np.stack([groups.bucket, groups.p, groups.q, kind[groups.group]], axis=1)
    cells, cell = np.unique(cells, axis=0, return_inverse=True)
    changes = np.empty((*full.shape[:-1], len(kinds) + len(cells)))
    step = max(1, _CHUNK // max(full[..., 0].size, 1))
    for number, without in enumerate(kinds):
        base = terms(*shares(p_counts, q_counts, without))
        changes[..., number] = (base - full).sum(axis=-1)
        cells_of_kind = np.flatnonzero(cells[:, 3] == number)
        for start in range(0, len(cells_of_kind), step):
            rows = cells_of_kind[start : start + step]
            bucket, p, q = cells[rows, 0], cells[rows, 1], cells[rows, 2]
            new = terms(*shares(p_counts[bucket] - p, q_counts[bucket] - q, without))
            changes[..., len(kinds) + rows] = new - base[..., bucket]
    joined = bool(((groups.p_sizes > 0) & (groups.q_sizes > 0)).any())
    effects = GroupEffects(
        changes,
        np.concatenate([kind, len(kinds) + cell.ravel()]),
        np.concatenate([np.arange(len(kind)), groups.group]),
        (np.ones(len(kind), dtype=bool),) if joined else (groups.p_sizes > 0, groups.q_sizes > 0),
        groups.codes,
    )
    return full.sum(axis=-1) - effects.bias(), effects


def _terms(p: Floats, q: Floats) -> Floats:
    """Contribution of each bucket to KL(q‖r_λ) and KL(p‖r_λ): (k,) → (2, m, k)."""
    type_one = frontier.kl_terms(q, p, 1 - WEIGHTS, WEIGHTS)
    type_two = frontier.kl_terms(p, q, WEIGHTS, 1 - WEIGHTS)
    return np.stack([type_one, type_two])


def mauve_effects(frontier: DebiasedFrontier, scaling_factor: float = 5.0) -> tuple[Floats, Floats]:
    """Effect of a text of each bucket on the debiased MAUVE: delete-one effects of a text of P and of Q, (k,) each.

    The variance of the effects over the texts of a side, divided by their number, is that side's part of the score's
    variance; the covariance of one text's effects on two scores is its part of theirs.
    """
    _, slopes = area_and_slopes(*monotone(frontier), scaling_factor)
    return np.tensordot(slopes, frontier.p_influence, axes=2), np.tensordot(slopes, frontier.q_influence, axes=2)


class CurveBand(NamedTuple):
    """The debiased divergence curve and its pointwise band, (m, 2) each as in `divergence_curve`, λ rising."""

    curve: Floats
    low: Floats
    high: Floats


def frontier_band(debiased: DebiasedFrontier, scaling_factor: float = 5.0, level: float = 0.95) -> CurveBand:
    """Sampling error of each point of the divergence curve, on this partition.

    In the plane of the two divergences the tangent of the frontier at λ has the normal (1-λ, λ), so that to first
    order only the linear cost L_λ = (1-λ)·KL(q‖r_λ) + λ·KL(p‖r_λ) says where the curve runs. Moving both divergences
    by ±z·stderr(L_λ) moves L_λ by as much; the ends are carried over by exp(-c·), and no divergence falls below 0.

    Args:
        debiased: of the histograms.
        scaling_factor: c.
        level: of the band at each point, in (0, 1); a whole curve leaves it more often.

    Returns:
        Curves in [0, 1] with low ≤ curve ≤ high in both coordinates.

    >>> band = frontier_band(debiased_frontier(np.array([40, 10]), np.array([10, 40])))
    >>> bool((band.low < band.curve).all() and (band.curve < band.high).all())
    True
    """
    normals = np.stack([1 - WEIGHTS, WEIGHTS])
    if debiased.groups is None:
        variance = np.zeros(len(WEIGHTS))
        for influence, counts in ((debiased.p_influence, debiased.p_counts), (debiased.q_influence, debiased.q_counts)):
            effect, share = np.einsum("im,imk->mk", normals, influence), counts / counts.sum()
            variance += (effect**2 @ share - (effect @ share) ** 2) / counts.sum()
        margin = t_quantile(level) * np.sqrt(np.maximum(variance, 0.0))
    else:
        one_cost = (np.where(np.arange(len(WEIGHTS)) == index, normals, 0.0) for index in range(len(WEIGHTS)))
        margin = np.array([debiased.groups.margin(weights, level) for weights in one_cost])
    costs = np.stack(monotone(debiased))
    least = np.minimum(costs - margin, frontier.frontier(*hidden_overlap(debiased.independent, level), WEIGHTS))
    low, curve, high = np.exp(-scaling_factor * np.maximum([costs + margin, costs, least], 0.0)).swapaxes(1, 2)
    return CurveBand(curve, low, high)


def area_and_slopes(type_one: Floats, type_two: Floats, scaling_factor: float) -> tuple[float, Floats]:
    """The area under the curve of two divergences (m,), and its derivatives by them (2, m)."""
    x, y = np.exp(-scaling_factor * type_one), np.exp(-scaling_factor * type_two)
    xs, ys = np.r_[1, x, 0], np.r_[0, y, 1]
    area = frontier.curve_area(np.column_stack([xs, ys]))
    return area, -scaling_factor / 2 * np.stack([x * (ys[2:] - ys[:-2]), -y * (xs[2:] - xs[:-2])])


def monotone(debiased: DebiasedFrontier) -> tuple[Floats, Floats]:
    """The debiased divergences as a frontier must be: at least 0, type one rising in λ, type two falling."""
    return frontier.as_frontier(debiased.type_one, debiased.type_two)


def delete_one_variance(frontier: DebiasedFrontier, weights: Floats) -> float:
    """Delete-one variance of Σ weights·divergence, weights (2, m); of a group at a time where there are groups."""
    if frontier.groups is not None:
        effects = frontier.groups.weighted(weights)
        return float(effects @ effects)
    p_effect = np.tensordot(weights, frontier.p_influence, axes=2)
    q_effect = np.tensordot(weights, frontier.q_influence, axes=2)
    return variance_of_effects(p_effect, q_effect, frontier.p_counts, frontier.q_counts)


def variance_of_effects(p_effect: Floats, q_effect: Floats, p_counts: Counts, q_counts: Counts) -> float:
    """Delete-one variance from what a text of either side in each bucket adds, (k,) each."""
    total = 0.0
    for effect, counts in ((p_effect, p_counts), (q_effect, q_counts)):
        share, n = counts / counts.sum(), int(counts.sum())
        total += float(share @ effect**2 - (share @ effect) ** 2) / n
    return max(total, 0.0)
