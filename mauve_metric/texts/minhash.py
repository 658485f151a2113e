"""MinHash: few numbers that say how much sets have in common, and groups of sets that may be alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mauve_metric.arrays import Hashes, Integers


def collision_probability(jaccard: float, rows: int, bands: int) -> float:
    """How likely two sets are compared: 1 - (1 - s^rows)^bands, s their Jaccard similarity (Lee et al. 2022, §4.2).

    >>> round(collision_probability(0.8, rows=20, bands=450), 4)
    0.9946
    """
    return float(1.0 - (1.0 - jaccard**rows) ** bands)


def band_groups(shingles: Integers, starts: Integers, rows: int, bands: int, seed: int = 25) -> Iterator[Integers]:
    """Members of each group of sets that agree in all rows of a band, a group at a time.

    A row is the least of the hashes of a set's shingles, another hash each row: two sets agree in it with a
    probability of their Jaccard similarity (Broder 1997).

    Args:
        shingles: numbers of the shingles of each set, one set after the other, (m,).
        starts: where each set begins, and m, (n + 1,); no set is empty.
        rows: of a band. bands: how many.
        seed: of the hashes.
    """
    rng = np.random.default_rng(seed)
    for _ in range(bands):
        key = np.zeros(len(starts) - 1, dtype=np.uint64)
        for _ in range(rows):
            key = key * np.uint64(0x9E3779B97F4A7C15) + _least(shingles, starts, rng.integers(1 << 63, size=2))
            key ^= key >> np.uint64(29)
        yield from groups_of(key)


def _least(shingles: Integers, starts: Integers, draws: Integers) -> Hashes:
    """The least hash of each set, (n,)."""
    times, plus = np.uint64(2 * int(draws[0]) + 1 & 0xFFFFFFFFFFFFFFFF), np.uint64(draws[1])
    hashes = shingles.astype(np.uint64) * times + plus
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(0x94D049BB133111EB)
    found: Hashes = np.minimum.reduceat(hashes, starts[:-1])
    return found


def groups_of(keys: Hashes | Integers, members: Integers | None = None) -> Iterator[Integers]:
    """Members with one key, wherever there are two or more, in order.

    >>> [group.tolist() for group in groups_of(np.array([7, 5, 7, 5, 6]))]
    [[1, 3], [0, 2]]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    bounds = np.concatenate([[0], np.nonzero(ordered[1:] != ordered[:-1])[0] + 1, [len(keys)]])
    for which in np.nonzero(np.diff(bounds) > 1)[0]:
        found = order[bounds[which] : bounds[which + 1]]
        yield found if members is None else members[found]
