"""Scores of texts by classifiers that have not seen them or their group: folds, permuted sides, ranks and buckets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Counts, Features, Floats, Integers, Labels
from mauve_metric.measures.groups import linked_groups, sizes_of_groups
from mauve_metric.measures.linear_classifier import Sides, Standardised, held_out_scores
from mauve_metric.measures.p_values import positive
from mauve_metric.measures.roc_auc import HeldOut, average_ranks
from mauve_metric.measures.stacked_classifier import combined_scores, views
from mauve_metric.runtime.threads import Start, run_when_asked

if TYPE_CHECKING:
    import torch

FOLDS = 5
REAL_SHARE = 0.1  # of a side: a text that is so much of it is in every fold
_SURE = 0.05  # level at which divisions into folds change an AUC more than permuted sides do
FEWEST_TO_CLASSIFY = 10  # of each side, copies and texts of one prompt counted once: two for each fold


class CrossFitted(NamedTuple):
    """Scores of each text by the classifiers of the other folds, the human texts first, n = n_p + n_q.

    held_out: the scores, above 0 on the model's side, with what their intervals need. ranks: of the scores within the
    fold, in (0, 1), ties share one, (n,). auc: chance that a model's text scores above a human one of its fold.
    permuted: the same of classifiers fitted to permuted sides, (permutations,). compared: the AUC that these are
    compared with; None: `auc`.
    """

    held_out: HeldOut
    ranks: Floats
    auc: float
    permuted: Floats
    compared: float | None = None

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
        away = (self.auc if self.compared is None else self.compared) - float(self.permuted.mean())
        return positive(float(stdtr(m - 1, -away / spread))) if spread > 0 else 1.0


def cross_fit(
    rows: Features | Standardised,
    is_model: Sides,
    groups: Integers | None = None,
    *,
    units: Integers | None = None,
    seed: int = 25,
    permutations: int = 0,
    trained_on: Sides | None = None,
    device: torch.device | None = None,
    order: Integers | None = None,
    stacked: bool = False,
    run: Start = run_when_asked,
) -> CrossFitted:
    """Score every row by a classifier fitted to the other folds.

    The linear classifier of `linear_classifier.held_out_scores` or, if asked for, the stacked one of
    `stacked_classifier.views`. Each fold has texts of both sides in about equal shares, since the scores of folds that
    have not lean to the wrong side.

    Args:
        rows: (n, d), of both sides; read in blocks where they are not an array; or these standardised.
        is_model: the side of each row, (n,).
        groups: equal numbers are texts that depend on each other, as those of one prompt, (n,); None: each is alone.
        units: equal numbers are texts that are in one fold, (n,), at least those of one group; None: the groups.
        seed: of the folds and permutations.
        permutations: how often the sides are permuted, see `permuted_sides`.
        trained_on: rows that classifiers may be fitted to, (n,); None: all. The others are scored only.
        device: where the products of more rows than columns are computed; None: by numpy.
        order: in which the rows are when folds and permutations are drawn, (n,); None: as they are.
        stacked: by the stacked classifier, and not the linear one. run: starts a function, see `side_by_side`.

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
    folds = assign_folds(drawn if units is None else _by_first_row(units[order]), drawn_sides, seed)
    sides = np.empty((n, 1 + permutations), dtype=np.float32)
    sides[order, 0] = drawn_sides
    rng = np.random.default_rng([seed, 1])
    sides[order, 1:] = permuted_sides(drawn_sides, drawn, folds, permutations, rng)
    places = np.argsort(order)
    groups, fold_of = drawn[places], folds[places]
    seen = np.ones(n, dtype=bool) if trained_on is None else trained_on
    rows = rows if isinstance(rows, Standardised) else Standardised(rows)
    if not stacked:
        scores = held_out_scores(rows, fold_of, sides, seen, device)
        outputs = scores[0] if len(scores) == 1 else combined_scores(scores, [], sides, fold_of, seen)
    else:
        outputs = combined_scores(*views(rows, fold_of, sides, seen, order, seed, device, run), sides, fold_of, seen)
    aucs = _mean_auc(outputs, sides, fold_of)
    of_sides = outputs[:, 0].astype(np.float64)
    held_out = HeldOut(of_sides, is_model, fold_of, groups)
    return CrossFitted(held_out, ranks_in_folds(of_sides, fold_of), float(aucs[0]), aucs[1:])


