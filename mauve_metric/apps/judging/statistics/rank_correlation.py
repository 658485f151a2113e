"""Spearman's correlation of two rankings of the same things, with its test."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Floats, MeasuredValue

_ORDERS = 40_320  # all orders of 8 things, and so many random ones of more
_BLOCK = 2_000_000  # numbers of a block of them


def spearman(x: ArrayLike, y: ArrayLike, *, seed: int = 25) -> MeasuredValue:
    """Spearman's rank correlation of two numbers of the same n things, with a permutation test.

    ρ = the correlation of the ranks, equal values having the average of theirs. The p-value is the share of all orders
    of y whose |ρ| is at least as large, all n! of them up to n = 8 and 40 320 random ones beyond. There is no interval:
    a bootstrap over so few items would be meaningless.

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
