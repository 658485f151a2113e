"""Spearman's correlation of two rankings of the same things, with its test and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Floats, MeasuredValue

_ORDERS = 40_320  # all orders of 8 things, and so many random ones of more
_BLOCK = 2_000_000  # numbers of a block of them
_FEWEST = 5  # items that are resampled; fewer have a handful of different resamples
_RESAMPLES = 2_000
_EQUAL = 1e-9  # correlations that differ by less are the same
Interval: TypeAlias = tuple[float, float] | None


def spearman(x: ArrayLike, y: ArrayLike, *, seed: int = 25) -> MeasuredValue:
    """Spearman's rank correlation of two numbers of the same n things, with a permutation test.

    ρ = the correlation of the ranks, equal values having the average of theirs. The p-value is the share of all orders
    of y whose |ρ| is at least as large, all n! of them up to n = 8 and 40 320 random ones beyond. For
    intervals see `bootstrap_correlations`.

    Args:
        x, y: shape (n,) each, n ≥ 3, finite and not all equal.

    Returns:
        ρ in [-1, 1], 1 for the same order; the p-value of "no relation".

    Raises:
        ValueError: numbers that have no such correlation, with the reason.

    Spearman 1904; Pillutla et al. 2021, Table 5.

    >>> spearman([1, 2, 3, 4], [1, 2, 4, 3]).value
    0.8
    """
    from scipy.stats import permutation_test, rankdata, spearmanr

    x_values, y_values = _check_values("x", x), _check_values("y", y)
    if len(x_values) != len(y_values):
        raise ValueError(f"x and y must have the same length, got {len(x_values)} and {len(y_values)}")
    value = round(float(spearmanr(x_values, y_values).statistic), 12) + 0.0
    ranks = rankdata(x_values) - (len(x_values) + 1) / 2
    test = permutation_test(
        (rankdata(y_values),),
        lambda order, axis: np.abs(order @ ranks),
        permutation_type="pairings",
        alternative="greater",
        vectorized=True,
        n_resamples=_ORDERS,
        batch=max(_BLOCK // len(x_values), 1),
        rng=seed,
    )
    return MeasuredValue(value, p_value=float(test.pvalue))


def _check_values(name: str, values: ArrayLike) -> Floats:
    """Check that numbers can be ranked."""
    try:
        numbers: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, got {values!r:.80}") from error
    if numbers.ndim != 1 or len(numbers) < 3:
        raise ValueError(f"{name} must be at least three numbers, got the shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        position = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"{name} must be finite, got {numbers[position]} at position {position}")
    if (numbers == numbers[0]).all():
        raise ValueError(f"{name} has no order: all of its {len(numbers)} values are {numbers[0]:g}")
    return numbers


class BootstrappedCorrelations(NamedTuple):
    """Spearman's correlations of several things with one, over resampled items.

    intervals: of each, None where there is none. leading: that of the difference of the first two, likewise.
    """

    intervals: list[Interval]
    leading: Interval


def bootstrap_correlations(
    xs: Sequence[ArrayLike], y: ArrayLike, *, level: float = 0.95, seed: int = 25
) -> BootstrappedCorrelations:
    """Percentile intervals of Spearman's correlations over other items, all from the same resamples.

    Resamples in which one side is constant have no correlation and are left out. In simulated normal data with true
    correlations of 0, .5 and .8 the intervals covered it in 94 to 97 % of 6, 9 or 21 items (level .95).

    Args:
        xs: of each, n numbers. y: n numbers, with which each is correlated. level: in (0, 1).

    Returns:
        No interval for fewer than five items, or where all resamples agree, as of n items in the same order.

    >>> x, y = [1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 3, 4, 6, 5, 8, 7]
    >>> low, high = bootstrap_correlations([x], y).intervals[0]
    >>> 0.5 < low < 0.9 < high <= 1
    True
    """
    values = np.array([_check_values("x", x) for x in xs])
    strength = _check_values("y", y)
    if len(strength) < _FEWEST:
        return BootstrappedCorrelations([None] * len(values), None)
    draws = np.random.default_rng(seed).integers(0, len(strength), (_RESAMPLES, len(strength)))
    ranks = _centred_ranks(strength[draws])
    correlations = np.array([_correlations(_centred_ranks(x[draws]), ranks) for x in values])
    leading = _interval(correlations[0] - correlations[1], level) if len(correlations) > 1 else None
    return BootstrappedCorrelations([_interval(each, level) for each in correlations], leading)


def _centred_ranks(values: Floats) -> Floats:
    """Ranks within each row minus their mean."""
    from scipy.stats import rankdata

    ranks: Floats = rankdata(values, axis=1) - (values.shape[1] + 1) / 2
    return ranks


def _correlations(x: Floats, y: Floats) -> Floats:
    """Correlation of each row of centred ranks; NaN where a side is constant."""
    scale = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    correlations: Floats = np.divide((x * y).sum(axis=1), scale, out=np.full(len(x), np.nan), where=scale > 0)
    return correlations


def _interval(draws: Floats, level: float) -> Interval:
    """Percentile interval of the draws that are numbers; None if they are all equal."""
    draws = draws[np.isfinite(draws)]
    if not len(draws) or np.ptp(draws) < _EQUAL:
        return None
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high
