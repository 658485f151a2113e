"""log p/q at a point from how many of its nearest neighbours are of either side."""

from __future__ import annotations

import math

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.ratios.density_ratios import LogRatios, check_rows
from mauve_metric.runtime.optional_imports import import_faiss

_BLOCK_ROWS = 4096  # searched at once
_NOISE = 1e-4  # of the largest entry: above the rounding of distances, below what matters


def neighbour_log_ratios(p: Array, q: Array, k: int | None = None, seed: int = 25) -> LogRatios:
    """log p/q at every row of both sets from its k nearest others in the pool (Pillutla et al. 2023).

    t = log((a_P + ½)/(a_Q + ½)) + log(n'_Q/n'_P) with a_P, a_Q neighbours of either side and n' the rows of a side
    without the point itself. It has no error that falls with n in many dimensions, where neighbours are far away.

    Args:
        p, q: rows, shapes (n_p, d) and (n_q, d), at least 2 each. k: neighbours; None for √(n_p + n_q), rounded.
        seed: of a ten-thousandth of noise that decides between copies of a row, so that these favour neither side.

    Raises:
        ValueError: other shapes, one row, k outside 1 … n_p + n_q - 1.

    >>> t = neighbour_log_ratios(np.zeros((3, 1)), np.ones((3, 1)), k=2)
    >>> t.p.round(3).tolist()
    [2.015, 2.015, 2.015]
    """
    p, q = check_rows(p, q, 2)
    n_p, n = len(p), len(p) + len(q)
    k = min(round(math.sqrt(n)), n - 1) if k is None else k
    if not 1 <= k < n:
        raise ValueError(f"k must be from 1 to {n - 1}, one less than all rows, got {k}")
    of_p = (_neighbours(np.concatenate([p, q]), k, np.random.default_rng(seed)) < n_p).sum(axis=1)
    side = np.arange(n) < n_p
    others = np.log(n - n_p - ~side) - np.log(n_p - side)
    t: Floats = np.log(of_p + 0.5) - np.log(k - of_p + 0.5) + others
    return LogRatios(t[:n_p], t[n_p:])


def _neighbours(rows: Floats, k: int, rng: np.random.Generator) -> Integers:
    """Numbers of the k nearest other rows of each row, (n, k)."""
    faiss = import_faiss()
    centred = rows - rows.mean(axis=0)
    centred = centred / max(float(np.abs(centred).max()), np.finfo(np.float64).tiny)
    centred = (centred + _NOISE * rng.normal(size=rows.shape)).astype(np.float32)
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(centred)
    found = np.empty((len(rows), k), dtype=np.int64)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = centred[start : start + _BLOCK_ROWS]
        numbers = index.search(block, k + 1)[1]
        own = numbers == np.arange(start, start + len(block))[:, None]
        own[~own.any(axis=1), -1] = True  # not among them by rounding: one of the others less
        found[start : start + len(block)] = numbers[~own].reshape(len(block), k)
    return found
