"""Intervals of a mean over texts, and of the difference of two."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.measures.groups import number_items
from mauve_metric.measures.p_values import t_quantile

_FEWEST_SKEWED = 20  # values, or groups, of a side
_NO_SKEWNESS = 1e-6  # below, the transformation is the identity but for rounding


def mean_interval(
    values: Floats, level: float, groups: Sequence[Hashable] | Integers | None = None
) -> tuple[float, float] | None:
    """Student's interval of a mean, longer where the values are skewed (see `difference_interval`).

    Of values that are all 0 or 1 the mean is a share, and the interval Wilson's (1927): Student's is too short for
    rare shares, and has no width where none is 1.

    Args:
        values: one number a text, (n,). level: in (0, 1).
        groups: what each text was written from: texts of one group are no independent draws, their mean is one.

    Returns:
        None for fewer than two texts or groups.

    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0]), 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    if _is_share(values):
        share = _score_interval(values, level, groups)
        return share and share[1:]
    return difference_interval(values, np.zeros(2), level, groups)


def difference_interval(
    p: Floats,
    q: Floats,
    level: float,
    p_groups: Sequence[Hashable] | Integers | None = None,
    q_groups: Sequence[Hashable] | Integers | None = None,
) -> tuple[float, float] | None:
    """Welch's interval of mean(p) - mean(q); None for fewer than two values or groups on a side.

    Each end is the one further away of Welch's and of Hall's, which allows for skewness (1992; of two samples: Zhou and
    Dinh 2005): of lengths, which are skewed, Welch's interval alone misses too often on the side of the longer tail.
    Where a group has texts on both sides it is that of the differences of the groups, with G - 1 degrees of freedom. Of
    values that are all 0 or 1 it is Newcombe's interval of the difference of two shares (1998, method 10; with the
    correlation of the groups that both sides share, his method for pairs).

    Args:
        p, q: one number a text, (n,) and (m,). level: in (0, 1). p_groups, q_groups: see `mean_interval`.
    """
    if _is_share(p) and _is_share(q):
        p_interval, q_interval = _score_interval(p, level, p_groups), _score_interval(q, level, q_groups)
        if p_interval is None or q_interval is None:
            return None
        (p_share, p_low, p_high), (q_share, q_low, q_high), correlation = p_interval, q_interval, 0.0
        if p_groups is not None and q_groups is not None:
            p_effects, q_effects = _group_effects((p, q), (p_groups, q_groups))
            scale = math.sqrt(float(p_effects @ p_effects) * float(q_effects @ q_effects))
            correlation = float(p_effects @ q_effects) / scale if scale > 0 else 0.0
        down, up = (
            math.sqrt(max(p_reach**2 - 2 * correlation * p_reach * q_reach + q_reach**2, 0.0))
            for p_reach, q_reach in ((p_share - p_low, q_high - q_share), (p_high - p_share, q_share - q_low))
        )
        return p_share - q_share - down, p_share - q_share + up
    if p_groups is not None and q_groups is not None and not set(p_groups).isdisjoint(q_groups):
        if min(len(set(p_groups)), len(set(q_groups))) < 2:
            return None
        of_p, of_q = _group_effects((p, q), (p_groups, q_groups))
        effects, freedom, difference = of_p - of_q, float(len(of_p) - 1), float(p.mean() - q.mean())
        variance, cube = float(effects @ effects) * len(of_p) / (len(of_p) - 1), _third(effects)
    else:
        (p_mean, p_square, p_df, p_cube), (q_mean, q_square, q_df, q_cube) = (
            _moments(p, p_groups),
            _moments(q, q_groups),
        )
        if p_df < 1 or q_df < 1:
            return None
        difference, variance, cube = p_mean - q_mean, p_square + q_square, p_cube - q_cube
        if variance == 0:
            return difference, difference
        freedom = variance**2 / (p_square**2 / p_df + q_square**2 / q_df)
    error, reach = math.sqrt(variance), t_quantile(level, freedom)
    skewness = cube / error**3 if error > 0 else 0.0
    return difference - error * max(reach, _hall(reach, skewness)), difference - error * min(
        -reach, _hall(-reach, skewness)
    )


def _hall(quantile: float, skewness: float) -> float:
    """The value of Student's ratio at a quantile, by Hall's cubic transformation (1992); skewness: of the mean."""
    if abs(skewness) < _NO_SKEWNESS:
        return quantile
    return 3 / skewness * (float(np.cbrt(1 + skewness * (quantile - skewness / 6))) - 1)


def _third(effects: Floats) -> float:
    """The third cumulant of a sum of independent deviations; 0 for few, which do not tell how skewed they are."""
    n = len(effects)
    return float((effects**3).sum()) * n**2 / ((n - 1) * (n - 2)) if n >= _FEWEST_SKEWED else 0.0


def _group_effects(
    values: tuple[Floats, Floats],
    groups: tuple[Sequence[Hashable] | Integers, Sequence[Hashable] | Integers],
) -> tuple[Floats, Floats]:
    """The part of each group of either side in the deviation of both means, (G,) each."""
    number = number_items([*groups[0], *groups[1]])
    places = number[: len(groups[0])], number[len(groups[0]) :]
    p, q = (
        np.bincount(codes, weights=side - side.mean(), minlength=number.max() + 1) / len(side)
        for side, codes in zip(values, places, strict=True)
    )
    return p, q


def _is_share(values: Floats) -> bool:
    """True if the mean of the values is a share: all are 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def _score_interval(
    values: Floats, level: float, groups: Sequence[Hashable] | Integers | None
) -> tuple[float, float, float] | None:
    """A share with Wilson's interval; texts of groups count as many as have the error of their groups, at most n."""
    share, square, freedom, _ = _moments(values, groups)
    if freedom < 1:
        return None
    middle, n = share * (1 - share), float(len(values))
    if groups is not None:
        n = min(n, middle / square) if square > 0 else freedom + 1.0
    z = t_quantile(level, math.inf if groups is None else freedom)
    return share, *wilson_interval(share, n, z)


def wilson_interval(share: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval (1927) of a share of n independent texts; z: half-width in standard errors.

    >>> [round(end, 3) for end in wilson_interval(0.0, 10, 1.96)]
    [0.0, 0.278]
    """
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(min(centre - reach, share), 0.0), min(max(centre + reach, share), 1.0)


def _moments(values: Floats, groups: Sequence[Hashable] | Integers | None) -> tuple[float, float, int, float]:
    """The mean, its squared error, the degrees of freedom of that, its third cumulant; of a group only sums count."""
    if groups is None:
        n, mean = len(values), float(values.mean())
        return mean, float(values.var(ddof=1) / n) if n > 1 else 0.0, n - 1, _third((values - mean) / n)
    n, mean = len(values), float(values.mean())
    sums = np.bincount(number_items(list(groups)), weights=values - mean)
    m = len(sums)
    return mean, float((sums**2).sum() / n**2 * m / max(m - 1, 1)), m - 1, _third(sums / n)
