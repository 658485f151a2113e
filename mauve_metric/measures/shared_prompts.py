"""Texts of two sets that belong together, such as answers to one prompt, found from their features alone.

Two texts are mutual neighbours if each is the nearest text of the other set. In two independent sets about half of the
texts have a mutual neighbour, whatever the distribution and the number of columns; texts that share a prompt, and near
copies, nearly always do, and are closer to each other than to any other text. Chance is what random halves of each set
show: they have no text in common, and no prompt but those that the set itself answers several times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mauve_metric.arrays import Array, Bools, Floats, Integers, Rows

SPLITS = 4  # of each set at random
STANDARD_ERRORS = 3.0  # by which the share must exceed that of the splits
FALSE_PAIRS = 0.05  # share of the pairs that may be chance
_MOST_TESTED = 500  # rows whose neighbours make the share
_MOST_SPLIT = 125  # the same for each split
MOST_ANSWERS = 9  # other texts of one prompt, on both sides, that are looked for
_MOST_SPACED = 300  # rows whose spacings show whether there are groups
ONE_SIZE = 0.5  # share of texts in groups of one size; of mixtures of kinds an eighth are, at most
COMMON = 0.6  # share of the nearest texts that two of one group have in common
REPEATS_ERRORS = 4.0  # by which more spacings must be large than by chance
ONE_SIDED = 0.75  # share of texts whose group has none of the other set, where one text of each has half
_USUAL = 0.8  # share of spacings that are not large
_CHANCE_NEIGHBOURS = 30  # whose spacings, beyond a dozen, show what is chance
_BLOCK = 2**24  # similarities held at once


def find_pairs(p: Rows, q: Rows, seed: int = 25) -> Integers:
    """Find the texts of two sets that belong together, such as a human text and a model's answer to the same prompt.

    At most `FALSE_PAIRS` of the pairs are chance, judged by the gaps of the splits.

    Args:
        p, q: rows of `standardised`, (n_p, d) and (n_q, d), at least two each. seed: of the splits and tested rows.

    Returns:
        Rows of P and of Q, (m, 2), in the order of P's; (0, 2) where there are no more pairs than by chance.

    >>> rng = np.random.default_rng(0)
    >>> prompts = rng.normal(size=(100, 20))
    >>> human, model = (prompts + 0.3 * rng.normal(size=(100, 20)) for _ in range(2))
    >>> pairs = find_pairs(*standardised(human, model[::-1]))
    >>> bool((pairs.sum(axis=1) == 99).mean() > 0.9)
    True
    >>> len(find_pairs(*standardised(human, rng.normal(size=(100, 20)))))
    0
    """
    rng = np.random.default_rng([seed, 2])
    smaller, larger = sets = (q, p) if len(p) > len(q) else (p, q)
    _, tested, tested_gaps = _neighbours(smaller, larger, rng.permutation(len(smaller))[:_MOST_TESTED])
    chance = [_split(rows, len(smaller) / (len(smaller) + len(larger)), rng) for rows in sets for _ in range(SPLITS)]
    expected = float(np.mean(np.concatenate([mutual for _, mutual, _ in chance])))
    gaps = np.sort(np.concatenate([gap[mutual] for _, mutual, gap in chance]))
    share, count = float(tested.mean()), int(tested.sum())
    z = (share - expected) / math.sqrt(0.25 / len(tested))
    close, usual = 0.0, 0.02 * count  # twice one per cent, since the quantile is an estimate
    if len(gaps):
        above = float((tested_gaps[tested] > np.quantile(gaps, 0.99)).sum())
        close = above - (usual + 4 * math.sqrt(usual) + 2)
    if z <= STANDARD_ERRORS and close <= 0:
        return np.empty((0, 2), dtype=np.int64)
    by_chance = (1 - max(share - expected, 0.0) / (1 - expected)) * expected / share if expected < 1 else 1.0
    nearest, mutual, gap = _neighbours(smaller, larger, np.arange(len(smaller)))
    kept = np.flatnonzero(mutual & (gap >= _least_gap(gaps, gap[mutual], by_chance)))
    pairs = np.stack([kept, nearest[kept]], axis=1)
    return pairs if len(p) <= len(q) else pairs[np.argsort(pairs[:, 1]), ::-1]


def find_repeats(p: Rows, q: Rows, seed: int = 25, *, shared: bool = False) -> tuple[list[Integers], bool]:
    """Find several answers to each prompt, among all texts or among those of one set, from their features.

    With the distances of a text from its neighbours, d_1 ≤ d_2 ≤ …, the spacings s·log(d_{s+1} / d_s) have about one
    distribution for all s (Rényi) unless texts come in groups: in groups of m texts many of s = m - 1 are larger than
    those of s > 11. Groups are what mutual m - 1 nearest neighbours with `COMMON` neighbours join. Those of one set
    count if `ONE_SIDED` of its texts have none of the other set as near; else they are kinds of texts of both. Groups
    with texts of both sets count if `ONE_SIZE` of all texts are in such groups of m, since kinds are of many sizes.

    Args:
        p, q: rows of `standardised`, (n_p, d) and (n_q, d). seed: of the tested rows.
        shared: `find_pairs` found pairs, so that groups with texts of both sets are prompts, and no kinds.

    Returns:
        The number of the group of each text of both sides, (n_p,) and (n_q,), -1 for those in none, and whether
        groups have texts of both.

    >>> rng = np.random.default_rng(0)
    >>> answers = np.repeat(rng.normal(size=(40, 50)), 3, axis=0) + 0.5 * rng.normal(size=(120, 50))
    >>> (human, model), across = find_repeats(*standardised(rng.normal(size=(120, 50)), answers))
    >>> bool((human < 0).all()), len(np.unique(model)), across
    (True, 40, False)
    """
    rng = np.random.default_rng([seed, 4])
    number = _others_in_a_group([p, q], rng)
    if number > 1:  # one text of each side is a pair
        groups = _groups_of_neighbours(_most_similar([p, q], number)[0])
        of_sides = np.split(groups, [len(p)])
        of_both = np.isin(groups, np.intersect1d(of_sides[0], of_sides[1])) & (groups >= 0)
        if np.mean(of_both & (np.bincount(groups + 1)[groups + 1] == number + 1)) >= ONE_SIZE:
            return of_sides, True
    alone = [_groups_of_one_side(*pair, shared, rng) for pair in ((p, q), (q, p))]
    alone[1][alone[1] >= 0] += len(p)
    return alone, False


def _others_in_a_group(sets: Sequence[Rows], rng: np.random.Generator) -> int:
    """Count the other rows that most rows of sets have in their group, judged by some of them; 0: they have none."""
    number, n = _CHANCE_NEIGHBOURS, sum(map(len, sets))
    if n < number + 2:
        return 0
    some = np.sort(rng.permutation(n)[:_MOST_SPACED])
    spacings = _spacings(_most_similar(sets, number + 1, some)[1])
    large = spacings[:, :MOST_ANSWERS] > np.quantile(spacings[:, 11:], _USUAL)
    shares = large.mean(axis=0)
    z = (shares - (1 - _USUAL)) / math.sqrt(_USUAL * (1 - _USUAL) / len(some))
    return int(shares.argmax()) + 1 if z.max() > REPEATS_ERRORS else 0


def _spacings(cosines: Floats) -> Floats:
    """The spacings s·log(d_{s+1} / d_s) of distances to neighbours with these falling cosines, (n, m + 1) → (n, m)."""
    distances = np.sqrt(np.maximum(2 - 2 * cosines, 1e-6))
    return np.arange(1.0, cosines.shape[1]) * np.log(distances[:, 1:] / distances[:, :-1])


def _groups_of_one_side(rows: Rows, others: Rows, shared: bool, rng: np.random.Generator) -> Integers:
    """The groups of rows, (n,), -1 for those in none; all -1 where most have a row of the other set as near.

    others: rows of the other set. shared: groups may have texts of both.
    """
    number = _others_in_a_group([rows], rng)
    if number == 0:
        return np.full(len(rows), -1)
    nearest, cosines = _most_similar([rows], number)
    if not shared and np.mean(_two_nearest(rows, others)[1] < cosines[:, -1]) < ONE_SIDED:
        return np.full(len(rows), -1)
    return _groups_of_neighbours(nearest)


def _groups_of_neighbours(nearest: Integers) -> Integers:
    """The groups of rows that have `COMMON` of their nearest rows, (n, number), in common; -1 for those in none."""
    from scipy.sparse import csr_matrix, identity
    from scipy.sparse.csgraph import connected_components

    n, number = nearest.shape
    links = csr_matrix((np.ones(nearest.size), nearest.ravel(), np.arange(0, nearest.size + 1, number)), shape=(n, n))
    with_own = links + identity(n, format="csr")
    common = (with_own @ with_own.T).multiply(links).multiply(links.T) >= COMMON * (number + 1)
    groups: Integers = connected_components(common, directed=False)[1].astype(np.int64)
    return np.where(np.bincount(groups)[groups] > 1, groups, -1)


def _most_similar(sets: Sequence[Rows], number: int, some: Integers | None = None) -> tuple[Integers, Floats]:
    """The other rows of all sets with the largest cosines to each row, or to some, falling, and these, (n, number)."""
    ends = np.cumsum([len(rows) for rows in sets])
    some = np.arange(ends[-1]) if some is None else some
    step, near, similarities = max(1, _BLOCK // ends[-1]), [], []
    for start in range(0, len(some), step):
        numbers = some[start : start + step]
        parts = np.split(numbers, np.searchsorted(numbers, ends[:-1]))
        left = np.concatenate([rows[part - end + len(rows)] for rows, part, end in zip(sets, parts, ends, strict=True)])
        cosines = np.concatenate([left @ rows.T for rows in sets], axis=1)
        cosines[np.arange(len(numbers)), numbers] = -2
        nearest = np.argpartition(-cosines, number - 1, axis=1)[:, :number]
        order = np.argsort(-np.take_along_axis(cosines, nearest, axis=1), axis=1, kind="stable")
        nearest = np.take_along_axis(nearest, order, axis=1)
        near.append(nearest)
        similarities.append(np.take_along_axis(cosines, nearest, axis=1))
    return np.concatenate(near), np.concatenate(similarities)


def _least_gap(chance: Floats, observed: Floats, by_chance: float) -> float:
    """The smallest gap above which at most `FALSE_PAIRS` of the observed pairs are chance.

    chance: gaps of mutual neighbours by chance, rising. by_chance: share of the observed pairs that is chance.
    """
    candidates = np.unique(np.quantile(observed, np.linspace(0, 1, 101)))
    false = by_chance * (1 - np.searchsorted(chance, candidates) / max(len(chance), 1))
    true = np.mean(observed >= candidates[:, None], axis=1)
    enough = np.flatnonzero(false <= FALSE_PAIRS * true)
    return float(candidates[enough[0]]) if len(enough) else math.inf


def _split(rows: Rows, share: float, rng: np.random.Generator) -> tuple[Integers, Bools, Floats]:
    """Neighbours across a random split of the rows of one set, of the part with this share of them."""
    order, size = rng.permutation(len(rows)), max(1, round(share * len(rows)))
    part = rows[order[:size]]
    return _neighbours(part, rows[order[size:]], np.arange(size)[:_MOST_SPLIT])


def _neighbours(rows: Rows, others: Rows, some: Integers) -> tuple[Integers, Bools, Floats]:
    """Find the nearest of other rows for some of the rows, whether the two are mutual neighbours, and their gap.

    The gap is the ratio of the distance to the next nearest row, of either, to their own distance, at least 1.
    """
    nearest, best, second = _two_nearest(rows[some], others)
    back, _, back_second = _two_nearest(others[nearest], rows)
    near, farther = (np.sqrt(np.maximum(2 - 2 * cosine, 1e-6)) for cosine in (best, np.maximum(second, back_second)))
    return nearest, back == some, np.maximum(farther / near, 1.0)


def _two_nearest(rows: Rows, others: Rows) -> tuple[Integers, Floats, Floats]:
    """The nearest of other rows for each row, its cosine, and that of the next one (-1 if there is none)."""
    step = max(1, _BLOCK // max(len(others), 1))
    nearest, best, second = [], [], []
    for start in range(0, len(rows), step):
        cosines = rows[start : start + step] @ others.T
        places = np.arange(len(cosines)), cosines.argmax(axis=1)
        nearest.append(places[1])
        best.append(cosines[places])
        cosines[places] = -1
        second.append(cosines.max(axis=1))
    return np.concatenate(nearest), np.concatenate(best), np.concatenate(second)


def standardised(p: Array, q: Array) -> tuple[Rows, Rows]:
    """Finite features of both sets with columns of mean 0 and variance 1, scaled to rows of length 1, in float32."""
    rows = np.concatenate([p, q])
    rows = rows if rows.dtype == np.float32 else rows.astype(np.float64)
    largest = np.maximum(rows.max(axis=0), -rows.min(axis=0))
    rows /= np.where(largest > 0, largest, 1)  # else the squares of large numbers overflow
    rows -= rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    deviation = np.sqrt(np.einsum("ij,ij->j", rows, rows) / len(rows)).astype(rows.dtype)
    rows /= np.where(deviation > 0, deviation, 1)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None].astype(rows.dtype)
    rows /= np.where(lengths > 0, lengths, 1)
    unit_rows = rows.astype(np.float32, copy=False)
    return unit_rows[: len(p)], unit_rows[len(p) :]
