"""Intervals of a mean over texts, and of the difference of two."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from mauve_metric.arrays import Floats, Integers


def mean_interval(
    values: Floats, level: float, groups: Sequence[Hashable] | Integers | None = None
) -> tuple[float, float] | None:
    """Student's interval of a mean: like a bootstrap over texts, without its shortfall in small samples.

    Args:
        values: one number a text, (n,). level: in (0, 1).
        groups: what each text was written from: texts of one group are no independent draws, their mean is one.

    Returns:
        None for fewer than two texts or groups.

    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0]), 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    return difference_interval(values, np.zeros(2), level, groups)


def difference_interval(
    p: Floats,
    q: Floats,
    level: float,
    p_groups: Sequence[Hashable] | Integers | None = None,
    q_groups: Sequence[Hashable] | Integers | None = None,
) -> tuple[float, float] | None:
    """Welch's interval of mean(p) - mean(q); None for fewer than two values or groups on a side.

    Where a group has texts on both sides it is that of the differences of the groups, with G - 1 degrees of freedom.

    Args:
        p, q: one number a text, (n,) and (m,). level: in (0, 1). p_groups, q_groups: see `mean_interval`.
    """
    if p_groups is not None and q_groups is not None and not set(p_groups).isdisjoint(q_groups):
        return _joined_interval((p, q), (p_groups, q_groups), level)
    (p_mean, p_square, p_df), (q_mean, q_square, q_df) = _moments(p, p_groups), _moments(q, q_groups)
    if p_df < 1 or q_df < 1:
        return None
    variance = p_square + q_square
    if variance == 0:
        return p_mean - q_mean, p_mean - q_mean
    freedom = variance**2 / (p_square**2 / p_df + q_square**2 / q_df)
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + level) / 2)) * math.sqrt(variance)
    return p_mean - q_mean - reach, p_mean - q_mean + reach


def _joined_interval(
    values: tuple[Floats, Floats],
    groups: tuple[Sequence[Hashable] | Integers, Sequence[Hashable] | Integers],
    level: float,
) -> tuple[float, float] | None:
    """Student's interval of the difference of two means of texts that share groups."""
    if min(len(set(side)) for side in groups) < 2:
        return None
    numbers: dict[Hashable, int] = {}
    places = [np.array([numbers.setdefault(group, len(numbers)) for group in side]) for side in groups]
    total, effects = len(numbers), np.zeros(len(numbers))
    for sign, side, own in zip((1, -1), values, places, strict=True):
        effects += sign * np.bincount(own, weights=side - side.mean(), minlength=total) / len(side)
    from scipy.special import stdtrit

    error = math.sqrt(float(effects @ effects) * total / (total - 1))
    reach = float(stdtrit(total - 1, (1 + level) / 2)) * error
    difference = float(values[0].mean() - values[1].mean())
    return difference - reach, difference + reach


def _moments(values: Floats, groups: Sequence[Hashable] | Integers | None) -> tuple[float, float, int]:
    """The mean, its squared error, and the degrees of freedom of that; of the texts of a group only sums count."""
    if groups is None:
        n = len(values)
        return float(values.mean()), float(values.var(ddof=1) / n) if n > 1 else 0.0, n - 1
    numbers: dict[Hashable, int] = {}
    places = np.array([numbers.setdefault(group, len(numbers)) for group in groups])
    n, m, mean = len(values), len(numbers), float(values.mean())
    sums = np.bincount(places, weights=values - mean, minlength=m)
    return mean, float((sums**2).sum() / n**2 * m / max(m - 1, 1)), m - 1
