"""Histograms → divergence curve, its area, the frontier integral.

P is the reference (human) distribution, Q the model's; r_λ = λp + (1-λ)q; natural logarithms; 0·log 0 = 0.
Every function takes probability vectors whose last axis is the bucket and works on stacks of them.
Liu et al. 2021 is "Divergence Frontiers for Generative Models"; Pillutla et al. 2021 and 2023 are the MAUVE papers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Floats

_GRID_END = 1e-6  # the literature's weights run from 1e-6 to 1 - 1e-6
_MOST_TERMS = 2**20  # numbers in one temporary array of the quadrature, 8 MiB


def check_pair(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    """Both as float64, checked to be probability vectors over the same buckets."""
    p_array, q_array = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if p_array.shape != q_array.shape or p_array.ndim == 0:
        raise ValueError(
            f"p and q must have the same number of buckets, got shapes {p_array.shape} and {q_array.shape}"
        )
    for name, array in (("p", p_array), ("q", q_array)):
        if not np.isfinite(array).all() or (array < 0).any() or (abs(array.sum(axis=-1) - 1) > 1e-6).any():
            raise ValueError(f"{name} must hold non-negative probabilities that sum to 1, got sum {array.sum(axis=-1)}")
    return p_array, q_array


def kl_terms(a: Floats, b: Floats, weight_a: Floats, weight_b: Floats) -> Floats:
    """Contribution of each bucket to KL(a ‖ weight_a·a + weight_b·b), for every weight: (..., k), (m,) → (..., m, k).

    Each term is -a·log(r/a); log1p of the relative change where that is below one half, which keeps the full
    precision when a and b nearly agree. The weights add up to 1. +∞ where a > 0 meets a mixture that underflows to 0.
    """
    a, b = a[..., None, :], b[..., None, :]
    weight_a, weight_b = weight_a[:, None], weight_b[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        change = weight_b * (b - a) / a
        far = np.log(weight_a * a + weight_b * b) - np.log(a)
        log_ratio = np.where(np.abs(change) < 0.5, np.log1p(change), far)
        return np.where(a > 0, -a * log_ratio, 0.0)


def kl_slope(a: Floats, b: Floats, u: Floats) -> Floats:
    """Σ a(a-b)/r with r = (1-u)a + ub, the derivative of KL(a‖r) in u: (..., k) and (m,) → (..., m)."""
    a, b, u = a[..., None, :], b[..., None, :], u[:, None]
    r = (1 - u) * a + u * b
    slope: Floats = np.divide(a * (a - b), r, out=np.zeros(np.broadcast_shapes(r.shape)), where=r > 0).sum(axis=-1)
    return slope


def frontier(p: ArrayLike, q: ArrayLike, weights: ArrayLike) -> tuple[Floats, Floats]:
    """The two soft errors KL(q‖r_λ) and KL(p‖r_λ) along the mixtures (Pillutla et al. 2021, §2).

    Args:
        p, q: probabilities, shape (..., k).
        weights: λ in [0, 1], shape (m,).

    Returns:
        Type I error KL(q‖r_λ) and Type II error KL(p‖r_λ) in nats, each (..., m), at least 0 and lower is better;
        +∞ only where λ is 0 or 1 and the supports differ.

    >>> frontier([0.5, 0.5], [1.0, 0.0], [0.5])[0].round(6)
    array([0.287682])
    """
    p, q = check_pair(p, q)
    lam = np.asarray(weights, dtype=np.float64)
    q_error, p_error = kl_terms(q, p, 1 - lam, lam).sum(axis=-1), kl_terms(p, q, lam, 1 - lam).sum(axis=-1)
    return np.maximum(q_error, 0.0), np.maximum(p_error, 0.0)


def jensen_shannon(p: ArrayLike, q: ArrayLike) -> float:
    """½KL(p‖m) + ½KL(q‖m) with m = ½(p + q), in nats (Lin 1991), for probabilities (k,).

    Returns:
        In [0, ln 2], lower is better.

    >>> round(jensen_shannon([0.5, 0.5], [1.0, 0.0]), 6)
    0.215762
    """
    type_one, type_two = frontier(p, q, [0.5])
    return float(type_one[0] + type_two[0]) / 2


def divergence_curve(p: ArrayLike, q: ArrayLike, scaling_factor: float = 5.0, num_points: int = 25) -> Floats:
    """The divergence curve of Pillutla et al. 2021, §3, on the literature's grid of mixture weights.

    Args:
        p, q: probabilities, shape (k,).
        scaling_factor: c > 0.
        num_points: number m of weights, evenly spaced from 1e-6 to 1 - 1e-6.

    Returns:
        Shape (m + 2, 2): exp(-c·KL(q‖r_λ)) and exp(-c·KL(p‖r_λ)), both in [0, 1] and higher is better, λ rising,
        between the end points (1, 0) and (0, 1).

    >>> divergence_curve([0.5, 0.5], [0.5, 0.5], num_points=2).tolist()
    [[1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]
    """
    return curve_through(*frontier(p, q, mixture_weights(num_points)), scaling_factor)


def mixture_weights(num_points: int) -> Floats:
    """The literature's grid of λ: `num_points` weights, evenly spaced from 1e-6 to 1 - 1e-6."""
    return np.linspace(_GRID_END, 1 - _GRID_END, num_points)


def curve_through(type_one: Floats, type_two: Floats, scaling_factor: float) -> Floats:
    """The divergence curve of the two soft errors along the mixtures, (m,) each → (m + 2, 2)."""
    points = np.exp(-scaling_factor * np.stack([type_one, type_two], axis=-1))
    return np.concatenate([[[1.0, 0.0]], points, [[0.0, 1.0]]])


def as_frontier(type_one: Floats, type_two: Floats) -> tuple[Floats, Floats]:
    """Estimates of the two soft errors along rising λ as a frontier must be: at least 0, the first rising, the second
    falling, each the mean of the lowest such curve above the values and the highest one below them.

    >>> [part.tolist() for part in as_frontier(np.array([-1.0, 3.0, 1.0]), np.array([2.0, 1.0, 0.0]))]
    [[0.0, 2.0, 2.0], [2.0, 1.0, 0.0]]
    """
    averaged = []
    for values in (np.maximum(type_one, 0.0), np.maximum(type_two, 0.0)[::-1]):
        averaged.append((np.maximum.accumulate(values) + np.minimum.accumulate(values[::-1])[::-1]) / 2)
    return averaged[0], averaged[1][::-1]


def curve_area(curve: ArrayLike) -> float:
    """Area under a divergence curve in [0, 1], higher is better: MAUVE (Pillutla et al. 2021, §3).

    The points are joined in the order in which they come, λ rising, so that ties need no sorting: two equal
    histograms give exactly 1.

    >>> curve_area(divergence_curve([0.5, 0.5], [1.0, 0.0])).__round__(10)
    0.2781137254
    """
    points = np.asarray(curve, dtype=np.float64)
    widths = points[:-1, 0] - points[1:, 0]
    heights = (points[1:, 1] + points[:-1, 1]) / 2
    return float(np.clip(np.sum(widths * heights), 0.0, 1.0))


def exact_area(p: ArrayLike, q: ArrayLike, scaling_factor: float = 5.0) -> float:
    """MAUVE with every mixture weight: the area under the continuous divergence curve.

    A = x(½)y(½) + c∫₀^½ E_p(u) Σ p(p-q)/r du + the same with p and q swapped, r = (1-u)p + uq and E = xy, by
    Gauss–Legendre quadrature on panels that halve towards u = 0. The error is below 1e-12 for c up to 5, and the
    number of nodes grows with c.

    Args:
        p, q: probabilities, shape (k,).
        scaling_factor: c > 0.

    Returns:
        A number from `mauve_floor(c)` (no common bucket) to 1 (p = q), higher is better.

    >>> round(exact_area([0.5, 0.5], [0.9, 0.1]), 10)
    0.6712722986
    """
    p, q = check_pair(p, q)
    if np.array_equal(p, q):
        return 1.0
    num_nodes = 12 + math.ceil(2 * scaling_factor / 5)
    area = float(area_by_quadrature(p, q, scaling_factor, num_nodes=num_nodes, num_panels=44))
    return min(max(area, mauve_floor(scaling_factor)), 1.0)


def area_by_quadrature(p: Floats, q: Floats, scaling_factor: float, num_nodes: int, num_panels: int) -> Floats:
    """The exact area of a stack of histogram pairs, (..., k) → (...), without the checks of `exact_area`.

    `num_nodes` Gauss–Legendre nodes on each of `num_panels` + 1 panels; 4 nodes on 7 panels give six digits.
    """

    def log_point(a: Floats, b: Floats, u: Floats) -> Floats:
        """The logarithm of xy where b has the weight u."""
        to_both = kl_terms(a, b, 1 - u, u).sum(axis=-1), kl_terms(b, a, u, 1 - u).sum(axis=-1)
        exponent: Floats = -scaling_factor * (np.maximum(to_both[0], 0.0) + np.maximum(to_both[1], 0.0))
        return exponent

    nodes, node_weights = quadrature(num_nodes, num_panels)
    total: Floats = np.exp(log_point(p, q, np.array([0.5]))[..., 0])
    step = max(1, _MOST_TERMS // max(p.size, 1))  # nodes at a time: a large c needs more than fit in memory at once
    for start in range(0, len(nodes), step):
        u, w = nodes[start : start + step], node_weights[start : start + step]
        for a, b in ((p, q), (q, p)):
            total = total + scaling_factor * ((np.exp(log_point(a, b, u)) * kl_slope(a, b, u)) @ w)
    return total


def quadrature(num_nodes: int, num_panels: int) -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights on [0, ½], in panels [¼,½], [⅛,¼], … and a last one that reaches 0."""
    x, w = np.polynomial.legendre.leggauss(num_nodes)
    ends = np.append(0.5 ** np.arange(1, num_panels + 2), 0.0)
    middle, radius = (ends[:-1] + ends[1:]) / 2, (ends[:-1] - ends[1:]) / 2
    return (middle[:, None] + radius[:, None] * x).ravel(), (radius[:, None] * w).ravel()


def mauve_floor(scaling_factor: float = 5.0) -> float:
    """The exact area of two distributions without a common bucket, Γ(1+c)²/Γ(1+2c): 1/C(2c, c) for integer c.

    >>> round(1 / mauve_floor(5))
    252
    """
    return math.exp(2 * math.lgamma(1 + scaling_factor) - math.lgamma(1 + 2 * scaling_factor))


def frontier_integral(p: ArrayLike, q: ArrayLike) -> float:
    """Average linear cost along the frontier, FI = 2∫₀¹ [λKL(p‖r_λ) + (1-λ)KL(q‖r_λ)] dλ (Liu et al. 2021, §3).

    Closed form Σ (p+q)/2 - pq·(ln p - ln q)/(p - q), with a series where p ≈ q.

    Returns:
        A number from 0 (p = q) to 1 (no common bucket), lower is better.

    >>> round(frontier_integral([0.5, 0.5], [1.0, 0.0]), 6)
    0.306853
    """
    p, q = check_pair(p, q)
    return float(np.clip(frontier_integral_terms(p, q).sum(), 0.0, 1.0))


def frontier_integral_terms(p: Floats, q: Floats) -> Floats:
    """Contribution of each bucket to the frontier integral; same shape as p and q."""
    total = p + q
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(total > 0, (p - q) / total, 0.0)
        plain = 1 - (1 - u * u) * np.arctanh(u) / u
    series = sum(2 * u ** (2 * j) / ((2 * j - 1) * (2 * j + 1)) for j in range(1, 10))
    inner = np.where(np.abs(u) < 0.1, series, np.where(np.abs(u) == 1, 1.0, plain))
    return np.asarray(total / 2 * inner, dtype=np.float64)
