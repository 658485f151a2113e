"""Forecasts: the difference of two models that sets of a size would show, and the size that decides on closeness."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from mauve_metric.measures.p_values import t_quantile
from mauve_metric.uncertainty import intervals

POWER = 0.8  # of the forecasts
_Z_OF_POWER = NormalDist().inv_cdf(POWER)
LEAST_FORECAST, MOST_FORECAST = 20, 10**9  # a forecast above is meaningless
_QUANTILES = (np.arange(400) + 0.5) / 400  # of what the truth may be
_STEP = 1.05  # between two sizes that are tried
_MOST_GROWTH = 1000  # of the size: errors beyond are no forecast


def detectable_difference(stderr: float, level: float = 0.95) -> float:
    """The difference that a two-sided test at 1 - level finds with 80 % probability, (z_(1-α/2) + z_power)·error.

    >>> round(detectable_difference(0.01), 5)
    0.02802
    """
    return (t_quantile(level) + _Z_OF_POWER) * stderr


def texts_to_decide(value: float, low: float, bound: float, n: int, level: float = 0.95) -> int | None:
    """The number of texts a set at which an interval would decide with 80 % probability; None if that is far away.

    On the scale a of `intervals.local_form_inverse`, where equal sets are at 0, the lower end is z errors away. The
    truth is a draw around the estimate, the estimate of more texts a draw around the truth, and errors fall with the
    root of the number of texts. An interval decides if it lies above the bound, or leaves out equal sets.

    Args:
        value, low: closeness of n texts a set, and the low end of its interval at this level. bound: of equivalence.

    >>> texts_to_decide(0.99, 0.88, 0.9, 200) < texts_to_decide(0.99, 0.8, 0.9, 200)
    True
    """
    from scipy.special import ndtr, ndtri

    at, end, most = (intervals.local_form_inverse(score) for score in (value, max(low, 1e-3), bound))
    z = t_quantile(level)
    error = (end - at) / z if z > 0 else 0.0  # of a level that rounds to 0
    if error <= 0:
        return None
    # the estimate is cut off at 0, and so is the truth
    truths = np.maximum(at + error * ndtri(ndtr(-at / error) + _QUANTILES * ndtr(at / error)), 0)
    growth = _STEP
    while growth <= _MOST_GROWTH:
        error_then = error / math.sqrt(growth)
        is_like = ndtr((most - z * error_then - truths) / error_then)
        is_different = ndtr((truths - z * error_then) / error_then)
        if float((is_like + is_different).mean()) >= POWER:  # above 1 where some intervals decide on both
            return math.ceil(n * growth)
        growth *= _STEP
    return None
