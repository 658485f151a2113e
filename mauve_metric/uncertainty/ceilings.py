"""Scores of random splits: the ceiling of equal sets, and the permutation test."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Bools, Counts, Floats
from mauve_metric.measures import frontier
from mauve_metric.measures.groups import GroupCounts

CEILING_DRAWS = 40  # standard error of the ceiling: about .002 at 500 texts, .0008 at 5000
_SLOPES = 51  # of the precision-recall curve of random splits


def null_scores(
    p_counts: Counts,
    q_counts: Counts,
    scaling_factor: float = 5.0,
    num_points: int = 25,
    seed: int = 25,
    groups: GroupCounts | None = None,
) -> Floats:
    """The plug-in MAUVE of `CEILING_DRAWS` random splits of the pooled counts into sets of these sizes.

    Their mean is what to expect from two samples of one distribution on this partition, the ceiling: in [0, 1]; about
    .96 at ten texts a bucket, whatever the size. `num_points`: weights of the divergence curve, as for the score.
    `groups`: splits that keep the design, see `_grouped_splits`.
    """
    p, q = _random_splits(p_counts, q_counts, CEILING_DRAWS, np.random.default_rng(seed), groups)
    return np.array([frontier.curve_area(curve) for curve in _curves(p, q, scaling_factor, num_points)])


def null_curves(
    p_counts: Counts,
    q_counts: Counts,
    scaling_factor: float = 5.0,
    num_points: int = 25,
    seed: int = 25,
    groups: GroupCounts | None = None,
) -> tuple[Floats, Floats]:
    """The mean divergence curve and the mean precision-recall curve of the splits of `null_scores`.

    Returns:
        (num_points, 2) as `frontier.divergence_curve`; (`_SLOPES`, 2): recall, precision. Averaged point by point, at
        equal weights and slopes.

    >>> divergence, precision_recall = null_curves(np.array([300, 200]), np.array([290, 210]))
    >>> bool(divergence[12].min() > 0.99), bool(precision_recall.max() <= 1)
    (True, True)
    """
    p, q = _random_splits(p_counts, q_counts, CEILING_DRAWS, np.random.default_rng(seed), groups)
    slopes = np.tan(np.linspace(0, np.pi / 2, _SLOPES + 2)[1:-1])
    precision = np.array([np.minimum(slope * p, q).sum(axis=1).mean() for slope in slopes])
    return np.mean(_curves(p, q, scaling_factor, num_points), axis=0), np.column_stack([precision / slopes, precision])


def _curves(p: Floats, q: Floats, scaling_factor: float, num_points: int) -> list[Floats]:
    """The divergence curve of each pair of histograms, (draws, k) each."""
    weights = frontier.mixture_weights(num_points)
    kinds, kind_of = np.unique(p + 1j * q, return_inverse=True)  # few: of small counts
    q_terms = frontier.kl_terms(kinds.imag, kinds.real, 1 - weights, weights)
    p_terms = frontier.kl_terms(kinds.real, kinds.imag, weights, 1 - weights)
    terms, curves = np.stack([q_terms, p_terms]), []
    for draw in kind_of.reshape(p.shape):
        type_one, type_two = np.maximum(terms.take(draw, axis=-1).sum(axis=-1), 0.0)
        curves.append(frontier.curve_through(type_one, type_two, scaling_factor))
    return curves


def _random_splits(
    p_counts: Counts, q_counts: Counts, draws: int, rng: np.random.Generator, groups: GroupCounts | None = None
) -> tuple[Floats, Floats]:
    """Histograms of random splits of the pooled texts into two sets of the same sizes, (draws, k) each."""
    if groups is not None:
        return _grouped_splits(groups, len(p_counts), draws, rng)
    pooled, n_p, n_q = p_counts + q_counts, int(p_counts.sum()), int(q_counts.sum())
    drawn = rng.multivariate_hypergeometric(pooled, n_p, size=draws, method="marginals")
    return drawn / n_p, (pooled - drawn) / n_q


def permutation_test(
    p_labels: Counts,
    q_labels: Counts,
    num_buckets: int,
    permutations: int = 999,
    groups: GroupCounts | None = None,
    seed: int = 25,
) -> float:
    """p-value of "both sets are samples of one distribution", with the frontier integral as the statistic.

    (1 + number of random splits with an integral at least as large) / (permutations + 1). The buckets must not know
    which set a row came from: cluster shuffled rows.

    Args:
        p_labels, q_labels: bucket of each text, shape (n_p,) and (n_q,).
        num_buckets: k.
        permutations: random splits.
        groups: of these texts, in these buckets; the splits then keep the design, see `_grouped_splits`.
        seed: of the splits.

    Returns:
        In (0, 1]; small: the sets differ.
    """
    rng = np.random.default_rng(seed)
    p_counts, q_counts = (np.bincount(side, minlength=num_buckets) for side in (p_labels, q_labels))
    observed = frontier.frontier_integral_terms(p_counts / len(p_labels), q_counts / len(q_labels)).sum()
    exceeded = 0
    size = max(1, 2_000_000 // max(num_buckets, len(p_labels)))
    for draws in (min(size, permutations - start) for start in range(0, permutations, size)):
        splits = _random_splits(p_counts, q_counts, draws, rng, groups)
        exceeded += int((frontier.frontier_integral_terms(*splits).sum(axis=-1) >= observed - 1e-12).sum())
    return (1 + exceeded) / (permutations + 1)


def _grouped_splits(groups: GroupCounts, k: int, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Histograms of random splits that equal sets of this design allow, (draws, k) each.

    Texts of a prompt on both sides are divided anew within the prompt, as many to each side as before: with one on
    either side, the two are swapped or not. Groups with texts on one side alone change sides as a whole, where groups
    of either side have about the same sizes. Where they have not, a split would change the sizes too, and each group's
    deviation from its side's histogram has a random sign in its place (the wild bootstrap).

    Args:
        groups: texts of each group in each bucket. k: number of buckets.
    """
    on_both = (groups.p_sizes > 0) & (groups.q_sizes > 0)
    p = np.zeros((draws, k))
    pooled = np.bincount(groups.bucket, weights=groups.p + groups.q, minlength=k)
    inner = on_both[groups.group]
    if inner.any():
        p += _divided_within(groups, inner, k, draws, rng)
    alone = ~on_both
    if not alone.any():
        q = pooled - p
        return p / groups.p_sizes.sum(), q / groups.q_sizes.sum()
    sizes = [side[alone & (side > 0)] for side in (groups.p_sizes, groups.q_sizes)]
    # about the same mean size, and the same spread of it
    if on_both.any() or all(
        max(a, b) <= 1.25 * min(a, b)
        for a, b in ([side.mean() for side in sizes], [(side**2).mean() for side in sizes])
    ):
        p += _exchange(groups, np.flatnonzero(alone), k, draws, rng)
        q = pooled - p
        return p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    return _flip_signs(groups, k, draws, rng)