def cross_fit_repeatedly(
    rows: Features,
    is_model: Sides,
    groups: Integers | None = None,
    *,
    divisions: int,
    seed: int = 25,
    permutations: int = 0,
    run: Start = run_when_asked,
    **options: Any,
) -> CrossFitted:
    """Average `cross_fit` of the stacked classifier over several divisions into folds: ranks, scores, their AUC.

    The permuted AUCs are those of the first division, which vary more than the averaged one, unless both sides have
    copies of the same rows: then permutations change little, and other divisions more. Where the divisions vary more by
    an F test, which of other rows is next to never so, the first one's AUC is compared with them.

    Args:
        divisions: how many, at least 1. run: starts a function, see `side_by_side`.
        The others, and `options`, are those of `cross_fit`.
    """
    standardised = Standardised(rows)
    divide = partial(cross_fit, standardised, is_model, groups, **{"stacked": True, "run": run, **options})
    others = [run(partial(divide, seed=seed + number)) for number in range(1, divisions)]
    fitted = divide(seed=seed, permutations=permutations)
    if divisions == 1:
        return fitted
    more = [other() for other in others]
    ranks = np.mean([division.ranks for division in (fitted, *more)], axis=0)
    one_fold = fitted.held_out._replace(scores=ranks, fold_of=np.zeros_like(fitted.held_out.fold_of))
    auc = float(_mean_auc(ranks[:, None], is_model[:, None], one_fold.fold_of)[0])
    ranks = average_ranks(ranks) / len(ranks) - 0.5 / len(ranks)
    compared = fitted.auc if _varies_more([division.auc for division in (fitted, *more)], fitted.permuted) else None
    return fitted._replace(held_out=one_fold, ranks=ranks, auc=auc, compared=compared)


def _varies_more(numbers: Sequence[float], others: Floats) -> bool:
    """Return whether numbers have a larger variance than others, by an F test at the level `_SURE`."""
    from scipy.special import fdtri

    if len(others) < 2:
        return False
    most = float(fdtri(len(numbers) - 1, len(others) - 1, 1 - _SURE))
    return float(np.var(numbers, ddof=1)) > most * float(others.var(ddof=1))


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
    sizes, fewest = sizes_of_groups(groups, is_model), check_groups(groups, is_model, 2)
    alone = (sizes[0] == 0).astype(np.int64) - (sizes[1] == 0)
    order = np.lexsort((np.random.default_rng(seed).random(len(alone)), *sizes, -sizes.sum(axis=0), alone))
    fold_of = np.empty(len(alone), dtype=np.int64)
    fold_of[order] = np.arange(len(alone)) % min(folds, fewest)
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
    numbers = np.arange(len(copied)) if groups is None else np.unique(groups, return_inverse=True)[1]
    return numbers if (copied < 0).all() else linked_groups(copied, numbers)


def without_large(units: Integers, is_model: Sides) -> Integers:
    """The codes of units without those that are a real share of a side, (n,): these are in every fold.

    A classifier can learn there what they are.

    >>> units, is_model = np.array([3, 3, -1, -1, 3, -1]), np.arange(6) >= 3
    >>> without_large(units, is_model).tolist()
    [-1, -1, -1, -1, -1, -1]
    """
    sizes = sizes_of_groups(units + 1, is_model)
    is_large = (sizes >= REAL_SHARE * sizes.sum(axis=1, keepdims=True)).any(axis=0)
    return np.where(is_large[units + 1], -1, units)


def permuted_sides(
    is_model: Sides, groups: Integers, fold_of: Integers, permutations: int, rng: np.random.Generator
) -> Sides:
    """Sides as they could be if both sets were draws from one distribution, (n, permutations).

    Texts of a group with texts of both sides change places within it (of aligned pairs: swap or do not); other groups
    change places as a whole, within their fold, so that every fold keeps its share of both.
    """
    sizes = sizes_of_groups(groups, is_model)
    mixed = np.all(sizes > 0, axis=0)
    permuted = np.empty((len(groups), permutations), dtype=bool)
    inside = np.nonzero(mixed[groups])[0]
    inside = inside[np.argsort(groups[inside], kind="stable")]
    keys = groups[inside, None] + rng.random((len(inside), permutations))
    permuted[inside[np.argsort(keys, axis=0)], np.arange(permutations)] = is_model[inside][:, None]
    fold_of_group = np.zeros(len(mixed), dtype=np.int64)
    fold_of_group[groups] = fold_of
    side_of_group = np.zeros((len(mixed), permutations), dtype=bool)
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


def _mean_auc(scores: Array, sides: Array, fold_of: Integers) -> Floats:
    """Share of pairs of a human and a model text of one fold in the right order, ties one half, (n, m) → (m,)."""
    right, pairs = np.zeros(sides.shape[1]), np.zeros(sides.shape[1])
    for fold in range(int(fold_of.max()) + 1):
        inside = fold_of == fold
        for column, (ranked, is_model) in enumerate(zip(scores[inside].T.copy(), sides[inside].T == 1, strict=True)):
            human, model = np.sort(ranked[~is_model]), np.sort(ranked[is_model])
            below = np.searchsorted(human, model, "left") + np.searchsorted(human, model, "right")
            right[column] += below.sum() / 2
            pairs[column] += len(human) * len(model)
    return right / np.maximum(pairs, 1)
