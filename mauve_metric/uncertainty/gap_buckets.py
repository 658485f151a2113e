"""Buckets of the gap 1 - MAUVE: the share of each, which could be noise, and which another clustering finds again."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Counts, Floats
from mauve_metric.measures.frontier import mixture_weights
from mauve_metric.measures.p_values import holm, positive


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


_NODES = 24  # Gauss–Legendre nodes on a panel: the sum is right to 1e-14
_PANEL = 1.0  # widest panel of scaling constants: divergences are below 14, so that exp(-14c') is smooth on it


def contributions(p: ArrayLike, q: ArrayLike, scaling_factor: float = 5.0, num_points: int = 25) -> Floats:
    """Contribution of each bucket to the gap 1 - MAUVE on the literature's grid of weights; the sum is the gap.

    With c' rising from 0 to c the area under the curve (x_j, y_j) = (exp(-c'·KL(q‖r_j)), exp(-c'·KL(p‖r_j))) falls from
    1 to MAUVE, at every moment by a sum over the buckets:

        gap_i = ∫₀^c Σ_j ½[(y_(j+1) - y_(j-1))·x_j·t(q_i, r_ij) + (x_(j-1) - x_(j+1))·y_j·t(p_i, r_ij)] dc'

    with t(a, r) = a·log(a/r) - a + r ≥ 0, whose sum over the buckets is KL(a‖r). This is the Aumann–Shapley value of
    each bucket (Aumann and Shapley 1974) along the scaling constant.

    Args:
        p, q: probabilities, shape (k,).
        scaling_factor: c > 0.
        num_points: weights of the curve.

    Returns:
        Shape (k,), at least 0; 0 where p_i = q_i; the buckets' order does not matter; swapping p and q changes nothing.
        The sum is 1 - `curve_area(divergence_curve(p, q, …))` up to rounding.

    >>> contributions([0.5, 0.5], [0.5, 0.5]).tolist()
    [0.0, 0.0]
    >>> round(1 - float(contributions([0.5, 0.5], [1.0, 0.0]).sum()), 10)
    0.2781137254
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    weights = mixture_weights(num_points)[:, None]
    q_terms, p_terms = _excess(q, p - q, weights), _excess(p, q - p, 1 - weights)
    type_one, type_two = q_terms.sum(axis=1), p_terms.sum(axis=1)
    nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)
    panels = math.ceil(scaling_factor / _PANEL)
    width = scaling_factor / panels
    by_q, by_p = np.zeros(num_points), np.zeros(num_points)  # ∫₀^c of minus the area's derivative by each divergence
    for panel in range(panels):
        c = width * (panel + (nodes[:, None] + 1) / 2)
        x, y = np.exp(-c * type_one), np.exp(-c * type_two)
        ends = np.ones((len(c), 1))
        rises = np.diff(np.hstack([0 * ends, y, ends]))
        falls = -np.diff(np.hstack([ends, x, 0 * ends]))
        by_q += width / 2 * node_weights @ ((rises[:, 1:] + rises[:, :-1]) / 2 * x)
        by_p += width / 2 * node_weights @ ((falls[:, 1:] + falls[:, :-1]) / 2 * y)
    total: Floats = by_q @ q_terms + by_p @ p_terms
    return total


def _excess(a: Floats, change: Floats, weight: Floats) -> Floats:
    """t(a, r) with r = a + weight·change: (k,) and (m, 1) → (m, k), at least 0, exact where r is close to a."""
    with np.errstate(divide="ignore", invalid="ignore"):
        u = weight * change / a  # r/a - 1
        relative = np.where(np.abs(u) < 1e-4, u * u * (0.5 - u / 3 + u * u / 4), u - np.log1p(u))
    terms: Floats = np.where(a > 0, a * relative, weight * change)
    return np.maximum(terms, 0.0)
