"""Intervals of nearest-neighbour precision and recall, and what two halves of the human texts reach."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Bools, Floats, Integers
from mauve_metric.measures.groups import number_items
from mauve_metric.measures.knn_precision_recall import MOST_TOLERANCE, ROUNDING, SupportScores, scores_of_halves
from mauve_metric.measures.nearest import smallest
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.uncertainty.mean_intervals import wilson_interval

SPLITS = 24  # of both sets into halves, for the variance
HUMAN_SPLITS = 4  # of the human texts, for what two human sets reach
MOST_ROWS = 600  # of a side, from which the variance is estimated; it falls with the number of texts
MOST_HUMAN_ROWS = 4000
_FEWEST = 10  # rows of a half
_LOOKED_AT = 8  # nearest rows for each that is needed of a half: nearly always enough
_EQUAL = 1e-12  # relative difference that is rounding


class SupportIntervals(NamedTuple):
    """Intervals of precision and recall, and the precision of one half of the human texts by the other.

    None for fewer than ten texts in a half. The recall of halves has the same mean as their precision.
    """

    precision_ci: tuple[float, float] | None = None
    recall_ci: tuple[float, float] | None = None
    human_halves: float | None = None


class SupportErrors(NamedTuple):
    """Errors of precision and recall.

    variances: of both, (2,); None for fewer than ten texts in a half. sizes: human and model texts. human_halves: see
    `SupportIntervals`.
    """

    variances: Floats | None
    sizes: tuple[int, int]
    human_halves: float | None


def support_intervals(scores: SupportScores, errors: SupportErrors, level: float) -> SupportIntervals:
    """Wilson's intervals with as many texts as have the variance, and Student's quantile for the number of splits.

    Args:
        scores: of all texts. errors: of the same, by `support_errors`. level: of the intervals.
    """
    if errors.variances is None:
        return SupportIntervals(human_halves=errors.human_halves)
    z = t_quantile(level, SPLITS)
    ends = []
    for share, variance, side in zip(scores[:2], errors.variances.tolist(), errors.sizes[::-1], strict=True):
        size = share * (1 - share) / variance if variance > 0 and 0 < share < 1 else math.inf
        ends.append(wilson_interval(share, min(float(side), size), z))
    return SupportIntervals(ends[0], ends[1], errors.human_halves)


def support_errors(p: Array, q: Array, groups: tuple[Integers, Integers] | None, k: int, seed: int) -> SupportErrors:
    """Variances that allow for other texts on both sides: those that are counted, and those that the balls are around.

    Both sets are split at random into halves, and the scores of the two pairs of halves differ by twice the variance
    at half the size. As variances fall with the number of texts, that of the scores is a quarter of the mean squared
    difference. The texts that are counted alone would give half of the error or less where few balls cover much: of
    four-dimensional normal sets of 600 texts, .015 in place of .034.

    Args:
        p, q: projected features, (n_p, r) and (n_q, r), of which the halves follow the order.
        groups: codes of texts that are not independent, (n_p,) and (n_q,); None: each is alone. A group is in one half.
        k: the neighbour. seed: of the halves.
    """
    rng, sizes = np.random.default_rng(seed), (len(p), len(q))
    codes = groups or (np.arange(len(p)), len(p) + np.arange(len(q)))
    human_halves = _of_halves(p, codes[0], k, rng)
    few = [np.sort(rng.permutation(len(rows))[:MOST_ROWS]) for rows in (p, q)]
    sides = [(rows[chosen], of_side[chosen]) for rows, of_side, chosen in zip((p, q), codes, few, strict=True)]
    balls = _Balls(sides[0][0], sides[1][0], k)
    numbers = number_items(np.concatenate([of_side for _, of_side in sides]).tolist())
    squares = []
    for _ in range(SPLITS):
        in_first = np.split(_halves(numbers, rng), [len(sides[0][0])])
        if min(min(half.sum(), (~half).sum()) for half in in_first) < max(_FEWEST, k + 1):
            return SupportErrors(None, sizes, human_halves)
        squares.append(np.square(np.diff(balls.scores_of_halves(*in_first), axis=1)).ravel())
    shrink = min(len(sides[0][0]), len(sides[1][0])) / min(sizes)
    return SupportErrors(np.mean(squares, axis=0) / 4 * shrink, sizes, human_halves)


class _Balls:
    """Distances among the rows of two sets, from which precision and recall of any halves follow."""

    def __init__(self, p: Array, q: Array, k: int) -> None:
        rows = np.concatenate([p, q]).astype(np.float64)
        rows -= rows.mean(axis=0)
        lengths = np.einsum("ij,ij->i", rows, rows)
        sums = lengths[:, None] + lengths
        squares = sums - 2 * (rows @ rows.T)
        away = np.sqrt(np.where(squares > _EQUAL * sums, squares, 0))  # copies are exactly at 0
        np.fill_diagonal(away, 0)
        self.k, self.across = k, away[: len(p), len(p) :]
        self.tolerance = min(ROUNDING, MOST_TOLERANCE * float(np.sqrt(lengths.mean())))
        self.inner = away[: len(p), : len(p)], away[len(p) :, len(p) :]
        self.nearest = [smallest(inner, min(_LOOKED_AT * (k + 1), len(inner))) for inner in self.inner]

    def _radii(self, side: int, in_first: Bools) -> Floats:
        """The distance of each row from its k-th nearest other row of its half, (n,), with what rounding may add."""
        while True:
            rows, distances = self.nearest[side]
            reached = np.cumsum(in_first[rows] == in_first[:, None], axis=1) > self.k  # itself is one
            if reached[:, -1].all():
                break
            self.nearest[side] = smallest(self.inner[side], min(4 * rows.shape[1], len(rows)))
        radii: Floats = distances[np.arange(len(rows)), reached.argmax(axis=1)]
        return radii * (1 + _EQUAL) + self.tolerance

    def scores_of_halves(self, p_first: Bools, q_first: Bools) -> Floats:
        """Precision and recall of the first halves and of the second halves, (2, 2).

        Args:
            p_first, q_first: the rows that are in the first half, (n_p,) and (n_q,).
        """
        together = p_first[:, None] == q_first
        in_p_balls = (together & (self.across <= self._radii(0, p_first)[:, None])).any(axis=0)
        in_q_balls = (together & (self.across <= self._radii(1, q_first))).any(axis=1)
        halves = ((in_p_balls, q_first), (in_q_balls, p_first))
        return np.array([[inside[half].mean() for half in (first, ~first)] for inside, first in halves])


def _of_halves(p: Array, codes: Integers, k: int, rng: np.random.Generator) -> float | None:
    """The mean precision and recall of random halves of the human texts."""
    chosen = np.sort(rng.permutation(len(p))[:MOST_HUMAN_ROWS])
    rows, numbers = p[chosen], number_items(codes[chosen].tolist())
    halves: list[Bools] = []
    for _ in range(HUMAN_SPLITS):
        halves.append(_halves(numbers, rng))
        if min(halves[-1].sum(), (~halves[-1]).sum()) < max(_FEWEST, k + 1):
            return None
    return float(np.mean(scores_of_halves(rows, halves, k, ROUNDING)))


def _halves(numbers: Integers, rng: np.random.Generator) -> Bools:
    """A mask of the texts in the first half of the groups, drawn at random. numbers: of the groups, from 0."""
    m = int(numbers.max()) + 1
    in_first: Bools = (rng.permutation(m) < m // 2)[numbers]
    return in_first
