"""The one classifier of features: a linear one that scores each text without having seen it or its group.

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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, Counts, Features, Floats, Integers, Labels
from mauve_metric.measures.auc import HeldOut, average_ranks
from mauve_metric.measures.groups import same_origin
from mauve_metric.measures.mean_differences import without_noise
from mauve_metric.measures.p_values import positive
from mauve_metric.runtime.tensors import as_array, full_precision
from mauve_metric.runtime.threads import one_blas_thread

if TYPE_CHECKING:
    import torch

Sides: TypeAlias = NDArray[np.bool_]

FOLDS = 5
FEWEST_TO_CLASSIFY = 10  # of each side, copies and texts of one prompt counted once: two for each fold
_LEAST_SHRINKAGE = 1e-3  # keeps the covariance of copied columns invertible in float32
_ROUNDINGS = 8  # of a column's mean: a smaller standard deviation is that of a constant column
_BLOCK = 8192  # rows whose products are computed at once
_STEP = 128  # rows that are standardised at once, in the processor's cache
_AS_THEY_ARE = (np.float32, np.float64)  # numbers that are standardised in their own precision
_MOST_HELD = 2**27  # numbers that are standardised once and kept; more are standardised anew for each pass


class CrossFitted(NamedTuple):
    """Scores of each text by the classifiers of the other folds, the human texts first, n = n_p + n_q.

    held_out: the scores, above 0 on the model's side, with what their intervals need. ranks: of the scores within the
    fold, in (0, 1), ties share one, (n,). auc: chance that a model's text scores above a human one of its fold.
    permuted: the same of classifiers fitted to permuted sides, (permutations,).
    """

    held_out: HeldOut
    ranks: Floats
    auc: float
    permuted: Floats

    @property
    def p_value(self) -> float:
        """Chance of so large an AUC where both sides are draws from one distribution; 1 without permutations.

        By Student's t with as many permutations as there are, less one: the next draw of a normal variable known by m
        draws. It is one-sided, since an AUC below ½ is no difference: held-out texts lean away from those trained on.
        """
        from scipy.special import stdtr

        m = len(self.permuted)
        if m < 2:
            return 1.0
        spread = float(self.permuted.std(ddof=1)) * np.sqrt(1 + 1 / m)
        away = self.auc - float(self.permuted.mean())
        return positive(float(stdtr(m - 1, -away / spread))) if spread > 0 else 1.0


def cross_fit(
    rows: Features | Standardised,
    is_model: Sides,
    groups: Integers | None = None,
    *,
    seed: int = 25,
    permutations: int = 0,
    trained_on: Sides | None = None,
    device: torch.device | None = None,
    order: Integers | None = None,
) -> CrossFitted:
    """Score every row by a classifier fitted to the other folds.

    The direction is ((1 - s) C + s tr(C)/d I)⁻¹ δ with C the covariance of all rows of the other folds, columns
    standardised, δ the difference of the sides' means there, and s by Ledoit and Wolf (2004): s does not depend on the
    sides, so that a permutation test may keep it. Of no fewer rows than columns there is a second direction, from δ
    without noise (`mean_differences.without_noise`), which sees a difference in few columns of many; a fold is scored
    by the one that tells the sides of the other folds apart better. Each fold has texts of both sides in about equal
    shares, since the scores of folds that have not lean to the wrong side.

    Args:
        rows: (n, d), of both sides; read in blocks where they are not an array; or these standardised.
        is_model: the side of each row, (n,).
        groups: equal numbers are texts of one prompt or copies, which are in one fold, (n,); None: each is alone.
        seed: of the folds and permutations.
        permutations: how often the sides are permuted, see `permuted_sides`.
        trained_on: rows that classifiers may be fitted to, (n,); None: all. The others are scored only.
        device: where the products of more rows than columns are computed; None: by numpy.
        order: in which the rows are when folds and permutations are drawn, (n,); None: as they are.

    Raises:
        ValueError: a side has fewer than two groups.

    >>> rows = np.random.default_rng(0).normal(size=(200, 3)) + np.repeat([[0.0], [4.0]], 100, axis=0)
    >>> fitted = cross_fit(rows, np.arange(200) >= 100, permutations=19)
    >>> fitted.auc > 0.99, fitted.p_value < 0.001
    (True, True)
    """
    n = len(is_model)
    order = np.arange(n) if order is None else order
    drawn, drawn_sides = np.arange(n) if groups is None else _by_first_row(groups[order]), is_model[order]
    folds = assign_folds(drawn, drawn_sides, seed)
    sides = np.empty((n, 1 + permutations), dtype=np.float32)
    sides[order, 0] = drawn_sides
    rng = np.random.default_rng([seed, 1])
    sides[order, 1:] = permuted_sides(drawn_sides, drawn, folds, permutations, rng)
    places = np.argsort(order)
    groups, fold_of = drawn[places], folds[places]
    seen = np.ones(n, dtype=bool) if trained_on is None else trained_on
    rows = rows if isinstance(rows, Standardised) else Standardised(rows)
    outputs = _held_out_scores(rows, fold_of, sides, seen, device)
    aucs = _mean_auc(outputs, sides, fold_of)
    scores = outputs[:, 0].astype(np.float64)
    held_out = HeldOut(scores, is_model, fold_of, groups)
    return CrossFitted(held_out, ranks_in_folds(scores, fold_of), float(aucs[0]), aucs[1:])


def cross_fit_repeatedly(
    rows: Features,
    is_model: Sides,
    groups: Integers | None = None,
    *,
    divisions: int,
    seed: int = 25,
    permutations: int = 0,
    **options: Any,
) -> CrossFitted:
    """Average `cross_fit` over several divisions into folds: ranks, scores and the AUC of the mean ranks.

    The permuted AUCs are those of the first division, which vary more than the averaged one.

    Args:
        divisions: how many, at least 1. The others, and `options`, are those of `cross_fit`.
    """
    standardised = Standardised(rows)
    fitted = cross_fit(standardised, is_model, groups, seed=seed, permutations=permutations, **options)
    if divisions == 1:
        return fitted
    more = [cross_fit(standardised, is_model, groups, seed=seed + number, **options) for number in range(1, divisions)]
    ranks = np.mean([division.ranks for division in (fitted, *more)], axis=0)
    one_fold = fitted.held_out._replace(scores=ranks, fold_of=np.zeros_like(fitted.held_out.fold_of))
    auc = float(_mean_auc(ranks[:, None], is_model[:, None], one_fold.fold_of)[0])
    return fitted._replace(held_out=one_fold, ranks=average_ranks(ranks) / len(ranks) - 0.5 / len(ranks), auc=auc)


def _by_first_row(groups: Integers) -> Integers:
    """Number groups from 0 in the order of their first rows, (n,) → (n,)."""
    _, first, index = np.unique(groups, return_index=True, return_inverse=True)
    numbers: Integers = np.argsort(np.argsort(first))[index].astype(np.int64)
    return numbers


def assign_folds(groups: Integers, is_model: Sides, seed: int = 25, folds: int = FOLDS) -> Integers:
    """A fold for every text, (n,): groups stay together, and each side is spread evenly; fewer folds for few groups.

    Groups go to the folds in turn: those of human texts alone, of both, of the model's alone, so that every fold has
    texts of both sides; among these the largest first, equal ones in random order. scikit-learn's
    `StratifiedGroupKFold` examines every group for every fold: 13 s for 10 000 texts, where this takes milliseconds.

    Args:
        groups: numbers from 0, (n,). is_model: (n,). folds: at most.

    Raises:
        ValueError: a side has fewer than two groups.

    >>> assign_folds(np.array([0, 1, 2, 0, 1, 2]), np.repeat([False, True], 3), folds=3).tolist()
    [1, 0, 2, 1, 0, 2]
    """
    number = int(groups.max()) + 1
    sizes = np.stack([np.bincount(groups[is_model == side], minlength=number) for side in (False, True)])
    fewest = check_groups(groups, is_model, 2)
    alone = (sizes[0] == 0).astype(np.int64) - (sizes[1] == 0)
    order = np.lexsort((np.random.default_rng(seed).random(number), *sizes, -sizes.sum(axis=0), alone))
    fold_of = np.empty(number, dtype=np.int64)
    fold_of[order] = np.arange(number) % min(folds, fewest)
    return fold_of[groups]


def check_groups(groups: Integers, is_model: Sides, least: int) -> int:
    """The smaller number of groups of a side.

    Raises:
        ValueError: it is below `least`.
    """
    counts = [len(np.unique(groups[is_model == side])) for side in (False, True)]
    if min(counts) < least:
        raise ValueError(
            f"a classifier needs at least {least} texts a side that are neither copies nor of one prompt, to learn "
            f"from some and be judged by others; got {counts[0]} in the first set and {counts[1]} in the second"
        )
    return min(counts)


def same_rows(rows: Features, groups: Integers | None = None) -> Integers:
    """Groups of equal rows and of rows with an equal number in `groups`, numbered from 0, (n,).

    >>> same_rows(np.array([[1.0], [2.0], [1.0], [3.0]]), np.array([0, 1, 2, 1])).tolist()
    [0, 1, 0, 1]
    """
    blocks = [rows] if isinstance(rows, np.ndarray) else rows.blocks()
    hashes = [hash(row.tobytes()) for block in blocks for row in block]
    _, kind_of, times = np.unique(hashes, return_inverse=True, return_counts=True)
    return joined_groups(np.where(times[kind_of] > 1, kind_of, -1), groups)


def joined_groups(copied: Integers, groups: Integers | None = None) -> Integers:
    """Groups of rows with an equal number in either argument, numbered from 0, (n,).

    Args:
        copied: of copies; -1: a row has none. groups: None: each row is alone.

    >>> joined_groups(np.array([-1, 4, -1, 4]), np.array([0, 1, 2, 2])).tolist()
    [0, 1, 1, 1]
    """
    if (copied < 0).all():
        numbers = np.arange(len(copied)) if groups is None else np.unique(groups, return_inverse=True)[1]
        return numbers.astype(np.int64)
    entries = [code if code >= 0 else None for code in copied.tolist()]
    return same_origin(entries, *([] if groups is None else [groups.tolist()]))


def permuted_sides(
    is_model: Sides, groups: Integers, fold_of: Integers, permutations: int, rng: np.random.Generator
) -> Sides:
    """Sides as they could be if both sets were draws from one distribution, (n, permutations).

    Texts of a group with texts of both sides change places within it (of aligned pairs: swap or do not); other groups
    change places as a whole, within their fold, so that every fold keeps its share of both.
    """
    number = int(groups.max()) + 1
    sizes = np.stack([np.bincount(groups[is_model == side], minlength=number) for side in (False, True)])
    mixed = np.all(sizes > 0, axis=0)
    permuted = np.empty((len(groups), permutations), dtype=bool)
    inside = np.nonzero(mixed[groups])[0]
    inside = inside[np.argsort(groups[inside], kind="stable")]
    keys = groups[inside, None] + rng.random((len(inside), permutations))
    permuted[inside[np.argsort(keys, axis=0)], np.arange(permutations)] = is_model[inside][:, None]
    fold_of_group = np.zeros(number, dtype=np.int64)
    fold_of_group[groups] = fold_of
    side_of_group = np.zeros((number, permutations), dtype=bool)
    for fold in range(int(fold_of.max()) + 1):
        whole = np.nonzero(~mixed & (fold_of_group == fold))[0]
        sides = np.broadcast_to(sizes[1, whole] > 0, (permutations, len(whole)))
        side_of_group[whole] = rng.permuted(sides, axis=1).T
    alone = ~mixed[groups]
    permuted[alone] = side_of_group[groups[alone]]
    return permuted


def ranks_in_folds(scores: Floats, fold_of: Integers) -> Floats:
    """The rank of each score within its fold, less a half and as a share of the fold; equal scores share one, (n,).

    >>> ranks_in_folds(np.array([3.0, 1.0, 9.0, 9.0]), np.array([0, 0, 1, 1])).tolist()
    [0.75, 0.25, 0.5, 0.5]
    """
    ranks = np.empty(len(scores))
    for fold in range(int(fold_of.max()) + 1):
        inside = fold_of == fold
        ranks[inside] = (average_ranks(scores[inside]) - 0.5) / inside.sum()
    return ranks


def buckets_of_ranks(ranks: Floats, num_buckets: int) -> Labels:
    """Cut ranks in (0, 1) at equal quantiles, (n,) → (n,) in 0 … num_buckets - 1.

    >>> buckets_of_ranks(np.array([0.1, 0.9, 0.5]), 2).tolist()
    [0, 1, 1]
    """
    return np.minimum((ranks * num_buckets).astype(np.int64), num_buckets - 1)


def monotone_buckets(p_counts: Counts, q_counts: Counts) -> Labels:
    """Number the buckets anew, (k,), joining neighbours until the share of model texts rises with the bucket.

    A classifier's scores rise with the chance of a model's text, so that only such a rise is evidence of a difference.
    Where the classifier errs systematically, as under prompts that both sets share, all buckets become one. Isotonic
    regression of the share by pool adjacent violators (Ayer et al. 1955); scikit-learn's takes a second to import.

    Args:
        p_counts, q_counts: texts of either side in each bucket, in the order of the scores, (k,).

    >>> monotone_buckets(np.array([5, 3, 4, 1]), np.array([1, 4, 3, 5])).tolist()
    [0, 1, 1, 2]
    >>> monotone_buckets(np.array([1, 5]), np.array([5, 1])).tolist()
    [0, 0]
    """
    blocks: list[tuple[int, int, int]] = []  # texts of P and of Q, and the number of buckets
    for p, q in zip(p_counts.tolist(), q_counts.tolist(), strict=True):
        joined = (p, q, 1)
        while blocks and blocks[-1][1] * joined[0] >= joined[1] * blocks[-1][0]:
            last = blocks.pop()
            joined = (last[0] + joined[0], last[1] + joined[1], last[2] + joined[2])
        blocks.append(joined)
    return np.repeat(np.arange(len(blocks)), [number for *_, number in blocks])


class Standardised:
    """Rows with columns of mean 0 and variance 1 in float32, in blocks; d: the columns of the rows that they were.

    Differences from a near number lose no digits in the rows' own precision, float32 or float64.
    """

    def __init__(self, rows: Features) -> None:
        self.rows, self.d = rows, rows.shape[1]
        self.unit = _unit(rows)
        first = next(_pieces(rows, self.unit))
        shift = first[:100].mean(axis=0, dtype=np.float64).astype(first.dtype)  # for exact squares of what is left
        n, total, squares = rows.shape[0], np.zeros(self.d), np.zeros(self.d)
        for block in _pieces(rows, self.unit, _STEP):
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

    def __iter__(self) -> Iterator[Array]:
        return self._scaled(_BLOCK) if self.held is None else _pieces(self.held)

    def _scaled(self, step: int) -> Iterator[Array]:
        for block in _pieces(self.rows, self.unit, step):
            centred = block - self.mean.astype(block.dtype)
            centred *= self.factor.astype(block.dtype)
            yield centred.astype(np.float32, copy=False)


def _unit(rows: Features) -> float:
    """The power of two that brings features to about 1 whose squares float32 does not hold; 1 for all others."""
    largest = max(max(float(block.max()), -float(block.min())) for block in _pieces(rows, step=_STEP))
    if largest == 0 or 1e-12 < largest < 1e12:
        return 1.0
    return 2.0 ** -min(max(math.frexp(largest)[1], -1000), 1023)


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
                self.products[fold] += _product(part.T, part, device)
                self.total[fold] += part.sum(axis=0)
                self.of_model[fold] += _product(part.T, sides_here[folds_here == fold], device)
                self.fourth[fold] += np.square(np.einsum("ij,ij->i", part, part)).sum()
        self.all_products = self.products.sum(axis=0)

    def direction(self, fold: int, d: int) -> tuple[Floats, Floats]:
        """Fit classifiers without a fold: weights (width, m), and thresholds (m,); 2m with those without noise."""
        n = self.numbers.sum() - self.numbers[fold]
        mean = (self.total.sum(axis=0) - self.total[fold]) / n
        covariance = self.all_products - self.products[fold]
        covariance /= n
        covariance -= np.outer(mean.astype(np.float32), mean.astype(np.float32))
        models = np.maximum(self.models.sum(axis=0) - self.models[fold], 1)
        of_model = self.of_model.sum(axis=0) - self.of_model[fold]
        humans = np.maximum(n - models, 1)
        model_mean, human_mean = of_model / models, (n * mean[:, None] - of_model) / humans
        fourth = (self.fourth.sum() - self.fourth[fold]) / n
        delta, middle = model_mean - human_mean, (model_mean + human_mean) / 2
        if self.numbers.sum() - self.numbers.max() >= d:
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
    if variance <= 0:
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


def _product(left: Array, right: Array, device: torch.device | None) -> Array:
    """left @ right in float32, on a torch device if one is given."""
    if device is None:
        product: Array = left @ right
        return product
    import torch

    with full_precision():
        return as_array(torch.from_numpy(left).to(device) @ torch.from_numpy(right).to(device))


def _held_out_scores(
    rows: Standardised, fold_of: Integers, sides: Array, seen: Sides, device: torch.device | None = None
) -> Array:
    """Scores of every row for every column of sides, (n, m) in float32."""
    if rows.held is not None and len(sides) <= rows.d:
        with one_blas_thread():
            return _scores_of_few_rows(rows.products, fold_of, sides, seen, rows.d)
    moments = _Moments(rows, fold_of, sides, seen, device)
    with one_blas_thread():
        directions = [moments.direction(fold, rows.d) for fold in range(len(moments.numbers))]
    outputs = np.empty((len(sides), directions[0][1].size), dtype=np.float32)
    start = 0
    for block in rows:
        folds_here = fold_of[start : start + len(block)]
        for fold, (weights, thresholds) in enumerate(directions):
            inside = folds_here == fold
            outputs[start + np.nonzero(inside)[0]] = _product(block[inside], weights, device) - thresholds
        start += len(block)
    return outputs if outputs.shape == sides.shape else _better_scores(outputs, sides, fold_of, seen)


def _better_scores(outputs: Array, sides: Array, fold_of: Integers, seen: Sides) -> Array:
    """Of two scores for each column of sides, (n, 2m), the one that is better in the other folds, (n, m).

    Better: with a larger difference of the sides' means, in standard deviations of the fold.
    """
    m = sides.shape[1]
    apart = np.zeros((int(fold_of.max()) + 1, 2, m))
    for fold in range(len(apart)):
        inside = seen & (fold_of == fold)
        scores, is_model = outputs[inside].reshape(-1, 2, m), sides[inside][:, None]
        models = is_model.sum(axis=0)
        of_model, total = (scores * is_model).sum(axis=0), scores.sum(axis=0)
        difference = of_model / np.maximum(models, 1) - (total - of_model) / np.maximum(len(scores) - models, 1)
        spread = scores.std(axis=0)
        apart[fold] = difference / np.where(spread > 0, spread, np.inf)
    of_others = apart.sum(axis=0) - apart
    second = (of_others[:, 1] > of_others[:, 0])[fold_of]
    return np.where(second, outputs[:, m:], outputs[:, :m])


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


def _mean_auc(scores: Array, sides: Array, fold_of: Integers) -> Floats:
    """Share of pairs of a human and a model text of one fold in the right order, ties one half, (n, m) → (m,)."""
    right, pairs = np.zeros(sides.shape[1]), np.zeros(sides.shape[1])
    for fold in range(int(fold_of.max()) + 1):
        inside = fold_of == fold
        for column, (ranked, is_model) in enumerate(zip(scores[inside].T.copy(), sides[inside].T == 1, strict=True)):
            human, model = np.sort(ranked[~is_model]), np.sort(ranked[is_model])
            right[column] += sum(np.searchsorted(human, model, side).sum() for side in ("left", "right")) / 2
            pairs[column] += len(human) * len(model)
    return right / np.maximum(pairs, 1)
