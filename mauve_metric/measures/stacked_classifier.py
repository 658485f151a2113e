"""Several held-out scores of each text, and their best combination with weights that are not negative.

A linear classifier sees a shift of one set. What else may differ, its spread, correlations, the shares of kinds of
texts and shifts that differ from kind to kind, shows in squares and products of the leading axes, and among nearest
neighbours. Each of these views scores a text without having seen it or its group; a second level weighs them (stacked
generalisation, Wolpert 1992; weights of at least 0: Breiman 1996). Under prompts that both sets share all views lean to
the wrong side, and free weights would turn them round.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.linear_classifier import Sides, Standardised, fit_and_score, held_out_scores, product
from mauve_metric.measures.nearest import smallest
from mauve_metric.runtime.tensors import as_array
from mauve_metric.runtime.threads import Start, Value, one_blas_thread, run_when_asked

if TYPE_CHECKING:
    import torch

VOTERS = (5, 15)  # nearest neighbours whose sides are counted
DISTANT = (6, 45)  # nearest neighbours whose distances say how dense the texts are
MOST_REFERENCES = 2000  # texts of a side among which neighbours are looked for
_MOST_FITTED, _MOST_OF_AXES = 10_000, 4096  # texts of a side that squares, and the axes, are fitted to
_AXES_OF_SQUARES, _AXES = 20, 64  # leading axes whose products are taken, and in which neighbours are looked for
_MOST_LEADING = 2**26  # numbers of the rows on leading axes
_BLOCK = 2**22  # distances, or votes, that are held at once
_LARGEST = 1e15  # of a score, whose squares float32 holds: a row may be far from all that a classifier was fitted to
_RIDGE = 1e-3  # of the second level, whose views have variance 1
_MOST_CHANGES = 100  # of the views that have a weight; a few are enough
_ROUNDED = 1e-12  # of views with variance 1


def views(
    rows: Standardised,
    fold_of: Integers,
    sides: Array,
    seen: Sides,
    order: Integers,
    seed: int,
    device: torch.device | None = None,
    run: Start = run_when_asked,
) -> tuple[list[Array], list[Array]]:
    """The held-out scores of each row in several views, for every column of sides, each (n, m) or (n, 1).

    Squares and neighbours are those of rows on the first principal axes of the other folds. The axes do not depend on
    the sides, but they follow the single rows that they are fitted to: rows that have copies would lie further out.

    Args:
        order: of the rows by content, (n,), and seed: of the choice of rows to fit to, if there are more.
        run: starts a function, see `side_by_side`.
        The others are those of `linear_classifier.held_out_scores`.

    Returns:
        Views that rise with the chance of the model's side: the linear classifier's, the one of squares, and log odds
        of the shares of the model's texts among neighbours; and views of no direction: log distances to neighbours.
    """
    linear = held_out_scores(rows, fold_of, sides, seen, device)
    sample = _Sample.of(rows, fold_of, seen, sides[:, 0] == 1, order, seed)
    width = min(_AXES, max(_MOST_LEADING // len(fold_of), _AXES_OF_SQUARES))
    of_axes = sample.ranks < _MOST_OF_AXES
    axes = _axes_of_folds(sample.rows[of_axes], sample.fold_of[of_axes], width, device, run)
    leading = _on_axes(rows, fold_of, axes, device)
    of_squares = _squares_view(sample, axes, leading, fold_of, sides, run)
    nearest, distances = _neighbours(sample, axes, leading, fold_of, device)
    number = nearest.shape[1]
    voters = [k for k in VOTERS if 2 * k <= number or k == VOTERS[0]]
    rising = [*linear, of_squares, *_votes(nearest, sides, voters)]
    return rising, [distances[:, [min(k, number) - 1]] for k in DISTANT]


class _Sample(NamedTuple):
    """The rows that squares and axes are fitted to, and among which neighbours are looked for.

    numbers: of the rows, (s,). rows: (s, d). fold_of: (s,). ranks: place in the random order of the side, (s,).
    """

    numbers: Integers
    rows: Array
    fold_of: Integers
    ranks: Integers

    @classmethod
    def of(
        cls, rows: Standardised, fold_of: Integers, seen: Sides, is_model: Sides, order: Integers, seed: int
    ) -> _Sample:
        """Draw rows of each side from those that are fitted to."""
        rng = np.random.default_rng([seed, 5])
        chosen = [rng.permutation(order[(seen & (is_model == side))[order]])[:_MOST_FITTED] for side in (False, True)]
        numbers = np.concatenate(chosen)
        ranks = np.concatenate([np.arange(len(of_side)) for of_side in chosen])
        return cls(numbers, rows.take(numbers), fold_of[numbers], ranks)


def _on_axes(rows: Standardised, fold_of: Integers, axes: Sequence[Array], device: torch.device | None) -> Array:
    """The rows on the axes of their folds, (n, r)."""
    leading, start = np.empty((len(fold_of), axes[0].shape[1]), dtype=np.float32), 0
    for block in rows:
        folds_here = fold_of[start : start + len(block)]
        for fold, of_fold in enumerate(axes):
            inside = np.flatnonzero(folds_here == fold)
            leading[start + inside] = product(block[inside], of_fold, device)
        start += len(block)
    return leading


def _squares_view(
    sample: _Sample, axes: Sequence[Array], leading: Array, fold_of: Integers, sides: Array, run: Start
) -> Array:
    """The scores of linear classifiers of squares and products, each fitted to the other folds, (n, m)."""
    scores = np.empty(sides.shape, dtype=np.float32)

    def score(fold: int) -> None:
        inside, outside = np.flatnonzero(fold_of == fold), sample.fold_of != fold
        squares = _squares(sample.rows[outside] @ axes[fold])
        scores[inside] = fit_and_score(squares, sides[sample.numbers[outside]], _squares(leading[inside]))

    _of_each(score, len(axes), run)
    return scores


def _neighbours(
    sample: _Sample, axes: Sequence[Array], leading: Array, fold_of: Integers, device: torch.device | None
) -> tuple[Integers, Array]:
    """The numbers of the nearest rows in other folds, nearest first, and their log squared distances, (n, K) each."""
    references = np.flatnonzero(sample.ranks < MOST_REFERENCES)
    others = [references[sample.fold_of[references] != fold] for fold in range(len(axes))]
    shape = len(leading), min(max(DISTANT), *map(len, others))
    nearest, distances = np.empty(shape, np.int64), np.empty(shape, np.float32)
    for fold, (of_fold, places) in enumerate(zip(axes, others, strict=True)):
        inside = np.flatnonzero(fold_of == fold)
        numbers, distances[inside] = _nearest(leading[inside], sample.rows[places] @ of_fold, shape[1], device)
        nearest[inside] = sample.numbers[places][numbers]
    return nearest, distances


def _axes_of_folds(
    sample: Array, fold_of: Integers, width: int, device: torch.device | None, run: Start
) -> list[Array]:
    """For each fold the first principal axes of rows (s, d) of the other folds, at most (d, width)."""
    d, folds = sample.shape[1], range(int(fold_of.max()) + 1)
    width = min(width, d, *(int((fold_of != fold).sum()) for fold in folds))
    if len(sample) > d:
        parts = [sample[fold_of == fold] for fold in folds]
        products = [product(part.T, part, device) for part in parts]
        total = np.sum(products, axis=0)
        return _of_each(lambda fold: _first_eigenvectors(total - products[fold], width, device), len(folds), run)
    inner = product(sample, sample.T, device)

    def axes(fold: int) -> Array:  # an axis is a sum of the rows that it is fitted to
        others = np.flatnonzero(fold_of != fold)
        sums = sample[others].T @ _first_eigenvectors(inner[others].take(others, axis=1), width, device)
        unit: Array = sums / np.maximum(np.linalg.norm(sums, axis=0), np.finfo(np.float32).tiny)
        return unit

    return _of_each(axes, len(folds), run)


def _of_each(function: Callable[[int], Value], folds: int, run: Start) -> list[Value]:
    """The values of a function of each fold."""
    return [value() for value in [run(function, fold) for fold in range(folds)]]


def _first_eigenvectors(matrix: Array, width: int, device: torch.device | None) -> Array:
    """The eigenvectors of a symmetric matrix (k, k) with the largest eigenvalues, the largest first, (k, width)."""
    if device is not None:
        import torch

        with suppress(torch.linalg.LinAlgError):  # type: ignore[attr-defined]  # a GPU's algorithm may not converge
            vectors = as_array(torch.linalg.eigh(torch.from_numpy(matrix).to(device))[1])
            return np.ascontiguousarray(vectors[:, len(matrix) - width :][:, ::-1])
    with one_blas_thread():  # sixteen need four times as long for a thousand rows
        return np.ascontiguousarray(largest_eigenvectors(matrix, width)[:, ::-1])


@cache
def _ssyevr() -> Callable[..., None]:
    """The routine that `scipy.linalg.eigh` calls for some eigenvectors, by the pointer that scipy has for Cython."""
    from scipy.linalg import cython_lapack

    capsule, api = cython_lapack.__pyx_capi__["ssyevr"], ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    routine: Callable[..., None] = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 21)(
        pointer_of(capsule, name_of(capsule))
    )
    return routine


def largest_eigenvectors(matrix: Array, number: int) -> Array:
    """The eigenvectors (n, number) of a symmetric float32 matrix (n, n) with the largest eigenvalues, the largest last.

    They are those of `scipy.linalg.eigh` to the bit, which holds Python's lock while other threads could run.

    Raises:
        numpy.linalg.LinAlgError: the routine did not find them, as where a number is not finite.

    >>> largest_eigenvectors(np.diag(np.array([3, 1, 2], dtype=np.float32)), 2).round(4).tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    n = len(matrix)
    copied, vectors = np.array(matrix, dtype=np.float32, order="F"), np.empty((n, number), dtype=np.float32, order="F")
    values, tolerance, of_vectors = np.empty(n, np.float32), np.zeros(1, np.float32), np.empty(2 * n, np.int32)
    size, first, count, failed = (np.array(value, dtype=np.int32) for value in (n, n - number + 1, 0, 0))
    lengths = np.array([-1, -1], dtype=np.int32)  # at first the routine only says how long its work arrays are to be
    work, int_work = np.zeros(1, np.float32), np.zeros(1, np.int32)
    for _ in range(2):
        arrays = copied, size, tolerance, tolerance, first, size, tolerance, count, values, vectors, size, of_vectors
        more = work, lengths[:1], int_work, lengths[1:], failed
        _ssyevr()(b"V", b"I", b"L", size.ctypes.data, *(array.ctypes.data for array in (*arrays, *more)))
        if lengths[0] < 0:
            lengths[:] = work[0], int_work[0]
            work, int_work = np.empty(lengths[0], np.float32), np.empty(lengths[1], np.int32)
    if failed or count != number:
        raise np.linalg.LinAlgError(f"LAPACK's ssyevr found {count} of {number} eigenvectors (info {failed})")
    return vectors


