"""Select texts of a set so that none has a near duplicate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Integers
from mauve_metric.duplicates.near_duplicates import EXACT, NearDuplicateRule, near_duplicate_clusters


class Deduplication(NamedTuple):
    """Texts of a set that remain after deduplication.

    kept, removed: numbers of texts, ascending. stands_for: for each removed one the text that is kept in its place, a
    number of the set, or of `against` where `from_against` is true, (r,).
    """

    kept: Integers
    removed: Integers
    stands_for: Integers
    from_against: NDArray[np.bool_]

    def __str__(self) -> str:
        within = int((~self.from_against).sum())
        return (
            f"kept {len(self.kept)} of {len(self.kept) + len(self.removed)} texts: {within} nearly repeat a text of "
            f"the set, {len(self.removed) - within} one of the texts to keep apart from"
        )


def deduplicate(texts: Sequence[str], against: Sequence[str] = (), rule: NearDuplicateRule = EXACT) -> Deduplication:
    """Keep one text of each cluster of near duplicates, and none where a text of `against` is in it.

    This removes from training text the overlap with human or test texts, which stay whole (Lee et al. 2022, §4.2).

    Args:
        texts: to thin out; the first of a cluster is kept.
        against: texts that are kept in any case, such as the human ones or a test set.
        rule: when two texts are near duplicates.

    >>> deduplicate(["one two", "three", "one two", "four"], against=["four"]).kept.tolist()
    [0, 1]
    """
    clusters = near_duplicate_clusters([*against, *texts], rule)[len(against) :]
    keeps = clusters == np.arange(len(against), len(against) + len(texts))
    removed = np.nonzero(~keeps)[0]
    from_against = clusters[removed] < len(against)
    stands_for = np.where(from_against, clusters[removed], clusters[removed] - len(against))
    return Deduplication(np.nonzero(keeps)[0], removed, stands_for, from_against)
