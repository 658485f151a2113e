"""Several held-out scores of each text, and their best combination with weights that are not negative.

A linear classifier sees a shift of one set. What else may differ, its spread, correlations, the shares of kinds of
texts and shifts that differ from kind to kind, shows in squares and products of the leading axes, and among nearest
neighbours. Each of these views scores a text without having seen it or its group; a second level weighs them (stacked
generalisation, Wolpert 1992; weights of at least 0: Breiman 1996). Under prompts that both sets share all views lean to
the wrong side, and free weights would turn them round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.linear_classifier import Sides, Standardised, held_out_scores, product

if TYPE_CHECKING:
    import torch

VOTERS = (5, 15, 45)  # nearest neighbours whose sides are counted
DISTANT = (6, 45)  # nearest neighbours whose distances say how dense the texts are
MOST_REFERENCES = 2000  # texts of a side among which neighbours are looked for
_AXES_OF_SQUARES, _AXES = 20, 64  # leading axes whose products are taken, and in which neighbours are looked for
_MOST_LEADING = 2**26  # numbers of the rows on leading axes
_MOST_SAMPLED = 8192  # rows that the axes follow from
_BLOCK = 2**22  # distances, or votes, that are held at once
_RIDGE = 1e-3  # of the second level, whose views have variance 1
_SWEEPS = 100  # of its solution, coordinate by coordinate


def leading_rows(rows: Standardised) -> Array:
    """Standardised rows on their first principal axes, which do not depend on the sides, (n, d) → (n, r) in float32."""
    from scipy.linalg import eigh

    n = rows.rows.shape[0]
    blocks, step = list(rows) if rows.held is not None else rows, -(-n // _MOST_SAMPLED)
    sample = np.concatenate([block[::step] for block in blocks])
    width = min(_AXES, max(_MOST_LEADING // n, _AXES_OF_SQUARES), *sample.shape)
    if len(sample) < rows.d:
        size = len(sample)
        axes = sample.T @ eigh(sample @ sample.T, subset_by_index=[size - width, size - 1])[1]
        axes /= np.maximum(np.linalg.norm(axes, axis=0), np.finfo(np.float32).tiny)
    else:
        axes = eigh(sample.T @ sample, subset_by_index=[rows.d - width, rows.d - 1])[1]
    falling = np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)
    return np.concatenate([block @ falling for block in blocks])


def views(
    rows: Standardised,
    leading: Array,
    fold_of: Integers,
    sides: Array,
    seen: Sides,
    seed: int,
    device: torch.device | None = None,
) -> tuple[list[Array], list[Array]]:
    """The held-out scores of each row in several views, for every column of sides, each (n, m) or (n, 1).

    Args:
        leading: see `leading_rows`. The others are those of `linear_classifier.held_out_scores`.
        seed: of the choice of references, if there are more texts.

    Returns:
        Views that rise with the chance of the model's side: the linear classifier's, the one of squares, and log odds
        of the shares of the model's texts among neighbours; and views of no direction: log distances to neighbours.
    """
    rising = held_out_scores(rows, fold_of, sides, seen, device)
    rising += held_out_scores(Standardised(_squares(leading)), fold_of, sides, seen, device, second=False)
    references = _references(sides[:, 0], seen, seed)
    nearest, distances = _nearest(leading, fold_of, references, max(VOTERS), device)
    number = nearest.shape[1]
    voters = [k for k in VOTERS if 2 * k <= number or k == VOTERS[0]]
    rising += _votes(nearest, sides[references], voters)
    return rising, [distances[:, [min(k, number) - 1]] for k in DISTANT]


def _squares(leading: Array) -> Array:
    """Squares and products of the first axes, and the log of the squared length, (n, r) → (n, r(r + 1)/2 + 1)."""
    axes = leading[:, :_AXES_OF_SQUARES]
    deviation = axes.std(axis=0)
    scaled = axes / np.where(deviation > 0, deviation, 1)
    first, second = np.triu_indices(scaled.shape[1])
    squared = np.square(leading).sum(axis=1, keepdims=True)
    return np.concatenate([scaled[:, first] * scaled[:, second], _log(squared)], axis=1)


def _log(squares: Array) -> Array:
    """Logarithms of squares, those of next to 0 as of the smallest that rounding leaves."""
    least = np.finfo(np.float32).eps * max(float(squares.mean()), np.finfo(np.float32).tiny)
    logarithms: Array = np.log(np.maximum(squares, least))
    return logarithms


def _references(is_model: Array, seen: Sides, seed: int) -> Integers:
    """The numbers of at most `MOST_REFERENCES` rows of each side, in rising order."""
    rng = np.random.default_rng([seed, 5])
    chosen = [rng.permutation(np.flatnonzero(seen & (is_model == side)))[:MOST_REFERENCES] for side in (0, 1)]
    return np.sort(np.concatenate(chosen))


def _nearest(
    leading: Array, fold_of: Integers, references: Integers, number: int, device: torch.device | None
) -> tuple[Integers, Array]:
    """The nearest references of other folds for each row, nearest first: their places, and log squared distances.

    (n, number) each; fewer where a fold leaves fewer references.
    """
    others = [np.flatnonzero(fold_of[references] != fold) for fold in range(int(fold_of.max()) + 1)]
    number = min(number, *map(len, others))
    nearest, squares = np.empty((len(leading), number), np.int32), np.empty((len(leading), number), np.float32)
    for fold, places in enumerate(others):
        targets = leading[references[places]]
        lengths = np.einsum("ij,ij->i", targets, targets)
        inside = np.flatnonzero(fold_of == fold)
        step = max(1, _BLOCK // len(places))
        for some in (inside[start : start + step] for start in range(0, len(inside), step)):
            queries = leading[some]
            away = product(queries, targets.T, device)
            away *= -2
            away += lengths
            found = np.argpartition(away, number - 1, axis=1)[:, :number]
            away = np.take_along_axis(away, found, axis=1)
            order = np.argsort(away, axis=1, kind="stable")
            nearest[some] = places[np.take_along_axis(found, order, axis=1)]
            squares[some] = np.take_along_axis(away, order, axis=1) + np.einsum("ij,ij->i", queries, queries)[:, None]
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


def combine(
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
    sums, products = (np.zeros((folds, 2, m) + (len(rising) + len(free),) * power) for power in (1, 2))
    middles = [view.mean(axis=0) for view in (*rising, *free)]

    def centred(inside: Integers) -> Iterator[tuple[int, Array]]:
        stacked = [view[inside] - middle for view, middle in zip((*rising, *free), middles, strict=True)]
        for column in range(m):
            yield column, np.stack([view[:, column if view.shape[1] > 1 else 0] for view in stacked], axis=1)

    for fold in range(folds):
        inside = np.flatnonzero(seen & (fold_of == fold))
        for column, rows in centred(inside):
            is_model = sides[inside, column] == 1
            for side, part in enumerate((rows[~is_model], rows[is_model])):
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
    for fold in range(folds):
        inside = np.flatnonzero(fold_of == fold)
        for column, rows in centred(inside):
            combined[inside, column] = (rows - middle[fold, column]) @ weights[fold, column]
    return combined


def _least_squares(covariance: Floats, difference: Floats, bounded: int) -> Floats:
    """Solve (C + δδᵀ/4 + ridge) w = δ/2 with the first weights at least 0, (…, c, c) and (…, c) → (…, c).

    By coordinate descent, for all problems at once.
    """
    total = covariance + difference[..., :, None] * difference[..., None, :] / 4
    variance = np.einsum("...ii->...i", total)
    scale = 1 / np.sqrt(np.where(variance > 0, variance, np.inf))
    gram = total * scale[..., :, None] * scale[..., None, :] + _RIDGE * np.eye(total.shape[-1])
    right, weights = difference / 2 * scale, np.zeros(difference.shape)
    for _ in range(_SWEEPS):
        for view in range(total.shape[-1]):
            residual = right[..., view] - np.einsum("...i,...i->...", gram[..., view, :], weights)
            moved = weights[..., view] + residual / gram[..., view, view]
            weights[..., view] = np.maximum(moved, 0) if view < bounded else moved
    scaled: Floats = weights * scale
    return scaled