def _squares(leading: Array) -> Array:
    """Squares and products of the first axes, and the log of the squared length, (n, r) → (n, r(r + 1)/2 + 1)."""
    axes = leading[:, :_AXES_OF_SQUARES]
    products = [axes[:, number, None] * axes[:, number:] for number in range(axes.shape[1])]
    return np.concatenate([*products, _log(np.square(leading).sum(axis=1, keepdims=True))], axis=1)


def _log(squares: Array) -> Array:
    """Logarithms of squares, those of next to 0 as of the smallest that rounding leaves."""
    least = np.finfo(np.float32).eps * max(float(squares.mean()), float(np.finfo(np.float32).tiny))
    logarithms: Array = np.log(np.maximum(squares, least))
    return logarithms


def _nearest(rows: Array, references: Array, number: int, device: torch.device | None) -> tuple[Integers, Array]:
    """The nearest references for each row, nearest first, and log squared distances, (n, number) each."""
    lengths = np.einsum("ij,ij->i", references, references)
    nearest, squares = np.empty((len(rows), number), np.int64), np.empty((len(rows), number), np.float32)
    step = max(1, _BLOCK // len(references))
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        away = product(some, references.T, device)
        away *= -2
        away += lengths
        nearest[start : start + step], away = smallest(away, number)
        squares[start : start + step] = away + np.einsum("ij,ij->i", some, some)[:, None]
    return nearest, _log(squares)


def _votes(nearest: Integers, sides: Array, voters: Sequence[int]) -> list[Array]:
    """Log odds of the share of the model's side among the first neighbours of each row, (n, m) for each number.

    Args:
        nearest: (n, K), numbers of rows of `sides`, (r, m).
    """
    m = sides.shape[1]
    votes = [np.empty((len(nearest), m), np.float32) for _ in voters]
    ends = [0, *(min(k, nearest.shape[1]) for k in voters)]
    step = max(1, _BLOCK // (nearest.shape[1] * m))
    for start in range(0, len(nearest), step):
        total = np.zeros((len(nearest[start : start + step]), m), np.float32)
        for view, first, last in zip(votes, ends, ends[1:], strict=False):
            total += sides[nearest[start : start + step, first:last]].sum(axis=1)
            view[start : start + step] = np.log((total + 0.5) / (last - total + 0.5))
    return votes


def combined_scores(
    rising: Sequence[Array], free: Sequence[Array], sides: Array, fold_of: Integers, seen: Sides
) -> Array:
    """Combine views of each row by weights that are fitted to the other folds, (n, m).

    Ridge regression of the sides, both of equal weight, so that 0 is between them; weights of `rising` are at least 0.

    Args:
        rising: (n, m) each. free: (n, 1) each. sides, fold_of, seen: see `views`.
    """
    folds, m = int(fold_of.max()) + 1, sides.shape[1]
    # of each fold and side: number, sums and products of the views, (folds, 2, m, …)
    numbers = np.zeros((folds, 2, m))
    width = len(rising) + len(free)
    sums, products = np.zeros((folds, 2, m, width)), np.zeros((folds, 2, m, width, width))
    of_views = [(view, view.mean(axis=0)) for view in (*rising, *free)]
    held = [np.flatnonzero(fold_of == fold) for fold in range(folds)]

    def centred(column: int) -> Array:
        """All views for one column of sides, (n, c)."""
        columns = [column if view.shape[1] > 1 else 0 for view, _ in of_views]
        stacked = np.stack([view[:, at] - middle[at] for at, (view, middle) in zip(columns, of_views, strict=True)], 1)
        limited: Array = np.clip(stacked, -_LARGEST, _LARGEST)
        return limited

    for column in range(m):
        rows = centred(column)
        for fold, inside in enumerate(held):
            fitted = inside[seen[inside]]
            is_model = sides[fitted, column] == 1
            for side, part in enumerate((rows[fitted[~is_model]], rows[fitted[is_model]])):
                numbers[fold, side, column] = len(part)
                sums[fold, side, column] = part.sum(axis=0)
                products[fold, side, column] = part.T @ part
    numbers, sums, products = (total.sum(axis=0) - total for total in (numbers, sums, products))
    counts = np.maximum(numbers, 1)[..., None]
    means = sums / counts
    covariance = (products / counts[..., None] - means[..., :, None] * means[..., None, :]).mean(axis=1)
    middle, difference = means.mean(axis=1), means[:, 1] - means[:, 0]
    weights = _least_squares(covariance, difference, len(rising))
    combined = np.empty(sides.shape, dtype=np.float32)
    for column in range(m):
        rows = centred(column)
        for fold, inside in enumerate(held):
            scores = (rows[inside] - middle[fold, column]) @ weights[fold, column]
            combined[inside, column] = np.clip(scores, -_LARGEST, _LARGEST)
    return combined


def _least_squares(covariance: Floats, difference: Floats, bounded: int) -> Floats:
    """Solve (C + δδᵀ/4 + ridge) w = δ/2 with the first weights at least 0, (…, c, c) and (…, c) → (…, c).

    By Murty's rule (1974), for all problems at once: the first weight that is negative becomes 0, or is freed where it
    is 0 and should be larger, until none is.
    """
    total = covariance + difference[..., :, None] * difference[..., None, :] / 4
    variance, views = np.einsum("...ii->...i", total), np.arange(total.shape[-1])
    scale = 1 / np.sqrt(np.where(variance > 0, variance, np.inf))
    gram = total * scale[..., :, None] * scale[..., None, :] + _RIDGE * np.eye(len(views))
    right, is_free = difference / 2 * scale, np.ones(difference.shape, dtype=bool)
    for _ in range(_MOST_CHANGES):
        of_free = np.where(is_free[..., :, None] & is_free[..., None, :], gram, np.eye(len(views)))
        weights = np.linalg.solve(of_free, np.where(is_free, right, 0)[..., None])[..., 0]
        slope = right - (gram @ weights[..., None])[..., 0]
        wrong = np.where(is_free, weights < 0, slope > _ROUNDED) & (views < bounded)
        if not wrong.any():
            break
        is_free ^= wrong & (views == wrong.argmax(axis=-1)[..., None])
    scaled: Floats = weights * scale
    return scaled
