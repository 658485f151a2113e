"""A linear classifier that scores each text without having seen it or its group, for many divisions into sides at once.

Linear discriminant analysis whose covariance is shrunk towards a multiple of the identity by the amount of Ledoit and
Wolf (2004). Everything that it needs are sums over folds (moments of the rows, and of the rows of each side), and only
the latter depend on which side a row is on: a permutation test that fits anew for every permutation takes one more
column of a matrix product each. scikit-learn's `LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")` estimates
the same classifier, fold by fold: 20 to 100 times slower on 5000 + 5000 rows, more with permutations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, Features, Floats, Integers
from mauve_metric.runtime.tensors import as_array, full_precision
from mauve_metric.runtime.threads import one_blas_thread

if TYPE_CHECKING:
    import torch

Sides: TypeAlias = NDArray[np.bool_]

_LEAST_SHRINKAGE = 1e-3  # keeps the covariance of copied columns invertible in float32
_ROUNDINGS = 8  # of a column's mean: a smaller standard deviation is that of a constant column
_VERY_FAR = 100.0  # times the distance of most rows from the middle: a row hides what else differs
_FAR = 10.0  # then, times the distance of most numbers of a column: none is taken for further out
_LOOKED_AT = 64  # rows that show these distances
_BLOCK = 8192  # rows whose products are computed at once
_STEP = 128  # rows that are standardised at once, in the processor's cache
_ROUNDED = float(np.finfo(np.float32).eps) ** 2  # of columns with variance 1: what is left of rows that are all equal
_AS_THEY_ARE = (np.float32, np.float64)  # numbers that are standardised in their own precision
_MOST_HELD = 2**27  # numbers that are standardised once and kept; more are standardised anew for each pass
_ALL_ALIKE = 9  # times as likely as a variance of few columns: each variance of all columns
# Variances v, with axes for columns and divisions into sides, and before them one for the share of the few columns.
_OF_ALL = np.array([1 / 16, 1 / 4, 1, 4, 16, 64])[:, None, None]
_OF_FEW, _OF_MOST = 32.0, np.array([0, 0.5, 4])[:, None, None, None]
_LARGEST_SQUARE = 160.0  # of a t statistic; float32 holds the exponential of half of it


class Standardised:
    """Rows with columns of mean 0 and variance 1 in float32, in blocks; d: the columns of the rows that they were.

    Differences from a near number lose no digits in the rows' own precision, float32 or float64. A few rows very far
    from all others, as after an overflow, would hide what differs among these: their numbers are limited, unless the
    rows are made of such limited ones.
    """

    def __init__(self, rows: Features, limited: bool = True) -> None:
        self.rows, self.d = rows, rows.shape[1]
        largest = _largest(rows)
        self.unit = _unit(largest)
        self.limits = _limits(rows, largest, self.unit) if limited else None
        first = next(self._pieces())
        shift = first[:100].mean(axis=0, dtype=np.float64).astype(first.dtype)  # for exact squares of what is left
        n, total, squares = rows.shape[0], np.zeros(self.d), np.zeros(self.d)
        for block in self._pieces(_STEP):
            centred = block - shift
            total += centred.sum(axis=0)
            squares += np.square(centred, dtype=np.float64).sum(axis=0)  # float32 loses those of tiny columns
        variance = squares / n - np.square(total / n)
        self.mean = shift + total / n
        rounding = _ROUNDINGS * np.finfo(next(_pieces(rows)).dtype).eps
        varied = variance > np.square(np.maximum(rounding * np.abs(self.mean), np.finfo(first.dtype).tiny))
        self.factor = 1 / np.sqrt(np.where(varied, variance, np.inf))  # 0 for constant columns
        self.held: Array | None = None
        if isinstance(rows, np.ndarray) and rows.size <= _MOST_HELD:
            held, done = np.empty(rows.shape, dtype=np.float32), 0
            for block in self._scaled(_STEP):
                held[done : done + len(block)] = block
                done += len(block)
            self.held = held

    @cached_property
    def products(self) -> Array:
        """The inner products of all rows, which are held, (n, n)."""
        rows = np.concatenate(list(self))
        inner: Array = rows @ rows.T
        return inner

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers, (m, d)."""
        if self.held is not None:
            return self.held[numbers]
        return np.concatenate(list(self._scaled(_STEP, _taken(self.rows, numbers))))

    def __iter__(self) -> Iterator[Array]:
        return self._scaled(_BLOCK) if self.held is None else _pieces(self.held)

    def _pieces(self, step: int = _BLOCK, rows: Features | None = None) -> Iterator[Array]:
        """Rows in order in their unit, numbers far out moved in, a block at a time; rows: others than all."""
        for block in _pieces(self.rows if rows is None else rows, self.unit, step):
            if self.limits is None:
                yield block
            else:
                low, high = self.limits
                yield np.clip(block, low.astype(block.dtype), high.astype(block.dtype))

    def _scaled(self, step: int, rows: Features | None = None) -> Iterator[Array]:
        for block in self._pieces(step, rows):
            centred = block - self.mean.astype(block.dtype)
            centred *= self.factor.astype(block.dtype)
            yield centred.astype(np.float32, copy=False)


