"""Rows scaled to Euclidean length 1."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Array, Floats, Rows
from mauve_metric.quantize.on_device import SAFE_SQUARE

_SAFE_IN_FLOAT32 = (1e-20, 1e30)  # squared lengths within which float32 scales rows as float64 does


def unit_rows(features: Array) -> Floats:
    """Rows scaled to Euclidean length 1 in float64, without overflow for large entries; zero rows stay zero.

    (n, d) → (n, d).
    """
    rows = np.array(features, dtype=np.float64)
    with np.errstate(over="ignore"):
        squared = np.einsum("ij,ij->i", rows, rows)
    extreme = np.nonzero(~((squared > SAFE_SQUARE) & (squared < 1 / SAFE_SQUARE)))[0]
    if len(extreme):  # too small or too large to square: bring the largest entry to 1 first
        largest = np.abs(rows[extreme]).max(axis=1, initial=0.0)
        rows[extreme] /= np.where(largest > 0, largest, 1.0)[:, None]
        squared[extreme] = np.maximum(np.square(rows[extreme]).sum(axis=1), 1.0)
    rows /= np.sqrt(squared)[:, None]
    return rows


def unit_rows_in_float32(features: Array) -> Rows | None:
    """The same in float32, operation by operation as scikit-learn; None if a row is too small or large to square so.

    Such a row has no length in scikit-learn, whose rounding is then nothing to follow.
    """
    rows = np.array(features, dtype=np.float32)
    with np.errstate(over="ignore"):
        squared = np.einsum("ij,ij->i", rows, rows)
    ordinary = (squared > _SAFE_IN_FLOAT32[0]) & (squared < _SAFE_IN_FLOAT32[1])
    if rows[~ordinary].any():
        return None
    rows /= np.sqrt(np.where(ordinary, squared, np.float32(1)))[:, None]
    return rows
