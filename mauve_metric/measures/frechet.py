"""The Fréchet distance of two sets of features."""

from __future__ import annotations

import math

import numpy as np

from mauve_metric.arrays import Array, Floats


def frechet_distance(p: Array, q: Array) -> float:
    """Fréchet distance of the Gaussians fitted to two sets (Heusel et al. 2017; on text: Semeniuta et al. 2018).

    ‖μ_P - μ_Q‖² + tr Σ_P + tr Σ_Q - 2 tr((Σ_P Σ_Q)^½), the last trace as the nuclear norm of R_P R_Qᵀ with R from the
    QR decomposition of the centred rows over √(n-1): stable for any rank, no matrix square root. Both sets are brought
    to entries of about 1 by a power of 2 first, so that no square overflows on the way.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d), at least 2 rows each.

    Returns:
        At least 0, unbounded, in squared units of the features; lower is better. Biased: too high by about a constant
        over the number of rows (Chong and Forsyth 2020, §3), for equal sets too, so that only sets of one size compare;
        `frechet_infinity` takes most of it off.

    Raises:
        ValueError: a set has one row, or the distance is larger than any number of float64.

    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(frechet_distance(rows, rows + [3.0, 0.0, 4.0]), 6)
    25.0
    """
    for name, rows in (("p", p), ("q", q)):
        if len(rows) < 2:
            raise ValueError(f"{name} must have at least 2 rows for a covariance, got {len(rows)}")
    exponent = max(_exponent(p), _exponent(q))
    scaled = [np.ldexp(np.asarray(rows, dtype=np.float64), -exponent) for rows in (p, q)]
    means = [rows.mean(axis=0) for rows in scaled]
    # RᵀR is the covariance
    factors: list[Floats] = [
        np.asarray(np.linalg.qr((rows - mean) / np.sqrt(len(rows) - 1), mode="r"))
        for rows, mean in zip(scaled, means, strict=True)
    ]
    common = np.linalg.svd(factors[0] @ factors[1].T, compute_uv=False).sum()
    traces = sum(float(np.square(factor).sum()) for factor in factors)
    distance = max(float(np.square(means[0] - means[1]).sum() + traces - 2 * common), 0.0)
    try:
        return math.ldexp(distance, 2 * exponent)
    except OverflowError:
        raise ValueError(
            "frechet_distance is in squared units of the features and cannot be given as a number for features as "
            f"large as 2^{exponent}: divide both by a common factor"
        ) from None


def _exponent(rows: Array) -> int:
    """The power of 2 above the largest entry; 0 for zeros."""
    largest = max(abs(float(rows.max())), abs(float(rows.min())))
    return math.frexp(largest)[1]
