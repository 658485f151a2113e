"""Distances between two sets of features that need no buckets, and the number of unlike texts that one set is worth."""

from __future__ import annotations

import math

import numpy as np

from mauve_metric.apps.describing.distances.checked_sets import check_sets
from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.frechet import frechet_distance
from mauve_metric.runtime.checks import check_least

_BLOCK_ELEMENTS = 4_000_000  # projections held at once, 32 MB a set


def frechet_infinity(p: Array, q: Array, *, halvings: int = 2, seed: int = 25) -> float:
    """The Fréchet distance extrapolated to infinitely many rows (FD∞, Chong and Forsyth 2020, §4).

    The bias falls as 1/n, so that the straight line in 1/n through the distance of all rows and that of halves meets
    1/n = 0 at 2·FD(all) - mean FD(half of p, half of q). The halves are drawn at random, both of each division used.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d), at least 4 rows each.
        halvings: how many divisions, at least 1. seed: of them.

    Returns:
        Unbounded, in squared units of the features; about 0 for equal sets and then as often below it; lower is better.
        The bias is nearly gone from 2d rows a set on; with fewer the line bends, and what is left is too high, though
        less so than `frechet_distance`. No interval: the halves share their rows with the whole. The same rows on both
        sides come out below 0, since their halves differ.

    Raises:
        ValueError: a set has fewer than 4 rows, or the distance is larger than any number of float64.

    >>> rows = np.random.default_rng(0).normal(size=(400, 20))
    >>> round(frechet_distance(rows[:200], rows[200:]), 2), round(frechet_infinity(rows[:200], rows[200:]), 2)
    (1.55, 0.29)
    """
    for name, rows in (("p", p), ("q", q)):
        if len(rows) < 4:
            raise ValueError(f"{name} must have at least 4 rows for covariances of its halves, got {len(rows)}")
    check_least("halvings", halvings)
    rng = np.random.default_rng(seed)
    of_halves = []
    for _ in range(halvings):
        parts = (np.array_split(rng.permutation(len(rows)), 2) for rows in (p, q))
        of_halves += [frechet_distance(p[some], q[other]) for some, other in zip(*parts, strict=True)]
    return 2 * frechet_distance(p, q) - sum(of_halves) / len(of_halves)


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
    of_p, of_q, widths = _steps(len(p), len(q))
    size = max(1, _BLOCK_ELEMENTS // max(len(p), len(q)))
    with np.errstate(over="ignore", invalid="ignore"):
        value = 0.0
        for start in range(0, directions, size):
            some = vectors[start : start + size]
            along_p, along_q = (np.sort(some @ rows.T.astype(np.float64), axis=1) for rows in (p, q))
            value += float((np.square(along_p[:, of_p] - along_q[:, of_q]) @ widths).sum())
    if not np.isfinite(value):
        raise ValueError("p and q must be finite, and not too large for sums of their products in float64")
    return value / directions


def _steps(n: int, m: int) -> tuple[Integers, Integers, Floats]:
    """Steps of either quantile function: the place among the sorted n, among the sorted m, and the step's width."""
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    widths = np.diff(ends, prepend=0)
    starts = ends - widths
    return starts // m, starts // n, widths / (n * m)


def vendi_score(features: Array) -> float:
    """The effective number of different rows of a set (Friedman and Dieng 2023).

    exp(-Σ λ log λ) with λ the eigenvalues of K/n, K_ij the cosine of rows i and j; they are taken of XXᵀ/n or XᵀX/n,
    whichever is smaller.

    Args:
        features: of one set, shape (n, d), at least 1 row, none of them 0.

    Returns:
        Between 1 (all rows in one direction) and min(n, d) (orthogonal ones); grows with n, so that only sets of
        one size compare; the closer to the human texts' value the better.

    Raises:
        ValueError: no row, a row of zeros.

    >>> round(vendi_score(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0]])), 12)
    2.0
    """
    if features.ndim != 2 or len(features) < 1:
        raise ValueError(f"features must have at least 1 row, got an array of shape {features.shape}")
    largest = np.abs(features).max(axis=1, keepdims=True).astype(np.float64)
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        raise ValueError(f"features must have no row of zeros, which has no direction, got one as row {zero[0]}")
    rows = features / largest  # so that no square overflows
    rows = rows / np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    n, d = rows.shape
    values = np.linalg.eigvalsh(rows @ rows.T if n <= d else rows.T @ rows) / n
    values = values[values > np.finfo(np.float64).eps * max(n, d)]  # those below are rounding of 0; the sum is 1
    values = values / values.sum()
    return math.exp(-float(values @ np.log(values)))


def coherence(features: Array, prompt_features: Array) -> Floats:
    """Cosine of each text's features and its prompt's, (n,), in [-1, 1]; the human value is best.

    Args:
        features, prompt_features: (n, d) each.

    Raises:
        ValueError: another shape, or a row of zeros.

    Su et al. 2022, §4.2; Li et al. 2023, §5.2.

    >>> coherence(np.array([[1.0, 0.0], [3.0, 4.0]]), np.array([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 0.8]
    """
    f, g = (np.asarray(rows, dtype=np.float64) for rows in (features, prompt_features))
    if f.ndim != 2 or f.shape != g.shape:
        raise ValueError(f"features and prompt_features must have one shape (n, d), got {f.shape} and {g.shape}")
    lengths = np.linalg.norm(f, axis=1) * np.linalg.norm(g, axis=1)
    if not lengths.all():
        raise ValueError("a text or a prompt has features of zeros, which have no direction")
    cosines: Floats = np.clip((f * g).sum(axis=1) / lengths, -1.0, 1.0)
    return cosines