def _taken(rows: Features, numbers: Integers) -> Array:
    return rows[numbers] if isinstance(rows, np.ndarray) else rows.take(numbers)


def _largest(rows: Features) -> float:
    """The largest size of a number."""
    return max(max(float(block.max()), -float(block.min())) for block in _pieces(rows, step=_STEP))


def _unit(largest: float) -> float:
    """The power of two that brings features to about 1 whose squares float32 does not hold; 1 for all others."""
    if largest == 0 or 1e-12 < largest < 1e12:
        return 1.0
    return 2.0 ** -min(max(math.frexp(largest)[1], -1000), 1023)


def _limits(rows: Features, largest: float, unit: float) -> tuple[Floats, Floats] | None:
    """The least and the largest number of each column, in the unit; None where no row is very far from all others."""
    n = rows.shape[0]
    sample = _taken(rows, np.arange(0, n, max(1, n // _LOOKED_AT))).astype(np.float64) * unit
    middle = np.median(sample, axis=0)
    away = np.abs(sample - middle)
    if largest * unit - float(np.abs(middle).max()) <= _VERY_FAR * float(np.median(away.max(axis=1))):
        return None
    typical = np.median(away, axis=0)
    reach = _FAR * np.where(typical > 0, typical, np.inf)  # without limit where most rows have one number
    return middle - reach, middle + reach


def _pieces(rows: Features, unit: float = 1.0, step: int = _BLOCK) -> Iterator[Array]:
    """Rows in order times the unit, in float32 or float64, a block at a time; step: rows of a block of an array."""
    if isinstance(rows, np.ndarray):
        blocks: Iterator[Array] = (rows[start : start + step] for start in range(0, len(rows), step))
    else:
        blocks = rows.blocks()
    for block in blocks:
        yield block if unit == 1 and block.dtype in _AS_THEY_ARE else block.astype(np.float64) * unit


class _Moments:
    """Sums over the rows of each fold: number, rows, products, fourth powers of lengths, rows of the model's side."""

    def __init__(
        self, rows: Standardised, fold_of: Integers, sides: Array, seen: Sides, device: torch.device | None
    ) -> None:
        folds, start, m = int(fold_of.max()) + 1, 0, sides.shape[1]
        fold_of = np.where(seen, fold_of, folds)  # those of no fold are in no sum
        self.numbers = np.bincount(fold_of, minlength=folds)[:folds].astype(np.float64)
        self.models = np.stack([sides[fold_of == fold].sum(axis=0, dtype=np.float64) for fold in range(folds)])
        self.fourth = np.zeros(folds)
        for block in rows:
            if not start:
                self.products = np.zeros((folds, block.shape[1], block.shape[1]), dtype=np.float32)
                self.total = np.zeros((folds, block.shape[1]))
                self.of_model = np.zeros((folds, block.shape[1], m))
            folds_here, sides_here = fold_of[start : start + len(block)], sides[start : start + len(block)]
            start += len(block)
            for fold in range(folds):
                part = block[folds_here == fold]
                self.products[fold] += product(part.T, part, device)
                self.total[fold] += part.sum(axis=0)
                self.of_model[fold] += product(part.T, sides_here[folds_here == fold], device)
                self.fourth[fold] += np.square(np.einsum("ij,ij->i", part, part)).sum()
        self.all_products = self.products.sum(axis=0)

    def direction(self, fold: int | None, d: int, second: bool) -> tuple[Floats, Floats]:
        """Fit classifiers without a fold: weights (width, m), and thresholds (m,); 2m with those without noise."""
        left_out = np.arange(len(self.numbers)) == fold
        n = self.numbers[~left_out].sum()
        mean = self.total[~left_out].sum(axis=0) / n
        covariance = self.all_products - self.products[left_out].sum(axis=0)
        covariance /= n
        covariance -= np.outer(mean.astype(np.float32), mean.astype(np.float32))
        models = np.maximum(self.models[~left_out].sum(axis=0), 1)
        of_model = self.of_model[~left_out].sum(axis=0)
        humans = np.maximum(n - models, 1)
        model_mean, human_mean = of_model / models, (n * mean[:, None] - of_model) / humans
        fourth = self.fourth[~left_out].sum() / n
        delta, middle = model_mean - human_mean, (model_mean + human_mean) / 2
        if second and self.numbers.sum() - self.numbers.max() >= d:
            delta = np.concatenate([delta, without_noise(delta, 1 / models + 1 / humans)], axis=1)
            middle = np.concatenate([middle, middle], axis=1)
        weights = _solve_shrunk(covariance, delta.astype(np.float32), fourth, n, d)
        return weights, np.einsum("ij,ij->j", weights, middle)


def _solve_shrunk(matrix: Array, right: Array, fourth: float, n: float, d: int) -> Array:
    """Shrink a matrix towards a multiple of I and solve for `right` (…, m); zeros if the rows do not vary.

    matrix: as the first argument of `ledoit_wolf`; it is overwritten. fourth, n, d: see there.
    """
    from scipy.linalg import cho_factor, cho_solve

    variance = float(np.trace(matrix, dtype=np.float64)) / d
    if variance <= _ROUNDED:
        return np.zeros_like(right)
    shrinkage = ledoit_wolf(matrix, fourth, n, d)
    matrix *= 1 - shrinkage
    matrix[np.diag_indices_from(matrix)] += shrinkage * variance
    solution: Array = cho_solve(cho_factor(matrix.T, overwrite_a=True, check_finite=False), right, check_finite=False)
    return solution


def ledoit_wolf(covariance: Floats, fourth: float, n: float, d: int) -> float:
    """Share of tr(C)/d I that brings a sample covariance C nearest to the true one (Ledoit & Wolf 2004), in [.001, 1].

    Args:
        covariance: of n rows of d numbers, (d, d), or the inner products of these rows, centred, over n, (n, n).
        fourth: mean of the fourth powers of the rows' lengths.
    """
    squares = float(np.square(covariance).sum(dtype=np.float64))
    away = squares - float(np.trace(covariance, dtype=np.float64)) ** 2 / d
    noise = (fourth - squares) / n
    return min(max(noise / away, _LEAST_SHRINKAGE), 1.0) if away > 0 else 1.0


def without_noise(delta: Floats, variances: Floats) -> Floats:
    """Shrink the mean differences of columns towards 0 where they may be noise, (d, m) → (d, m).

    Empirical Bayes (Greenshtein and Park 2009): the t statistics have the variance 1 + v in all columns, or another one
    in a few. The mean of the posterior over several v, as a share of the difference, is divided by the largest share,
    so that nothing changes where all columns differ alike: a classifier's direction is then that of δ.

    Args:
        delta: differences of columns of variance 1. variances: of the noise of all columns, (m,).

    >>> one_large = np.array([9.0, *np.ones(40)])[:, None]
    >>> without_noise(one_large, np.ones(1))[:2, 0].round(2).tolist()
    [9.0, 0.08]
    >>> without_noise(one_large[1:], np.ones(1))[:2, 0].tolist()
    [1.0, 1.0]
    """
    squares = np.minimum(np.square(delta) / variances, _LARGEST_SQUARE).astype(np.float32)
    d, total = len(squares), squares.sum(axis=0, dtype=np.float64)
    v, share, few = _OF_MOST, np.array([1 / (d + 1), 0.1])[:, None, None], _OF_FEW / (1 + _OF_FEW)
    of_all, most, alike = _OF_ALL / (1 + _OF_ALL), v / (1 + v), share / (1 - share) * np.sqrt((1 + v) / (1 + _OF_FEW))
    odds = 1 + alike.astype(np.float32) * np.exp(((few - most) / 2).astype(np.float32) * squares)
    of_others = d * np.log1p(-share) + (most * total - d * np.log1p(v)) / 2
    evidence = np.concatenate(
        [
            np.log(_ALL_ALIKE) + (of_all * total - d * np.log1p(_OF_ALL)) / 2,
            (of_others + np.log(odds).sum(axis=-2, keepdims=True, dtype=np.float64)).reshape(-1, 1, delta.shape[1]),
        ]
    )
    weights = np.exp(evidence - evidence.max(axis=0))
    kept_of_few = (few - (few - most).astype(np.float32) / odds).reshape(-1, *squares.shape)
    shares = (weights[: len(of_all)] * of_all).sum(axis=0) + (weights[len(of_all) :] * kept_of_few).sum(axis=0)
    shrunk: Floats = delta * (shares / shares.max(axis=0))
    return shrunk


def product(left: Array, right: Array, device: torch.device | None) -> Array:
    """left @ right in float32, on a torch device if one is given."""
    if device is None:
        product: Array = left @ right
        return product
    import torch

    with full_precision():
        return as_array(torch.from_numpy(left).to(device) @ torch.from_numpy(right).to(device))


def held_out_scores(
    rows: Standardised,
    fold_of: Integers,
    sides: Array,
    seen: Sides,
    device: torch.device | None = None,
    second: bool = True,
) -> list[Array]:
    """Scores of every row for every column of sides, (n, m) in float32, above 0 on the model's side.

    The direction is ((1 - s) C + s tr(C)/d I)⁻¹ δ with C the covariance of the rows of the other folds, δ the
    difference of the sides' means there, and s by Ledoit and Wolf (2004), which does not depend on the sides. Of no
    fewer rows than columns there are scores of a second direction, from δ without noise
    (`without_noise`), which sees a difference in few columns of many.

    Args:
        rows: of both sides, n. fold_of: (n,). sides: 1 for the model's rows, (n, m).
        seen: the rows that classifiers may be fitted to, (n,). device: where products are computed; None: by numpy.
        second: whether the second direction is wanted.
    """
    if rows.held is not None and len(sides) <= rows.d:
        with one_blas_thread():
            return [_scores_of_few_rows(rows.products, fold_of, sides, seen, rows.d)]
    moments = _Moments(rows, fold_of, sides, seen, device)
    with one_blas_thread():
        directions = [moments.direction(fold, rows.d, second) for fold in range(len(moments.numbers))]
    outputs = np.empty((len(sides), directions[0][1].size), dtype=np.float32)
    start = 0
    for block in rows:
        folds_here = fold_of[start : start + len(block)]
        for fold, (weights, thresholds) in enumerate(directions):
            inside = folds_here == fold
            outputs[start + np.nonzero(inside)[0]] = product(block[inside], weights, device) - thresholds
        start += len(block)
    return np.split(outputs, outputs.shape[1] // sides.shape[1], axis=1)


def fit_and_score(fitted: Array, sides: Array, rows: Array) -> Array:
    """Scores of rows (b, d) by the linear classifier of others, (n, d), for every column of sides (n, m), (b, m)."""
    standardised, n = Standardised(fitted, limited=False), len(fitted)
    moments = _Moments(standardised, np.zeros(n, dtype=np.int64), sides, np.ones(n, dtype=bool), None)
    with one_blas_thread():
        weights, thresholds = moments.direction(None, standardised.d, second=False)
    factor = np.minimum(standardised.factor, 1 / _ROUNDED).astype(np.float32)
    scaled = (rows - standardised.mean.astype(np.float32)) * factor
    scores: Array = scaled @ weights.astype(np.float32) - thresholds.astype(np.float32)
    return scores


def _scores_of_few_rows(products: Array, fold_of: Integers, sides: Array, seen: Sides, d: int) -> Array:
    """The same from the inner products (n, n) of n <= d rows: the weights are sums of the rows that are fitted to.

    With Z their centred rows, C = ZᵀZ/n and δ = Zᵀu: (βC + αI)⁻¹ δ = Zᵀ (βZZᵀ/n + αI)⁻¹ u.
    """
    outputs = np.zeros(sides.shape, dtype=np.float32)
    for fold in range(int(fold_of.max()) + 1):
        held, fitted = fold_of == fold, seen & (fold_of != fold)
        n, of_model = np.float32(fitted.sum()), sides[fitted]
        models = of_model.sum(axis=0)
        model_mean, human_mean = of_model / np.maximum(models, 1), (1 - of_model) / np.maximum(n - models, 1)
        those = products.take(np.flatnonzero(fitted), axis=1)  # three times as fast as by numpy.ix_
        inner = those[fitted]
        fourth = float(np.square(inner.diagonal()).mean(dtype=np.float64))
        middle = inner @ ((model_mean + human_mean) / 2)
        inner -= inner.mean(axis=0)
        inner -= inner.mean(axis=1)[:, None]
        inner /= n
        weights = _solve_shrunk(inner, model_mean - human_mean, fourth, float(n), d)
        outputs[held] = those[held] @ weights - np.einsum("ij,ij->j", weights, middle)
    return outputs
