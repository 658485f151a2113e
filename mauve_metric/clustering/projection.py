"""Unit rows and their principal components: a common projection of all sets.

The stages follow Pillutla et al. 2021, §4 and the defaults of mauve-text 0.4.0, whose numbers they reproduce: where
scikit-learn's PCA, which mauve-text calls, finds the directions with an error that shows (many float32 rows of few
columns), they are found by the same operations here too, elsewhere in float64.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from mauve_metric.arrays import Array, FeatureRows, Features, Floats, Integers, Rows
from mauve_metric.clustering import on_device
from mauve_metric.clustering.on_device import SAFE_SQUARE
from mauve_metric.features.row_blocks import MOST_NUMBERS_AT_ONCE, ArrayRows, as_rows
from mauve_metric.runtime.tensors import ProjectedRows, TensorRows, as_tensor, is_tensor

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)


_MOST_COLUMNS, _ROWS_A_COLUMN = 1000, 10  # scikit-learn's rule for its solver "covariance_eigh"
_SAFE_IN_FLOAT32 = (1e-20, 1e30)  # squared lengths within which float32 scales rows as float64 does
_ROUNDING_VARIANCE = 1e-24  # per row: unit rows that differ by less than 1e-12 are the same direction


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


class Projection(NamedTuple):
    """A fitted projection: unit rows minus `mean` (d,), onto `directions` (d, r)."""

    mean: Floats
    directions: Floats

    def apply(self, rows: Array) -> Rows:
        """(b, d) → (b, r); in float64, so that equal rows stay equal."""
        unit = unit_rows(rows)
        unit -= self.mean
        return (unit @ self.directions).astype(np.float32)

    def apply_all(self, rows: FeatureRows) -> Rows:
        """The same block by block."""
        projected = np.empty((rows.shape[0], self.directions.shape[1]), dtype=np.float32)
        done = 0
        for block in rows.blocks():
            projected[done : done + len(block)] = self.apply(block)
            done += len(block)
        return projected


@overload
def project(rows: Features, explained_variance: float = ..., pca_max_data: int = ..., seed: int = ...) -> Rows: ...
@overload
def project(
    rows: torch.Tensor, explained_variance: float = ..., pca_max_data: int = ..., seed: int = ...
) -> torch.Tensor: ...
def project(
    rows: Features | torch.Tensor, explained_variance: float = 0.9, pca_max_data: int = -1, seed: int = 25
) -> ProjectedRows:
    """Unit length for each row, then centred PCA without whitening, fitted on all rows together.

    The smallest number of components is kept whose cumulative share of the variance is at least
    `explained_variance`; a share within 1e-9 of it counts as reached, so that the choice does not depend on the
    last bits (but where scikit-learn's float32 shares decide). With 1 every component is kept.

    Args:
        rows: features of both sets stacked, shape (n, d), finite: an array, rows to read in blocks, or a torch tensor,
            which stays on its device.
        explained_variance: in (0, 1].
        pca_max_data: fit on this many rows drawn without replacement; -1 or n and above: on all.
        seed: seed of that draw.

    Returns:
        float32, shape (n, r) with 1 ≤ r ≤ min(n, d): a tensor of a tensor, else an array.
    """
    if not is_tensor(rows):
        rows = as_rows(rows)
        rounded = _rounded_as_scikit_learn(rows, explained_variance, pca_max_data, seed)
        return (
            fit_projection(rows, explained_variance, pca_max_data, seed).apply_all(rows) if rounded is None else rounded
        )
    rounded = _rounded_as_scikit_learn(TensorRows("rows", rows), explained_variance, pca_max_data, seed)
    if rounded is not None:
        return as_tensor(rounded, rows.device)
    fitted = rows[_fitted_on(len(rows), pca_max_data, seed)] if 0 < pca_max_data < len(rows) else rows
    mean, variances, directions = on_device.principal_axes(fitted)
    projection = _projection(mean, variances, lambda kept: directions[:, :kept], len(fitted), explained_variance)
    return on_device.apply(projection.mean, projection.directions, rows)


_FLOAT32_ROUNDING = 1e-5  # of unit rows: below, float32 leaves nothing but rounding in a covariance


def is_scikit_learns_choice(n: int, d: int, fitted: int = -1) -> bool:
    """Return whether scikit-learn's PCA would diagonalise the covariance of n rows of d columns that fit in memory.

    Args:
        n, d: the shape of all rows. fitted: how many of them the projection is fitted on; all unless between 1 and n.

    >>> is_scikit_learns_choice(3840, 384), is_scikit_learns_choice(3839, 384), is_scikit_learns_choice(20_000, 1280)
    (True, False, False)
    """
    rows = fitted if 0 < fitted < n else n
    return d <= _MOST_COLUMNS and rows >= _ROWS_A_COLUMN * d and n * d <= MOST_NUMBERS_AT_ONCE


def _rounded_as_scikit_learn(rows: FeatureRows, explained_variance: float, pca_max_data: int, seed: int) -> Rows | None:
    """The projection by scikit-learn's covariance solver, on the CPU, whose float32 shares choose the number of axes.

    None where it does not apply: other shapes (see `is_scikit_learns_choice`), float64, and rows that all point the
    same way, or have no length, as far as float32 can tell.
    """
    n, d = rows.shape
    if not is_scikit_learns_choice(n, d, pca_max_data):
        return None
    unit, kinds, done = np.empty((n, d), dtype=np.float32), set(), 0
    for block in rows.blocks():
        kinds.add(block.dtype)
        of_block = unit_rows_in_float32(block) if np.can_cast(block.dtype, np.float32) else None
        if of_block is None:
            return None
        unit[done : done + len(block)] = of_block
        done += len(block)
    if np.result_type(*kinds) != np.float32:
        return None
    fitted = unit[_fitted_on(n, pca_max_data, seed)] if 0 < pca_max_data < n else unit
    mean, axes, variances = _axes_of_covariance(fitted)
    if variances.sum() <= _FLOAT32_ROUNDING:
        return None
    projected: Rows = unit @ axes  # with all axes: with fewer, the sums round otherwise
    del unit, fitted  # as large as what follows
    projected -= mean[None] @ axes
    before = np.count_nonzero(np.cumsum(variances / variances.sum()) < explained_variance)
    return np.ascontiguousarray(projected[:, : before + 1] if explained_variance < 1 else projected)


def _axes_of_covariance(rows: Rows) -> tuple[Rows, Rows, Rows]:
    """The mean (d,) of rows, their principal axes as columns (d, d), and the variances along these, falling.

    Operation by operation as by scikit-learn's solver "covariance_eigh", whose import takes more than a second.
    """
    n, mean = len(rows), rows.mean(axis=0)
    covariance = rows.T @ rows
    covariance -= n * mean[:, None] * mean
    covariance /= n - 1
    variances, axes = (values[..., ::-1] for values in np.linalg.eigh(covariance))
    variances[variances < 0] = 0
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])
    return mean, np.ascontiguousarray(axes), variances


def fit_projection(
    rows: FeatureRows, explained_variance: float = 0.9, pca_max_data: int = -1, seed: int = 25
) -> Projection:
    """The projection of `project` in float64, from one pass; memory for a block of rows and two matrices (d, d)."""
    n, d = rows.shape
    if 0 < pca_max_data < n:
        rows, n = ArrayRows(rows.take(_fitted_on(n, pca_max_data, seed))), pca_max_data
    blocks = (unit_rows(block) for block in rows.blocks())
    if n >= d:
        mean, scatter = _scatter(blocks, n, d)
        variances, vectors = _descending(*np.linalg.eigh(scatter))
        return _projection(mean, variances, lambda kept: vectors[:, :kept], n, explained_variance)
    centred = np.concatenate(list(blocks))
    mean = centred.mean(axis=0)
    centred -= mean
    variances, vectors = _descending(*np.linalg.eigh(centred @ centred.T))  # the same eigenvalues, in a smaller matrix
    variances[variances <= variances[0] * np.finfo(np.float64).eps * d] = 0.0
    scale = 1 / np.sqrt(np.where(variances > 0, variances, np.inf))
    return _projection(
        mean, variances, lambda kept: (centred.T @ vectors[:, :kept]) * scale[:kept], n, explained_variance
    )


def _fitted_on(n: int, pca_max_data: int, seed: int) -> Integers:
    """The rows that a projection is fitted on when they are not all."""
    return np.random.RandomState(seed + 5).choice(n, size=pca_max_data, replace=False)


def _projection(
    mean: Floats, variances: Floats, directions_of: Callable[[int], Floats], n: int, explained_variance: float
) -> Projection:
    """The projection to as many leading directions as are needed; `variances`: of all n rows added up, falling."""
    total = variances.sum()
    if total <= _ROUNDING_VARIANCE * n:
        return Projection(mean, np.zeros((len(mean), 1)))
    reached = np.cumsum(variances) / total >= explained_variance - 1e-9
    kept = int(np.argmax(reached)) + 1 if explained_variance < 1 else len(variances)
    logger.info("PCA: %d of %d components kept", kept, len(variances))
    directions = directions_of(kept)
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(kept)])  # as scikit-learn's PCA has them
    return Projection(mean, np.ascontiguousarray(directions * signs))


def _scatter(blocks: Iterable[Floats], n: int, d: int) -> tuple[Floats, Floats]:
    """Mean (d,) of n unit rows and the sum of their centred outer products (d, d), in float64, in one pass.

    Rows are shifted, in place, by the first block's mean, so that little is lost when all point about the same way.
    """
    shift: Floats | None = None
    total = np.zeros(d)
    scatter = np.zeros((d, d))
    for unit in blocks:
        shift = unit.mean(axis=0) if shift is None else shift
        unit -= shift
        total += unit.sum(axis=0)
        scatter += unit.T @ unit
    scatter -= np.outer(total, total) / n
    return total / n + (0.0 if shift is None else shift), scatter


def _descending(values: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]
