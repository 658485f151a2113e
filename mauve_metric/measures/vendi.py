"""The Vendi score: how many different texts a set is worth."""

from __future__ import annotations

import math

import numpy as np

from mauve_metric.arrays import Array


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
