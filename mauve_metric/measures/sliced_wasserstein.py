"""Sliced Wasserstein distance: how far mass has to move, seen along random directions."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.runtime.checks import check_least, check_sets

_BLOCK_ELEMENTS = 4_000_000  # projections held at once, 32 MB a set


def sliced_wasserstein(p: Array, q: Array, *, directions: int = 512, seed: int = 25) -> float:
    """Mean squared Wasserstein-2 distance of two sets' projections on random directions (Bonneel et al. 2015, §3).

    mean over unit vectors u of ∫₀¹ (F_u⁻¹(t) - G_u⁻¹(t))² dt, with F_u⁻¹, G_u⁻¹ the quantile functions of p·u and q·u:
    steps, so that the integral is an exact sum for sets of any sizes. For Gaussians that differ by a shift v it is
    ‖v‖²/d.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d), at least 1 row each.
        directions: how many, at least 1; the mean is right to about a share √(2/directions) of itself at worst.
        seed: of the directions.

    Returns:
        At least 0, unbounded, in squared units of the features; 0 for the same rows in any order; lower is better. For
        different draws of one distribution it is above 0, by about their squared standard errors.

    Raises:
        ValueError: a set without rows, no common d, no direction, features too large for float64.

    >>> sliced_wasserstein(np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]]))
    4.0
    """
    check_sets({"p": p, "q": q})
    check_least("directions", directions)
    vectors = np.random.default_rng(seed).normal(size=(directions, p.shape[1]))
    vectors /= np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    steps = _steps(len(p), len(q))
    size = max(1, _BLOCK_ELEMENTS // max(len(p), len(q)))
    with np.errstate(over="ignore", invalid="ignore"):
        value = sum(_sum_of_costs(p, q, vectors[start : start + size], steps) for start in range(0, directions, size))
    if not np.isfinite(value):
        raise ValueError("p and q must be finite, and not too large for sums of their products in float64")
    return value / directions


def _steps(n: int, m: int) -> tuple[Integers, Integers, Floats]:
    """Steps of either quantile function: the place among the sorted n, among the sorted m, and the step's width."""
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    widths = np.diff(ends, prepend=0)
    starts = ends - widths
    return starts // m, starts // n, widths / (n * m)


def _sum_of_costs(p: Array, q: Array, vectors: Floats, steps: tuple[Integers, Integers, Floats]) -> float:
    """The squared distances along these directions, summed."""
    of_p, of_q, widths = steps
    along_p, along_q = (np.sort(vectors @ rows.T.astype(np.float64), axis=1) for rows in (p, q))
    return float((np.square(along_p[:, of_p] - along_q[:, of_q]) @ widths).sum())
