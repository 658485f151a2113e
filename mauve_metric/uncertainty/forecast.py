"""The smallest differences, of two models and from human text, that sets of a size would show."""

from __future__ import annotations

import math
from statistics import NormalDist

from mauve_metric.measures.p_values import t_quantile
from mauve_metric.uncertainty import intervals

POWER = 0.8  # of the forecasts
_Z_OF_POWER = NormalDist().inv_cdf(POWER)
LEAST_TEXTS, MOST_TEXTS = 20, 10**9  # a forecast above is meaningless


def detectable_difference(stderr: float, level: float = 0.95) -> float:
    """The difference that a two-sided test at 1 - level finds with 80 % probability, (z_(1-α/2) + z_power)·error.

    >>> round(detectable_difference(0.01), 5)
    0.02802
    """
    return (t_quantile(level) + _Z_OF_POWER) * stderr


def score_told_from_one(
    integral_stderr: float, n_p: int, n_q: int, scaling_factor: float = 5.0, level: float = 0.95
) -> float:
    """The highest score of which the interval would end below 1 with 80 % probability.

    The interval ends below 1 where the frontier integral is more than z standard errors above 0. Far from 0 its error
    grows: a χ² statistic of noncentrality ν has the variance 2(k - 1) + 4ν, so that error² = e² + ⅔·D·(1/n_p + 1/n_q)
    at the integral D. D = (z + z_power)·error is solved for D, and carried over to MAUVE by `intervals.local_form`.

    Args:
        integral_stderr: e, of the debiased frontier integral. n_p, n_q: texts. scaling_factor: c.

    Returns:
        In (0, 1]; 1 minus it is the smallest difference from human text that these sets would show.

    >>> round(score_told_from_one(0.006, 500, 500), 3)
    0.971
    """
    z = t_quantile(level) + _Z_OF_POWER
    growth = z * z * 2 / 3 * (1 / n_p + 1 / n_q)
    integral = (growth + math.sqrt(growth**2 + 4 * (z * integral_stderr) ** 2)) / 2
    return intervals.local_form(3 * scaling_factor * min(integral, 1.0))
