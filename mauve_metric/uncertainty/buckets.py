"""Buckets of the gap that could be noise, and buckets that another clustering finds again."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Counts, Floats
from mauve_metric.measures.tails import positive


def noise_p_values(p_counts: Counts, q_counts: Counts) -> Floats:
    """p-value of "this bucket holds the same share of both sets", corrected for the number of buckets.

    The exact two-sided binomial test of P's texts among the bucket's, then Holm over the filled buckets.

    Args:
        p_counts, q_counts: shape (k,).

    Returns:
        Shape (k,), in (0, 1]; 1 for empty buckets.

    >>> noise_p_values(np.array([5, 10]), np.array([5, 10])).tolist()
    [1.0, 1.0]
    """
    from scipy.stats import binomtest

    total, share = p_counts + q_counts, float(p_counts.sum() / (p_counts.sum() + q_counts.sum()))
    values = np.ones(len(total))
    for bucket in np.nonzero(total)[0]:
        values[bucket] = positive(binomtest(int(p_counts[bucket]), int(total[bucket]), share).pvalue)
    values[total > 0] = holm(values[total > 0])
    return values


def holm(p_values: ArrayLike) -> Floats:
    """p-values corrected for their number, so that rejecting those below α errs with probability α at most (Holm 1979).

    (m,) → (m,), in [0, 1].

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate((len(values) - np.arange(len(values))) * values[order])
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def best_overlaps(labels: Counts, other_labels: Counts, num_buckets: int) -> tuple[Counts, Floats]:
    """For each bucket of a clustering the bucket of another one that it shares most of its texts with.

    Args:
        labels, other_labels: buckets of the same texts, shape (n,).
        num_buckets: k of both.

    Returns:
        The other bucket and the Jaccard index |A∩B| / |A∪B|, in [0, 1], shape (k,) each.

    >>> best_overlaps(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]), 2)[0].tolist()
    [1, 0]
    """
    joint = np.bincount(labels * num_buckets + other_labels, minlength=num_buckets**2)
    joint = joint.reshape(num_buckets, num_buckets)
    either = joint.sum(axis=1)[:, None] + joint.sum(axis=0)[None, :] - joint
    jaccard = joint / np.maximum(either, 1)
    best = jaccard.argmax(axis=1)
    return best, jaccard[np.arange(num_buckets), best]
