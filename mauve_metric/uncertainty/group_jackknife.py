"""Delete-one-group jackknife of a sum over buckets: bias and error where texts of one prompt are not independent.

The share of each side in a bucket is a ratio of sums over groups, so that leaving out a group moves every bucket a
little and the buckets of its texts more. Few different changes occur, and each is computed once: for all buckets that
which the sizes of a group make, and for one bucket that which the counts of a group in it make besides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mauve_metric.arrays import Bools, Counts, Floats, Integers
from mauve_metric.measures.groups import GroupCounts

_CHUNK = 4_000_000  # numbers of the terms of changed buckets that are computed at once


@dataclass(frozen=True)
class GroupEffects:
    """Effect on a sum over buckets of leaving a group out.

    changes: of the sum, (..., columns). column, group: which change is a part of which group's, (entries,) each.
    strata: the groups that are draws of one population, (G,) each: all of them, or those of P and those of Q where no
    group is on both sides. codes: of the groups, (G,).
    """

    changes: Floats
    column: Integers
    group: Integers
    strata: tuple[Bools, ...]
    codes: Integers

    def of(self, weights: Floats) -> Floats:
        """Centred, scaled effects (G,) of the groups on Σ weights·sum, whose squares add up to its variance."""
        changes = np.tensordot(weights, self.changes, axes=weights.ndim)
        effects: Floats = np.bincount(self.group, weights=changes[self.column], minlength=len(self.codes)).astype(float)
        for stratum in self.strata:
            number = int(stratum.sum())
            effects[stratum] -= effects[stratum].mean()
            effects[stratum] *= math.sqrt((number - 1) / number)
        return effects

    def freedom(self, effects: Floats) -> float:
        """Degrees of freedom of the variance of `of`: G - 1, or Welch's for two strata."""
        parts = [(float(effects[stratum] @ effects[stratum]), int(stratum.sum()) - 1) for stratum in self.strata]
        total = sum(variance for variance, _ in parts)
        if total == 0:
            return float(min(freedom for _, freedom in parts))
        return total**2 / sum(variance**2 / freedom for variance, freedom in parts)

    def margin(self, weights: Floats, level: float) -> float:
        """Half of the interval of Σ weights·sum."""
        effects = self.of(weights)
        return t_quantile(level, self.freedom(effects)) * math.sqrt(float(effects @ effects))

    def bias(self) -> Floats:
        """The bias of the sum, (...): Σ (G - 1)/G·Σ change over the groups of each stratum."""
        total = np.zeros(self.changes.shape[:-1])
        for stratum in self.strata:
            number = int(stratum.sum())
            times = np.bincount(self.column[stratum[self.group]], minlength=self.changes.shape[-1])
            total += (number - 1) / number * (self.changes @ times)
        return total


def group_jackknife(
    terms: Callable[[Floats, Floats], Floats],
    p_counts: Counts,
    q_counts: Counts,
    groups: GroupCounts,
    smoothing: float = 0.0,
) -> tuple[Floats, GroupEffects]:
    """Delete-one-group jackknife of a sum over buckets of a function of the shares of P and of Q in each.

    Args:
        terms: of shares (k,) and (k,), shape (..., k), bucket by bucket. p_counts, q_counts: shape (k,).
        groups: of these counts; at least two groups with texts on each side.
        smoothing: added to every count before the shares are taken, with and without the group that is left out.

    Returns:
        The sum over buckets without its bias, (...), and how each group moves it.

    Raises:
        ValueError: the texts of a side are all of one group.
    """
    numbers = [int((sizes > 0).sum()) for sizes in (groups.p_sizes, groups.q_sizes)]
    if min(numbers) < 2:
        raise ValueError(f"the jackknife needs at least 2 groups on each side, got {numbers[0]} and {numbers[1]}")
    sizes = np.array([p_counts.sum(), q_counts.sum()])
    extra = smoothing * len(p_counts)

    def shares(p: Floats | Counts, q: Floats | Counts, without: Counts) -> tuple[Floats, Floats]:
        return (p + smoothing) / (sizes[0] - without[0] + extra), (q + smoothing) / (sizes[1] - without[1] + extra)

    full = terms(*shares(p_counts, q_counts, np.zeros(2, dtype=np.int64)))
    kinds, kind = np.unique(np.stack([groups.p_sizes, groups.q_sizes], axis=1), axis=0, return_inverse=True)
    kind = kind.ravel()
    bases = [terms(*shares(p_counts, q_counts, without)) for without in kinds]
    cells = np.stack([groups.bucket, groups.p, groups.q, kind[groups.group]], axis=1)
    cells, cell = np.unique(cells, axis=0, return_inverse=True)
    changes = np.empty((*full.shape[:-1], len(kinds) + len(cells)))
    for number, base in enumerate(bases):
        changes[..., number] = (base - full).sum(axis=-1)
    step = max(1, _CHUNK // max(full[..., 0].size, 1))
    for number, base in enumerate(bases):
        own = np.flatnonzero(cells[:, 3] == number)
        for start in range(0, len(own), step):
            rows = own[start : start + step]
            bucket, p, q = cells[rows, 0], cells[rows, 1], cells[rows, 2]
            new = terms(*shares(p_counts[bucket] - p, q_counts[bucket] - q, kinds[number]))
            changes[..., len(kinds) + rows] = new - base[..., bucket]
    effects = GroupEffects(
        changes,
        np.concatenate([kind, len(kinds) + cell.ravel()]),
        np.concatenate([np.arange(len(kind)), groups.group]),
        (np.ones(len(kind), dtype=bool),) if groups.joined else (groups.p_sizes > 0, groups.q_sizes > 0),
        groups.codes,
    )
    return full.sum(axis=-1) - effects.bias(), effects


def t_quantile(level: float, freedom: float) -> float:
    """Half-width in standard errors of a two-sided interval at a level; infinite freedom: normal distribution.

    >>> round(t_quantile(0.95, 9), 3), round(t_quantile(0.95, math.inf), 3)
    (2.262, 1.96)
    """
    from scipy.special import ndtri, stdtrit

    return float(ndtri((1 + level) / 2) if math.isinf(freedom) else stdtrit(freedom, (1 + level) / 2))
