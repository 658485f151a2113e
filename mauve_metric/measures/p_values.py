"""Tail probabilities that are never 0."""

from __future__ import annotations

import math
import sys
from statistics import NormalDist

SMALLEST = sys.float_info.min  # a p-value that is less is stored as this, about 2.2e-308


def positive(p_value: float) -> float:
    """A p-value that underflowed to 0 as the smallest normal float; no test gives the probability 0.

    >>> positive(0.25), positive(0.0) > 0
    (0.25, True)
    """
    return max(float(p_value), SMALLEST)


def upper_tail(z: float, freedom: float = math.inf) -> float:
    """P(Z > z) of a standard normal Z, or of Student's t with these degrees of freedom, in (0, 1].

    >>> round(upper_tail(1.959964), 6), upper_tail(40.0) > 0
    (0.025, True)
    >>> round(upper_tail(2.262157, freedom=9), 6)
    0.025
    """
    from scipy.special import log_ndtr, stdtr

    return positive(math.exp(float(log_ndtr(-z))) if math.isinf(freedom) else float(stdtr(freedom, -z)))


def two_sided(z: float, freedom: float = math.inf) -> float:
    """P(|Z| > |z|) of a standard normal Z, or of Student's t with these degrees of freedom, in (0, 1].

    >>> round(two_sided(-1.959964), 6), two_sided(0.0), two_sided(float("inf")) > 0
    (0.05, 1.0, True)
    >>> round(two_sided(2.262157, freedom=9), 6)
    0.05
    """
    if math.isinf(freedom):
        return min(2 * upper_tail(abs(z)), 1.0)
    from scipy.special import stdtr

    return positive(2 * float(stdtr(freedom, -abs(z))))


def t_quantile(level: float, freedom: float = math.inf) -> float:
    """Half-width in standard errors of a two-sided interval at a level; infinite freedom: normal distribution.

    >>> round(t_quantile(0.95, 9), 3), round(t_quantile(0.95), 3)
    (2.262, 1.96)
    """
    from scipy.special import stdtrit

    return NormalDist().inv_cdf((1 + level) / 2) if math.isinf(freedom) else float(stdtrit(freedom, (1 + level) / 2))
