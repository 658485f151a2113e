"""Whether two rankings of the same things agree: Spearman's correlation with its test, and Kendall's τ."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Sequence
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Floats, Integers
from mauve_metric.measures.estimate import Estimate

_ALL_ORDERS = 8  # things of which every order is looked at: 40 320
_DRAWS = 9_999  # random orders of more things
_BLOCK = 2_000_000  # numbers of a block of them
_ROUNDING = 1e-9  # correlations that differ by less are equal


def spearman(x: ArrayLike, y: ArrayLike, *, seed: int = 25) -> Estimate:
    """Spearman's rank correlation of two numbers of the same n things, with a permutation test.

    ρ = the correlation of the ranks, equal values having the average of theirs. The p-value is the share of all orders
    of y whose |ρ| is at least as large, all n! of them up to n = 8 and 9999 random ones beyond. There is no interval:
    a bootstrap of so few things is none.

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
    one, two = _ranks("x", x), _ranks("y", y)
    if len(one) != len(two):
        raise ValueError(f"x and y must have the same length, got {len(one)} and {len(two)}")
    rho = float(one @ two)
    value = round(min(max(rho, -1.0), 1.0), 12) + 0.0
    return Estimate(value, p_value=_p_value(one, two, abs(rho) - _ROUNDING, seed))


def kendall(x: Sequence[Hashable], y: Sequence[Hashable]) -> float:
    """Kendall's τ of two orders of the same n things, without ties.

    τ = (pairs in the same order - pairs in the opposite one) / (n(n - 1)/2).

    Args:
        x, y: the things, the first of each order first; n ≥ 2.

    Returns:
        τ in [-1, 1], 1 for the same order.

    Raises:
        ValueError: fewer than two things, or not the same ones.

    Kendall 1938.

    >>> kendall(["a", "b", "c"], ["a", "c", "b"])
    0.3333333333333333
    """
    if len(x) < 2 or len(set(x)) < len(x) or len(y) != len(x) or set(x) != set(y):
        raise ValueError(f"x and y must order the same things, at least two, once each, got {x!r:.80} and {y!r:.80}")
    place = {thing: number for number, thing in enumerate(y)}
    signs = [1 if place[a] < place[b] else -1 for a, b in combinations(x, 2)]
    return sum(signs) / len(signs)


def _ranks(name: str, values: ArrayLike) -> Floats:
    """Average ranks, centred, of length one."""
    from scipy.stats import rankdata

    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, got {values!r:.80}") from error
    if numbers.ndim != 1 or len(numbers) < 3:
        raise ValueError(f"{name} must be at least three numbers, got the shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        place = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"{name} must be finite, got {numbers[place]} at position {place}")
    ranks: Floats = rankdata(numbers) - (len(numbers) + 1) / 2
    size = math.sqrt(float(ranks @ ranks))
    if size == 0:
        raise ValueError(f"{name} has no order: all of its {len(numbers)} values are {numbers[0]:g}")
    return ranks / size


def _p_value(one: Floats, two: Floats, least: float, seed: int) -> float:
    """The share of orders with a correlation that far from 0; the order that was seen counts among random ones."""
    n = len(one)
    if n <= _ALL_ORDERS:
        return float(np.mean(np.abs(two[_orders(n)] @ one) >= least))
    rng, found, block = np.random.default_rng(seed), 0, max(_BLOCK // n, 1)
    for start in range(0, _DRAWS, block):
        drawn = rng.permuted(np.tile(two, (min(block, _DRAWS - start), 1)), axis=1)
        found += int((np.abs(drawn @ one) >= least).sum())
    return (found + 1) / (_DRAWS + 1)


@functools.cache
def _orders(n: int) -> Integers:
    """All orders of n things, (n!, n)."""
    return np.array(list(permutations(range(n))), dtype=np.int64)