def _divided_within(groups: GroupCounts, cells: Bools, k: int, draws: int, rng: np.random.Generator) -> Floats:
    """Counts of P after the texts of each group were divided at random into as many of P and of Q as before."""
    times = (groups.p + groups.q)[cells]
    bucket, group = np.repeat(groups.bucket[cells], times), np.repeat(groups.group[cells], times)
    starts = np.flatnonzero(np.r_[True, np.diff(group) > 0])
    sizes = np.diff(np.r_[starts, len(group)])
    rank = np.arange(len(group)) - np.repeat(starts, sizes)
    to_p = rank < groups.p_sizes[group]
    drawn = np.empty((draws, k))
    for draw in range(draws):
        order = np.argsort(group + rng.random(len(group)), kind="stable")
        drawn[draw] = np.bincount(bucket[order[to_p]], minlength=k)
    return drawn


def _exchange(groups: GroupCounts, alone: Counts, k: int, draws: int, rng: np.random.Generator) -> Floats:
    """Counts of P after groups with texts on one side were dealt out anew, as many to either side as before."""
    number = int((groups.p_sizes[alone] > 0).sum())
    texts, drawn = groups.p + groups.q, np.empty((draws, k))
    for draw in range(draws):
        is_p = np.zeros(len(groups.codes), dtype=bool)
        is_p[rng.permutation(alone)[:number]] = True
        drawn[draw] = np.bincount(groups.bucket, weights=texts * is_p[groups.group], minlength=k)
    return drawn


def _flip_signs(groups: GroupCounts, k: int, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Histograms around the pooled one, with a random sign for the deviation of each group from its side's."""
    n_p, n_q = groups.p_sizes.sum(), groups.q_sizes.sum()
    pooled = np.bincount(groups.bucket, weights=groups.p + groups.q, minlength=k) / (n_p + n_q)
    histograms = []
    for counts, sizes, n in ((groups.p, groups.p_sizes, n_p), (groups.q, groups.q_sizes, n_q)):
        share = np.bincount(groups.bucket, weights=counts, minlength=k) / n
        number = int((sizes > 0).sum())
        scale = np.sqrt(number / max(number - 1, 1))
        shares = np.empty((draws, k))
        for draw in range(draws):
            sign = rng.integers(0, 2, len(sizes)) * 2.0 - 1.0
            moved = (
                np.bincount(groups.bucket, weights=counts * sign[groups.group], minlength=k) - (sign @ sizes) * share
            )
            shares[draw] = np.maximum(pooled + scale * moved / n, 0.0)
        histograms.append(shares / shares.sum(axis=1, keepdims=True))
    return histograms[0], histograms[1]
