"""Scores of random splits: the ceiling of equal sets, and the permutation test."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Counts, Floats
from mauve_metric.measures import frontier

CEILING_DRAWS = 40  # standard error of the ceiling: about .002 at 500 texts, .0008 at 5000


def null_scores(
    p_counts: Counts, q_counts: Counts, scaling_factor: float = 5.0, num_points: int = 25, seed: int = 25
) -> Floats:
    """The plug-in MAUVE of `CEILING_DRAWS` random splits of the pooled counts into sets of these sizes.

    Their mean is what to expect from two samples of one distribution on this partition, the ceiling: in [0, 1]; about
    .96 at ten texts a bucket, whatever the size. `num_points`: weights of the divergence curve, as for the score.
    """
    splits = zip(*_random_splits(p_counts, q_counts, CEILING_DRAWS, np.random.default_rng(seed)), strict=True)
    curves = (frontier.divergence_curve(p, q, scaling_factor, num_points) for p, q in splits)
    return np.array([frontier.curve_area(curve) for curve in curves])


def _random_splits(p_counts: Counts, q_counts: Counts, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Histograms of random splits of the pooled texts into two sets of the same sizes, (draws, k) each."""
    pooled, n_p, n_q = p_counts + q_counts, int(p_counts.sum()), int(q_counts.sum())
    drawn = rng.multivariate_hypergeometric(pooled, n_p, size=draws, method="marginals")
    return drawn / n_p, (pooled - drawn) / n_q


def permutation_test(
    p_labels: Counts,
    q_labels: Counts,
    num_buckets: int,
    permutations: int = 999,
    paired: bool = False,
    seed: int = 25,
) -> float:
    """p-value of "both sets are samples of one distribution", with the frontier integral as the statistic.

    (1 + number of random splits with an integral at least as large) / (permutations + 1). The buckets must not know
    which set a row came from: cluster shuffled rows.

    Args:
        p_labels, q_labels: bucket of each text, shape (n_p,) and (n_q,).
        num_buckets: k.
        permutations: random splits.
        paired: text i of both sets shares a prompt: swap within pairs only (n_p = n_q).
        seed: of the splits.

    Returns:
        In (0, 1]; small: the sets differ.

    Raises:
        ValueError: paired with unequal sizes.
    """
    if paired and len(p_labels) != len(q_labels):
        raise ValueError(f"paired=True needs sets of equal size, got {len(p_labels)} and {len(q_labels)}")
    order = np.lexsort((q_labels, p_labels)) if paired else slice(None)  # so that the order of the pairs has no part
    p_labels, q_labels = p_labels[order], q_labels[order]
    rng = np.random.default_rng(seed)
    p_counts, q_counts = _count(p_labels, num_buckets), _count(q_labels, num_buckets)
    observed = _integrals(p_counts / len(p_labels), q_counts / len(q_labels))
    exceeded = 0
    for draws in _blocks(permutations, max(1, 2_000_000 // max(num_buckets, len(p_labels)))):
        if paired:
            splits = _swapped_pairs(p_labels, q_labels, num_buckets, draws, rng)
        else:
            splits = _random_splits(p_counts, q_counts, draws, rng)
        exceeded += int((_integrals(*splits) >= observed - 1e-12).sum())
    return (1 + exceeded) / (permutations + 1)


def _integrals(p: Floats, q: Floats) -> Floats:
    total: Floats = frontier.frontier_integral_terms(p, q).sum(axis=-1)
    return total


def _blocks(total: int, size: int) -> list[int]:
    return [min(size, total - start) for start in range(0, total, size)]


def _swapped_pairs(
    p_labels: Counts, q_labels: Counts, num_buckets: int, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Histograms after swapping the two texts of each pair with probability ½, (draws, k) each."""
    n = len(p_labels)
    swap = rng.random((draws, n)) < 0.5
    p_counts = np.stack([_count(np.where(row, q_labels, p_labels), num_buckets) for row in swap])
    pooled = _count(p_labels, num_buckets) + _count(q_labels, num_buckets)
    return p_counts / n, (pooled - p_counts) / n


def _count(labels: Counts, num_buckets: int) -> Counts:
    return np.bincount(labels, minlength=num_buckets).astype(np.int64)
