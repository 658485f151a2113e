"""Texts of a set that are near copies of each other, or answers to one prompt, found from their features alone.

In independent draws the nearest other text is hardly nearer than the tenth. How much nearer it is by chance, whatever
the kinds of texts, shows across the two sets, which have no text in common: a text repeats another one where the ratio
of both distances is below that of all but one in a hundred texts to the other set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Bools, Floats, Integers, Rows
from mauve_metric.measures.nearest import smallest

NEIGHBOURS = 10  # the distance of the last one is the scale: groups of fewer texts are seen whole
CHANCE = 0.01  # share of independent texts that are taken for repeats
CHANCE_OF_LINKS = 0.1  # the same where there are repeats, of which as many as possible are looked for
LEAST_SHARE = 0.1  # of a set's texts: fewer may be chance
FEWEST_SEARCHED = 50  # different texts of a set: of fewer, the tenth neighbour is as far as any
FEWEST_BY_CHANCE = 20  # texts that show what is chance
_MOST_TESTED = 500  # rows of a set that show whether there are repeats
_LEAST_SQUARE = 1e-6  # of a distance between rows of length 1: below is rounding
_BLOCK = 2**24  # similarities held at once


class Repeats(NamedTuple):
    """Repeats in one set.

    groups: the number of the group of each row, (n,), -1 for those in none. repeated: the rows that are certain
    repeats, (n,); groups hold more, so that few are missed. grouped: share of rows that are nearer to another one than
    by chance, judged by distances too, so that a set of few kinds is not taken for one that repeats itself. spaced: the
    same by the ratio alone, which also finds them where both sets repeat themselves.
    """

    groups: Integers
    repeated: Bools
    grouped: float
    spaced: float


def find_repeats(p: Rows, q: Rows, seed: int = 25) -> tuple[Repeats, Repeats]:
    """Find the repeats within each of two sets of different rows.

    Args:
        p, q: rows of `undeclared_pairs.standardised`, (n_p, d) and (n_q, d). seed: of the rows that are tested first.

    >>> from mauve_metric.measures.undeclared_pairs import standardised
    >>> rng = np.random.default_rng(0)
    >>> answers = np.repeat(rng.normal(size=(40, 50)), 3, axis=0) + 0.5 * rng.normal(size=(120, 50))
    >>> human, model = find_repeats(*standardised(rng.normal(size=(120, 50)), answers))
    >>> human.grouped < LEAST_SHARE, model.grouped > 0.9, 30 < len(np.unique(model.groups)) < 50
    (True, True, True)
    """
    none = tuple(Repeats(np.full(len(rows), -1), np.zeros(len(rows), dtype=bool), 0.0, 0.0) for rows in (p, q))
    if min(len(p), len(q)) < FEWEST_SEARCHED:
        return none[0], none[1]
    rng = np.random.default_rng([seed, 4])
    within, is_near, ratios = list[Floats](), list[Bools](), list[Floats]()
    for rows, others in ((p, q), (q, p)):
        tested = np.sort(rng.permutation(len(rows))[:_MOST_TESTED])
        within.append(_nearest(rows[tested], rows, tested)[1])
        across = _nearest(rows[tested], others)[1]
        # a set that is far away has all its texts at about one distance, which says nothing about chance
        is_near.append(across[:, 0] <= within[-1][:, -1])
        ratios.append(_ratios(across[is_near[-1]]))
    by_chance = np.concatenate(ratios)
    if len(by_chance) < FEWEST_BY_CHANCE:
        return none[0], none[1]
    least_ratio, of_links = np.quantile(by_chance, [CHANCE, CHANCE_OF_LINKS]).tolist()
    repeats = []
    for side, rows in enumerate((p, q)):
        distances, least = within[side], float(np.quantile(within[1 - side][:, 0], CHANCE))
        spaced = _ratios(distances) < least_ratio
        grouped, by_ratio = float((spaced & (distances[:, 0] < least)).mean()), float((spaced & is_near[side]).mean())
        groups, repeated = np.full(len(rows), -1), np.zeros(len(rows), dtype=np.bool_)
        if max(grouped, by_ratio) > LEAST_SHARE:
            nearest, to_nearest = _nearest(rows, rows, np.arange(len(rows)))
            groups, repeated = _groups(nearest, to_nearest, of_links), _ratios(to_nearest) < least_ratio
        repeats.append(Repeats(groups, repeated, grouped, by_ratio))
    return repeats[0], repeats[1]


def _ratios(distances: Floats) -> Floats:
    """The distance of the nearest row over that of the last one, (n, m) → (n,)."""
    ratios: Floats = distances[:, 0] / distances[:, -1]
    return ratios


def _groups(nearest: Integers, distances: Floats, least_ratio: float) -> Integers:
    """The connected rows, (n,), of which one is nearer to the other than by chance; -1 for those in none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    linked: Bools = distances < least_ratio * distances[:, -1:]
    first = np.repeat(np.arange(len(nearest)), linked.sum(axis=1))
    graph = coo_array((np.ones(len(first)), (first, nearest[linked])), shape=(len(nearest), len(nearest)))
    groups: Integers = connected_components(graph, directed=False)[1].astype(np.int64)
    return np.where(np.bincount(groups)[groups] > 1, groups, -1)


def _nearest(rows: Rows, others: Rows, numbers: Integers | None = None) -> tuple[Integers, Floats]:
    """The nearest of other rows for each row, nearest first, and their distances, (n, `NEIGHBOURS`) each.

    numbers: those of the rows among the others, which are no neighbours of themselves.
    """
    step, near, distances = max(1, _BLOCK // len(others)), [], []
    for start in range(0, len(rows), step):
        away = -(rows[start : start + step] @ others.T)
        if numbers is not None:
            away[np.arange(len(away)), numbers[start : start + step]] = np.inf
        nearest, away = smallest(away, NEIGHBOURS)
        near.append(nearest)
        distances.append(np.sqrt(np.maximum(2 + 2 * away, _LEAST_SQUARE)))
    return np.concatenate(near), np.concatenate(distances)
