"""The projection of many float32 rows of few columns by scikit-learn's PCA, whose rounding is the literature's.

With at least ten rows a column and at most 1000 columns (nearly every run with a sentence encoder) scikit-learn
diagonalises the covariance in the number format of its input. In float32, directions of nearly equal variance come out
up to 1e-4 away from the exact ones, and the buckets of the exact ones are others than the literature's.
"""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Integers, Rows
from mauve_metric.features.rows import MOST_NUMBERS_AT_ONCE
from mauve_metric.quantize.unit_rows import unit_rows_in_float32

_MOST_COLUMNS, _ROWS_A_COLUMN = 1000, 10  # scikit-learn's rule for its solver "covariance_eigh"
_ROUNDING_VARIANCE = 1e-5  # of unit rows: below, float32 leaves nothing but rounding in a covariance


def is_scikit_learns_choice(n: int, d: int, fitted: int = -1) -> bool:
    """Return whether scikit-learn's PCA would diagonalise the covariance of n rows of d columns that fit in memory.

    Args:
        n, d: the shape of all rows. fitted: how many of them the projection is fitted on; all unless between 1 and n.

    >>> is_scikit_learns_choice(3840, 384), is_scikit_learns_choice(3839, 384), is_scikit_learns_choice(20_000, 1280)
    (True, False, False)
    """
    rows = fitted if 0 < fitted < n else n
    return d <= _MOST_COLUMNS and rows >= _ROWS_A_COLUMN * d and n * d <= MOST_NUMBERS_AT_ONCE


def project(features: Rows, explained_variance: float, fitted: Integers | None = None) -> Rows | None:
    """Rows (n, d) scaled to length 1, on the leading principal axes, (n, r).

    Args:
        features: float32, finite.
        explained_variance: in (0, 1], which the kept axes reach by float32 shares.
        fitted: numbers of the rows that the axes are fitted on; None: all.

    Returns:
        None if all rows point the same way as far as float32 can tell, or float32 cannot tell the length of one.
    """
    unit = unit_rows_in_float32(features)
    if unit is None:
        return None
    from sklearn.decomposition import PCA

    with np.errstate(invalid="ignore"):  # the shares of no variance
        pca = PCA(svd_solver="covariance_eigh").fit(unit if fitted is None else unit[fitted])
    if pca.explained_variance_.sum() <= _ROUNDING_VARIANCE:
        return None
    projected: Rows = pca.transform(unit)  # with all components: with fewer, the sums round otherwise
    before = np.count_nonzero(np.cumsum(pca.explained_variance_ratio_) < explained_variance)
    return np.ascontiguousarray(projected[:, : before + 1] if explained_variance < 1 else projected)
