"""Texts of two sets that belong together, such as answers to one prompt, found from their features alone.

Two texts are mutual neighbours if each is the nearest text of the other set. In two independent sets about half of the
texts have a mutual neighbour, whatever the distribution and the number of columns; texts that share a prompt, and near
copies, nearly always do, and are closer to each other than to any other text. Chance is what random halves of each set
show: they have no text in common, and no prompt but those that the set itself answers several times.
"""

from __future__ import annotations

import math

import numpy as np

from mauve_metric.arrays import Array, Bools, Floats, Integers, Rows

SPLITS = 4  # of each set at random
STANDARD_ERRORS = 3.0  # by which the share must exceed that of the splits
FALSE_PAIRS = 0.05  # share of the pairs that may be chance
_MOST_TESTED = 500  # rows whose neighbours make the share
_MOST_SPLIT = 125  # the same for each split
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
    _, mutual, gap = map(np.concatenate, zip(*chance, strict=True))
    expected, gaps = float(np.mean(mutual)), np.sort(gap[mutual])
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
    near, farther = np.sqrt(np.maximum(2 - 2 * np.stack([best, np.maximum(second, back_second)]), 1e-6))
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
