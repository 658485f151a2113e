"""Tail probabilities that are never 0, and their correction for the number of tests (Holm)."""

from __future__ import annotations

import math
import sys
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Floats

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


def holm(p_values: ArrayLike) -> Floats:
    """p-values corrected for their number, so that rejecting those below α errs with probability α at most (Holm 1979).

    (m,) → (m,), in [0, 1].

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate((len(values) - np.arange(len(values))) * values[order])
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected
